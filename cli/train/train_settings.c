/*
 * Train settings: see train_settings.h.
 */
#include "cli/train/train_settings.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/train/offline_data.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/config/run_request.h"
#include "common/config/run_rules.h"
#include "envs/env_code.h"
#include "envs/env_open.h"

/* ---- what goes together --------------------------------------------------------------------- */

/* What --set says of `key`; NULL: nothing. */
static const char *assigned(const aq_train_arguments *arguments, const char *key)
{
    const aq_settings_assignments *overrides = &arguments->overrides;
    const size_t length = strlen(key);
    for (size_t i = 0; i < overrides->count; i++) {
        if (strncmp(overrides->texts[i], key, length) == 0 && overrides->texts[i][length] == '=') {
            return overrides->texts[i];
        }
    }
    return NULL;
}

static int check_seeds(const aq_train_arguments *arguments, aq_error *error)
{
    const char *unfit = arguments->seeds.count == 0   ? NULL
                        : arguments->seed             ? "--seed"
                        : assigned(arguments, "seed") ? "--set seed"
                        : arguments->options.resume   ? "--resume"
                        : arguments->options.http     ? "--http"
                                                      : NULL;
    return unfit != NULL
               ? aq_fail(error, AQ_E_INVALID, "--%s starts new runs, several at once: leave %s out",
                         arguments->grid.count > 0 ? "grid" : "seeds", unfit)
               : 0;
}

/* Each setting is said in one way: what is said of all runs is no axis. */
static int check_said_once(const aq_train_arguments *arguments, aq_error *error)
{
    const struct {
        const char *key, *by; /* NULL: not said */
    } said[] = {
        {"seed", arguments->seeds.count > 0 ? "--seeds"
                 : arguments->seed          ? "--seed"
                                            : NULL},
        {"preset", arguments->preset != NULL ? "--preset" : NULL},
        {"actor.count", arguments->actors != NULL ? "--actors" : NULL},
        {"actor.gradients", arguments->gradients ? "--gradients" : NULL},
    };
    const size_t rows = sizeof(said) / sizeof(said[0]);
    for (size_t k = 0; k < rows; k++) {
        if (said[k].by != NULL && assigned(arguments, said[k].key) != NULL) {
            return aq_fail(error, AQ_E_INVALID, "--set %s: that is what %s says", said[k].key,
                           said[k].by);
        }
    }
    for (size_t i = 0; i < arguments->grid.count; i++) {
        const char *key = arguments->grid.axes[i].key;
        if (assigned(arguments, key) != NULL) {
            return aq_fail(error, AQ_E_INVALID, "--set %s: that is what --grid says", key);
        }
        for (size_t k = 0; k < rows; k++) {
            if (said[k].by != NULL && strcmp(key, said[k].key) == 0) {
                return aq_fail(error, AQ_E_INVALID, "--grid %s: that is what %s says", key,
                               said[k].by);
            }
        }
    }
    return 0;
}

/* How a preset was asked for, but for a file that begins with one; NULL: it was not. */
static const char *asked_preset(const aq_train_arguments *arguments)
{
    const char *by = assigned(arguments, "preset");
    return by != NULL || arguments->preset == NULL ? by : "--preset";
}

static bool goes_on_under_own(const aq_train_arguments *arguments)
{
    return arguments->options.resume && !arguments->new_settings;
}

int aq_train_settings_check(aq_train_arguments *arguments, aq_error *error)
{
    if (arguments->grid.count > 0 && arguments->seeds.count == 0) {
        arguments->seeds = (aq_seed_range){1, 1};
    }
    int rc = check_seeds(arguments, error);
    rc = rc == 0 ? check_said_once(arguments, error) : rc;
    if (rc == 0 && arguments->jobs > 0 && arguments->seeds.count == 0) {
        rc = aq_fail(error, AQ_E_INVALID, "--jobs is for the runs of --seeds or --grid");
    }
    if (rc == 0 && arguments->no_http && arguments->options.http != NULL) {
        rc = aq_fail(error, AQ_E_INVALID, "either --http or --no-http");
    }
    if (rc == 0 && arguments->new_settings && !arguments->options.resume) {
        rc = aq_fail(error, AQ_E_INVALID, "--new-settings is for a run that is resumed");
    }
    const char *preset = asked_preset(arguments);
    if (rc == 0 && goes_on_under_own(arguments) && !arguments->config_path && preset != NULL) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "a run that is resumed has its settings already: leave %s out", preset);
    }
    return rc;
}

/* ---- the settings --------------------------------------------------------------------------- */

static int assign(aq_run_config *config, const char *key, const char *value, aq_error *error)
{
    char assignment[512];
    if (aq_text_format(assignment, sizeof(assignment), "%s=%s", key, value) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "%s: the value is too long", key);
    }
    return aq_settings_assign(aq_run_config_table(), assignment, config, error);
}

/* Where the settings of the run in that folder are. */
static const char *settings_of(const char *run_dir, char out[PATH_MAX + 16])
{
    (void)snprintf(out, PATH_MAX + 16, "%s/config.yaml", run_dir);
    return out;
}

void aq_train_settings_last(const aq_run_config *given, const char *run_dir,
                            aq_run_config *ret_config)
{
    char path[PATH_MAX + 16];
    aq_run_config config;
    aq_error unread; /* a run that ended at once has none */
    aq_settings_init(aq_run_config_table(), &config);
    int rc =
        aq_settings_read_file(aq_run_config_table(), settings_of(run_dir, path), &config, &unread);
    *ret_config = rc == 0 ? config : *given;
}

