/*
 * actorq-actor: arguments. What the program does is in actor_net.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/daemon/actor_net.h"
#include "common/base/clock.h"
#include "common/net/address/url.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/sys/daemon.h"
#include "common/sys/options.h"

static const aq_option option_rows[] = {
    {"learner", 0, "URL", "the learner whose run this process takes part in; required"},
    {"evaluate", 0, NULL, "play greedy episodes and report their returns instead of acting"},
    AQ_DAEMON_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq-actor",
    .usage = "--learner URL [options]",
    .summary = "Steps environments under the newest quantized policy and sends what happens to a "
               "replay shard. Everything else it needs comes from the learner.",
    .details = "Examples:\n"
               "  actorq-actor --learner tcp://127.0.0.1:5550\n"
               "  actorq-actor --learner tcp://head:5550 --evaluate\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
};

static int apply(void *user, const aq_option *option, const char *value, aq_error *error)
{
    aq_actor_options *options = user;
    int rc;
    if (option == NULL) {
        return aq_fail(error, AQ_E_INVALID, "'%s': this program takes options only", value);
    }
    if (aq_daemon_apply(&options->daemon, option, value, &rc, error)) {
        return rc;
    }
    if (strcmp(option->name, "evaluate") == 0) {
        options->evaluate = true;
        return 0;
    }
    options->learner_url = value;
    return aq_url_validate(value, error);
}

static int check(const aq_actor_options *options, aq_error *error)
{
    if (options->learner_url == NULL) {
        return aq_fail(error, AQ_E_INVALID,
                       "--learner is missing, such as --learner tcp://127.0.0.1:5550");
    }
    if (aq_url_is_wildcard(options->learner_url)) {
        return aq_fail(error, AQ_E_INVALID,
                       "--learner %s: that is an address to listen at, not one to call",
                       options->learner_url);
    }
    return 0;
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    aq_actor_options options = {.start_ns = aq_clock_monotonic_ns()};
    int exit_code = EXIT_FAILURE;
    aq_daemon_begin("actor", -1);
    int rc = aq_daemon_read_environment(&options.daemon, &error);
    if (rc == 0) {
        rc = aq_options_parse(&options_page, argc, argv, apply, &options, &error);
    }
    if (rc == AQ_OPTIONS_HELP) {
        aq_options_print_help(&options_page, stdout);
        return EXIT_SUCCESS;
    }
    if (rc == AQ_OPTIONS_VERSION) {
        (void)printf("actorq-actor %s\n", AQ_VERSION);
        return EXIT_SUCCESS;
    }
    if (rc == 0) {
        rc = check(&options, &error);
    }
    if (rc == 0) {
        rc = aq_actor_run(&options, &exit_code, &error);
    }
    aq_net_fini();
    if (rc != 0) {
        (void)fprintf(stderr, "actorq-actor: %s\n", error.text);
        return EXIT_FAILURE;
    }
    return exit_code;
}
