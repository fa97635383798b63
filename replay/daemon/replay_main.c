/*
 * actorq-replay: arguments. What the daemon does is in replay_net.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/net/address/url.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/sys/daemon.h"
#include "common/sys/options.h"
#include "replay/daemon/replay_net.h"

static const aq_option option_rows[] = {
    {"learner", 0, "URL", "the learner whose run this shard belongs to; required"},
    {"listen", 0, "URL",
     "serve here; experience is received on the next port (default: any free ports, of "
     "tcp://127.0.0.1 when the learner is on this host, else of all addresses, tcp://*:0)"},
    {"advertise", 0, "URL",
     "the address at which others reach this shard, where it is not the one it listens at; port 0 "
     "stands for its own"},
    {"data", 0, "DIR",
     "keep the steps here, so that they outlive this process; without it they are held in memory "
     "only"},
    AQ_DAEMON_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq-replay",
    .usage = "--learner URL [options]",
    .summary = "Holds the steps that actors make and hands batches of them to the learner, in the "
               "proportion that the run asks for.",
    .details = "Examples:\n"
               "  actorq-replay --learner tcp://127.0.0.1:5550 --listen tcp://127.0.0.1:5560\n"
               "  actorq-replay --learner tcp://127.0.0.1:5550 --data runs/a/replay-0\n"
               "  actorq-replay --learner tcp://head:5550 --advertise tcp://$(hostname):0\n",
    .rows = option_rows,
    .count = sizeof(option_rows) / sizeof(option_rows[0]),
};

static int apply(void *user, const aq_option *option, const char *value, aq_error *error)
{
    aq_replay_options *options = user;
    int rc;
    if (option == NULL) {
        return aq_fail(error, AQ_E_INVALID, "'%s': this program takes options only", value);
    }
    if (aq_daemon_apply(&options->daemon, option, value, &rc, error)) {
        return rc;
    }
    if (strcmp(option->name, "data") == 0) {
        options->data_dir = value;
        return value[0] != '\0' ? 0 : aq_fail(error, AQ_E_INVALID, "--data: no folder is named");
    }
    if (strcmp(option->name, "learner") == 0) {
        options->learner_url = value;
    } else if (strcmp(option->name, "listen") == 0) {
        options->listen_url = value;
    } else {
        options->advertise_url = value;
    }
    return aq_url_validate(value, error);
}

/* What a url on its own cannot show. */
static int check(const aq_replay_options *options, aq_error *error)
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
    if (options->advertise_url != NULL && aq_url_is_wildcard(options->advertise_url)) {
        return aq_fail(error, AQ_E_INVALID,
                       "--advertise %s: others cannot call that; name this host",
                       options->advertise_url);
    }
    return 0;
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    aq_replay_options options = {0};
    aq_memory_use_one_heap();
    aq_daemon_begin("replay", -1);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */
    int rc = aq_daemon_read_environment(&options.daemon, &error);
    if (rc == 0) {
        rc = aq_options_parse(&options_page, argc, argv, apply, &options, &error);
    }
    if (rc == AQ_OPTIONS_HELP) {
        aq_options_print_help(&options_page, stdout);
        return EXIT_SUCCESS;
    }
    if (rc == AQ_OPTIONS_VERSION) {
        (void)printf("actorq-replay %s\n", AQ_VERSION);
        return EXIT_SUCCESS;
    }
    if (rc == 0) {
        rc = check(&options, &error);
    }
    if (rc == 0 && options.listen_url == NULL) { /* in the open only where somebody needs it */
        options.listen_url =
            aq_url_is_local(options.learner_url) ? "tcp://127.0.0.1:0" : "tcp://*:0";
    }
    if (rc == 0) {
        rc = aq_replay_run(&options, &error);
    }
    aq_net_fini();
    if (rc != 0) {
        (void)fprintf(stderr, "actorq-replay: %s\n", error.text);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
