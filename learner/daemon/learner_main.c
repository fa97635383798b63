/*
 * actorq-learner: arguments. What the daemon does is in learner_net.c.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/preset.h"
#include "common/config/run_request.h"
#include "common/net/address/url.h"
#include "common/net/daemon/daemon_security.h"
#include "common/sys/command_page.h"
#include "common/sys/daemon.h"
#include "common/sys/file.h"
#include "common/sys/log.h"
#include "envs/env_code.h"
#include "envs/env_open.h"
#include "learner/daemon/learner_net.h"
#include "learner/daemon/rank_net.h"
#include "learner/daemon/ranks.h"
#include "learner/nn/blas.h"

/* As EX_TEMPFAIL: another rank was lost, or the transport is stuck. Nothing was refused, and it is
 * worth starting again. */
enum { EXIT_START_AGAIN = 75 };

typedef struct learner_arguments {
    const char *config_path;
    bool is_whole; /* what that file says */
    const char *preset;
    aq_settings_assignments overrides;
    aq_learner_options options;
    aq_daemon_security security;
    bool is_lost; /* what was learned last */
} learner_arguments;

static const aq_option option_rows[] = {
    {"config", 'c', "FILE", "read settings from this YAML file",
     AQ_TO_TEXT(learner_arguments, config_path)},
    {"whole", 0, NULL, "this file says every setting, and no preset lies under it",
     AQ_TO_FLAG(learner_arguments, is_whole)},
    {"preset", 0, "PRESET",
     "of a new run, or of --config: begin with these settings (default: the best known for the "
     "task); none for plain defaults",
     AQ_TO_TEXT(learner_arguments, preset)},
    {"set", 0, "KEY=VALUE", "change one setting; may be given often",
     AQ_TO(aq_settings_assignments_add, learner_arguments, overrides)},
    {"listen", 0, "URL",
     "serve here (default tcp://127.0.0.1:5550); the policy is broadcast on "
     "the next port",
     AQ_TO(aq_url_take, learner_arguments, options.listen_url)},
    {"run", 0, "DIR", "the run folder (default ./run)",
     AQ_TO_TEXT(learner_arguments, options.run_dir)},
    {"resume", 0, NULL, "go on with the run that the folder holds, if it holds one",
     AQ_TO_FLAG(learner_arguments, options.resume)},
    {"run-id", 0, "ID",
     "what a new run is called, 16 hexadecimal digits: stores that were made for it name it",
     AQ_TO(aq_option_take_id, learner_arguments, options.run_id)},
    {"mpi", 0, NULL,
     "be one of several ranks that train together, as srun --mpi=pmix starts them; of mpirun's it "
     "is known",
     AQ_TO_FLAG(learner_arguments, options.is_rank)},
    AQ_ALLOW_CODE_OPTION,
    AQ_DAEMON_OPTION_ROWS(learner_arguments, options.daemon),
};

static const aq_options options_page = {
    .program = "actorq-learner",
    .usage = "[options]",
    .summary = "Trains the policy, quantizes it and broadcasts each version; the place where "
               "actors and replay shards of a run meet.",
    .details =
        "Examples:\n"
        "  actorq-learner --config c.yaml --listen tcp://127.0.0.1:5550 --run runs/first\n"
        "  actorq-learner --config c.yaml --certs certs/learner --listen tcp://0.0.0.0:5550\n"
        "  actorq-learner --run runs/first --resume\n"
        "  mpirun -n 4 actorq-learner --config c.yaml --run runs/first\n",
    AQ_OPTION_ROWS(option_rows),
    .setting = aq_run_request_setting,
};

/* A run that is resumed goes on under the settings that it had, but for what --config says. */
static int take_own(const learner_arguments *arguments, char own[PATH_MAX], aq_run_request *request,
                    aq_error *error)
{
    aq_error unread = {0};
    const char *run_dir = arguments->options.run_dir;
    if (request->own != NULL || !arguments->options.resume) {
        return 0;
    }
    const bool has_run = aq_path_exists_in(run_dir, "run.json");
    int rc = aq_path_in(own, PATH_MAX, run_dir, "config.yaml", error);
    if (rc != 0 || (request->path != NULL && !has_run)) {
        return rc;
    }
    if (aq_path_exists(own)) {
        rc = aq_run_request_resume(request, own, &unread);
    } else if (has_run) {
        rc = aq_fail(&unread, AQ_E_NOT_FOUND,
                     "%s: it holds a run, but no config.yaml: put that back, or name settings with "
                     "--config",
                     run_dir);
    }
    if (rc != 0 && request->path != NULL) {
        aq_log(AQ_LOG_WARN, "settings_unread", "those of --config are over a preset", "error=%s",
               AQ_LOG_QUOTED(unread.text));
        return 0;
    }
    if (rc != 0) {
        *error = unread;
    }
    return rc;
}

