/*
 * actorq-learner: arguments. What the daemon does is in learner_net.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/config/run_config.h"
#include "common/net/address/url.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/sys/daemon.h"
#include "common/sys/file.h"
#include "common/sys/options.h"
#include "learner/daemon/learner_net.h"
#include "learner/nn/blas.h"

typedef struct learner_arguments {
    const char *config_path;
    aq_settings_assignments overrides;
    aq_learner_options options;
} learner_arguments;

static const aq_option option_rows[] = {
    {"config", 'c', "FILE", "read settings from this YAML file"},
    {"set", 0, "KEY=VALUE", "change one setting; may be given often"},
    {"listen", 0, "URL",
     "serve here (default tcp://127.0.0.1:5550); the policy is broadcast on "
     "the next port"},
    {"run", 0, "DIR", "the run folder (default ./run)"},
    {"resume", 0, NULL, "go on with the run that the folder holds, if it holds one"},
    {"run-id", 0, "ID",
     "what a new run is called, 16 hexadecimal digits: stores that were made for it name it"},
    AQ_DAEMON_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq-learner",
    .usage = "[options]",
    .summary = "Trains the policy, quantizes it and broadcasts each version; the place where "
               "actors and replay shards of a run meet.",
    .details = "Examples:\n"
               "  actorq-learner --config c.yaml --listen tcp://0.0.0.0:5550 --run runs/first\n"
               "  actorq-learner --run runs/first --resume\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
};

static int take_run_id(const char *value, aq_learner_options *options, aq_error *error)
{
    uint64_t id;
    if (aq_parse_id(value, &id) != 0 || id == 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not 16 hexadecimal digits", value);
    }
    options->run_id = id;
    return 0;
}

static int apply(void *user, const aq_option *option, const char *value, aq_error *error)
{
    learner_arguments *arguments = user;
    int rc;
    if (!option) {
        return aq_fail(error, AQ_E_INVALID, "'%s': this program takes options only", value);
    }
    if (aq_daemon_apply(&arguments->options.daemon, option, value, &rc, error)) {
        return rc;
    }
    if (strcmp(option->name, "config") == 0) {
        arguments->config_path = value;
    } else if (strcmp(option->name, "set") == 0) {
        return aq_settings_assignments_add(&arguments->overrides, value, error);
    } else if (strcmp(option->name, "listen") == 0) {
        arguments->options.listen_url = value;
        return aq_url_validate(value, error);
    } else if (strcmp(option->name, "run") == 0) {
        arguments->options.run_dir = value;
    } else if (strcmp(option->name, "resume") == 0) {
        arguments->options.resume = true;
    } else {
        return take_run_id(value, &arguments->options, error);
    }
    return 0;
}

/* Without --config, a run that is resumed goes on under the settings that it had. */
static int read_config(const learner_arguments *arguments, aq_run_config *config, aq_error *error)
{
    const aq_settings_table *table = aq_run_config_table();
    char own[4096];
    const char *path = arguments->config_path;
    aq_settings_init(table, config);
    if (!path && arguments->options.resume &&
        snprintf(own, sizeof(own), "%s/config.yaml", arguments->options.run_dir) <
            (int)sizeof(own)) {
        path = aq_path_exists(own) ? own : NULL;
    }
    int rc = path ? aq_settings_read_file(table, path, config, error) : 0;
    return rc != 0 ? rc : aq_settings_assign_all(table, &arguments->overrides, config, error);
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    learner_arguments arguments = {
        .options = {.listen_url = "tcp://127.0.0.1:5550", .run_dir = "run"},
    };
    /* An environment that halves the speed of products is put right; what is left of it is warned
     * about (blas_slow). */
    (void)aq_blas_settle(argv);
    aq_daemon_begin("learner", -1);
    int rc = aq_daemon_read_environment(&arguments.options.daemon, &error);
    if (rc == 0) {
        rc = aq_options_parse(&options_page, argc, argv, apply, &arguments, &error);
    }
    if (rc == AQ_OPTIONS_HELP) {
        aq_options_print_help(&options_page, stdout);
        return EXIT_SUCCESS;
    }
    if (rc == AQ_OPTIONS_VERSION) {
        (void)printf("actorq-learner %s\n", AQ_VERSION);
        return EXIT_SUCCESS;
    }
    aq_run_config config;
    if (rc == 0) {
        rc = read_config(&arguments, &config, &error);
    }
    if (rc == 0) {
        rc = aq_learner_run(&config, &arguments.options, &error);
    }
    aq_net_fini();
    if (rc != 0) {
        (void)fprintf(stderr, "actorq-learner: %s\n", error.text);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