/* A run's name of its task, which its learner compares, may say more than what was typed: how it is
 * acted in, and of a plug-in the whole path. `task` becomes that name. */
static int check_same_task(const char *run_dir, const char *its, char task[AQ_TASK_NAME_MAX],
                           aq_error *error)
{
    char whole[AQ_TASK_NAME_MAX];
    aq_env *env = NULL;
    if (strcmp(its, task) == 0) {
        return 0;
    }
    int rc = aq_env_open_to_act(task, &env, error);
    if (rc != 0) {
        return rc;
    }
    aq_env_whole_name(env->name, whole);
    aq_env_unref(env);
    if (its[0] != '\0' && strcmp(its, whole) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the task of %s is %s, not %s", run_dir, its, whole);
    }
    memcpy(task, whole, sizeof(whole));
    return 0;
}

/* What is given beside --resume may be a task or an algorithm, but no other. That is said before
 * the settings are checked, which may not fit together then. */
static int check_same(const char *run_dir, const aq_run_request *request,
                      char task[AQ_TASK_NAME_MAX], aq_error *error)
{
    aq_run_config run = {.learner.algorithm = AQ_ALGORITHM_AUTO}, asked = run;
    aq_train_settings_last(&run, run_dir, &run);
    int rc = check_same_task(run_dir, run.task, task, error);
    rc = rc != 0 ? rc : aq_run_request_asked(request, &asked, error);
    const uint32_t algorithm = asked.learner.algorithm;
    return rc != 0 || run.learner.algorithm == AQ_ALGORITHM_AUTO ||
                   algorithm == AQ_ALGORITHM_AUTO || algorithm == run.learner.algorithm
               ? rc
               : aq_fail(error, AQ_E_INVALID,
                         "the algorithm of %s is %s, not %s; start another run", run_dir,
                         aq_algorithm_names[run.learner.algorithm], aq_algorithm_names[algorithm]);
}

/* A run that is resumed goes on under the settings that it had, but for what --config says. */
static int take_own(const aq_train_arguments *arguments, char own[PATH_MAX + 16],
                    aq_run_request *request, aq_error *error)
{
    if (!goes_on_under_own(arguments)) {
        return 0;
    }
    int rc = aq_run_request_resume(request, settings_of(arguments->options.run_dir, own), error);
    if (rc == 0 || request->path == NULL) {
        return rc;
    }
    aq_print_line(stderr, "%s; the settings of --config are over a preset", error->text);
    return 0;
}

static int read_settings(aq_train_arguments *arguments, aq_run_config *config, aq_error *error)
{
    char own[PATH_MAX + 16];
    char task[AQ_TASK_NAME_MAX], name[AQ_TASK_NAME_MAX];
    aq_run_config asked;
    aq_env *env = NULL;
    aq_run_request request = {.preset = arguments->preset,
                              .path = arguments->config_path,
                              .task = arguments->task,
                              .assignments = &arguments->overrides,
                              .is_offline = arguments->options.data_set[0] != '\0'};
    int rc = aq_run_request_asked(&request, &asked, error);
    rc = rc == 0 ? take_own(arguments, own, &request, error) : rc;
    const bool is_of_data =
        !request.path && !request.own && !request.task && arguments->offline != NULL;
    const bool is_found = is_of_data || asked.task[0] == '\0';
    if (rc == 0 && is_of_data) {
        rc = aq_offline_task(arguments->offline, task, error);
        request.task = task;
    }
    if (rc == 0) {
        rc = aq_run_request_task(&request, task, error);
    }
    if (rc == 0 && !is_found) {
        aq_env_allow_code(task);
    }
    if (rc == 0) {
        rc = aq_env_open(task, &env, error);
    }
    if (rc == 0 && arguments->options.resume) {
        memcpy(name, env->name, sizeof(name));
        rc = check_same(arguments->options.run_dir, &request, name, error);
    } else if (rc == 0) {
        aq_env_whole_name(env->name, name);
    }
    if (rc == 0) {
        if (!arguments->options.quiet && strcmp(task, env->name) != 0) {
            aq_print_line(stderr, "%s is %s", task, env->name);
        }
        rc = aq_run_request_read(&request, env->name, &env->schema, config, error);
    }
    if (rc == 0) {
        memcpy(config->task, name, sizeof(config->task));
    }
    aq_env_unref(env);
    return rc;
}

int aq_train_settings_resolve(aq_train_arguments *arguments, aq_run_config *config, aq_error *error)
{
    int rc = arguments->gradients
                 ? aq_settings_assignments_add(&arguments->overrides, "actor.gradients=true", error)
                 : 0;
    rc = rc != 0 ? rc : read_settings(arguments, config, error);
    if (rc == 0 && arguments->seed) {
        rc = assign(config, "seed", arguments->seed, error);
    }
    if (rc == 0 && arguments->actors) {
        rc = assign(config, "actor.count", arguments->actors, error);
    }
    if (rc == 0 && config->actor.gradients && arguments->options.data_set[0] != '\0') {
        rc = aq_fail(error, AQ_E_INVALID,
                     "--offline trains on steps without actors; gradients are theirs "
                     "(actor.gradients)");
    }
    return rc != 0 ? rc : aq_run_rules_check(config, error);
}