/* Under the run's own settings lies no preset; but who starts a service names it each time, and
 * goes on with that when there is none of that name any more. */
static void look_at_preset(const char *given, const aq_env *env, const aq_run_config *config)
{
    const char *name = given;
    const aq_preset_wish wish = {given, env->name, &env->schema, config->learner.algorithm,
                                 config->actor.gradients};
    if (given == NULL || strcmp(given, config->preset) == 0) {
        return;
    }
    int rc = aq_preset_choose(&wish, &name, NULL);
    if (rc != 0 || strcmp(name, config->preset) != 0) {
        aq_log(AQ_LOG_WARN, "preset_passed_over", "the run goes on under its own settings",
               "given=%s preset=%s", AQ_LOG_QUOTED(name), config->preset);
    }
}

static int read_config(const learner_arguments *arguments, aq_run_config *config, aq_error *error)
{
    char own[PATH_MAX];
    char task[AQ_TASK_NAME_MAX];
    aq_run_config asked;
    aq_env *env = NULL;
    aq_run_request request = {.preset = arguments->preset,
                              .path = arguments->config_path,
                              .assignments = &arguments->overrides};
    if (arguments->is_whole && (!request.path || request.preset)) {
        return aq_fail(error, AQ_E_INVALID, "--whole is for --config, without --preset");
    }
    if (arguments->is_whole) {
        request.own = request.path;
        request.path = NULL;
    }
    int rc = aq_run_request_asked(&request, &asked, error);
    if (rc == 0) {
        rc = take_own(arguments, own, &request, error);
    }
    if (rc == 0) {
        rc = aq_run_request_task(&request, task, error);
    }
    if (rc == 0 && asked.task[0] != '\0') { /* and not what the folder has alone */
        aq_env_allow_code(task);
    }
    if (rc == 0) {
        rc = aq_env_open(task, &env, error);
    }
    if (rc == 0) {
        rc = aq_run_request_read(&request, env->name, &env->schema, config, error);
    }
    if (rc == 0 && request.own == own) {
        look_at_preset(arguments->preset, env, config);
    }
    if (rc == 0) {
        aq_log(AQ_LOG_INFO, "settings", "", "task=%s preset=%s algorithm=%s", env->name,
               config->preset, aq_algorithm_names[config->learner.algorithm]);
    }
    aq_env_unref(env);
    return rc;
}

/* The default is also the name of a script that lies in a source tree. */
static int check_folder(const char *run_dir, aq_error *error)
{
    return aq_path_exists(run_dir) && !aq_path_is_folder(run_dir)
               ? aq_fail(error, AQ_E_EXISTS, "%s is no folder: name that of the run with --run DIR",
                         run_dir)
               : 0;
}

/* As rank 0, which is also who is alone. */
static int run_first(learner_arguments *arguments, aq_error *error)
{
    aq_run_config config;
    aq_learner_options *options = &arguments->options;
    options->security = &arguments->security;
    int rc = check_folder(options->run_dir, error);
    if (rc == 0) { /* before a task starts a process, which is not to have ACTORQ_TOKEN */
        rc = aq_daemon_security_open(options->security, &options->daemon, AQ_ACCESS_LEARNER,
                                     options->listen_url, error);
    }
    rc = rc != 0 ? rc : read_config(arguments, &config, error);
    rc = rc != 0 ? rc : aq_learner_run(&config, options, &arguments->is_lost, error);
    aq_daemon_security_close(options->security);
    return rc;
}

static int run(learner_arguments *arguments, aq_error *error)
{
    aq_rank_link *link = NULL;
    int rc = aq_ranks_open(arguments->options.is_rank, &link, error);
    if (rc != 0) {
        return rc;
    }
    arguments->options.link = link;
    if (link != NULL && link->rank > 0) {
        aq_log_open("learner", link->rank);
        rc = aq_rank_run(link, &arguments->options.daemon, error);
    } else {
        rc = run_first(arguments, error);
    }
    aq_ranks_close(link);
    return rc;
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    learner_arguments arguments = {
        .options = {.listen_url = "tcp://127.0.0.1:5550", .run_dir = "run"},
    };
    /* Kernels that this processor outdoes are put right; of what is left blas_slow warns. */
    (void)aq_blas_settle(argv);
    aq_daemon_begin("learner", -1);
    int status;
    if (!aq_daemon_arguments(&options_page, argc, argv, &arguments, &arguments.options.daemon,
                             &status)) {
        return status;
    }
    int rc = run(&arguments, &error);
    if (rc == 0) {
        return EXIT_SUCCESS;
    }
    status = aq_program_failed(options_page.program, &error);
    return rc == AQ_E_PEER ? EXIT_START_AGAIN : arguments.is_lost ? AQ_EXIT_NOT_KEPT : status;
}
