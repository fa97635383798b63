/*
 * actorq-replay: arguments. What the daemon does is in replay_net.c.
 */
#include <stdlib.h>

#include "common/net/address/url.h"
#include "common/sys/command_page.h"
#include "common/sys/daemon.h"
#include "replay/daemon/replay_net.h"

static const aq_option option_rows[] = {
    {"learner", 0, "URL", "the learner whose run this shard belongs to; required",
     AQ_TO(aq_url_take_callable, aq_replay_options, learner_url)},
    {"listen", 0, "URL",
     "serve here; experience is received on the next port (default: any free ports, of "
     "tcp://127.0.0.1 when the learner is on this host, else of all addresses, tcp://*:0)",
     AQ_TO(aq_url_take, aq_replay_options, listen_url)},
    {"advertise", 0, "URL",
     "the address at which others reach this shard, where it is not the one it listens at; port 0 "
     "stands for its own",
     AQ_TO(aq_url_take_advertised, aq_replay_options, advertise_url)},
    {"data", 0, "DIR",
     "keep the steps here, so that they outlive this process; without it they are held in memory "
     "only",
     AQ_TO_TEXT(aq_replay_options, data_dir)},
    AQ_DAEMON_OPTION_ROWS(aq_replay_options, daemon),
};

static const aq_options options_page = {
    .program = "actorq-replay",
    .usage = "--learner URL [options]",
    .summary = "Holds the steps that actors make and hands batches of them to the learner, in the "
               "proportion that the run asks for.",
    .details = "Examples:\n"
               "  actorq-replay --learner tcp://127.0.0.1:5550 --listen tcp://127.0.0.1:5560\n"
               "  actorq-replay --learner tcp://127.0.0.1:5550 --data runs/a/replay-0\n"
               "  actorq-replay --certs replay --learner tcp://head:5550 --advertise "
               "tcp://$(hostname):0\n",
    AQ_OPTION_ROWS(option_rows),
};

int main(int argc, char **argv)
{
    aq_error error = {0};
    aq_replay_options options = {0};
    aq_daemon_begin("replay", -1);
    int status;
    if (!aq_daemon_arguments(&options_page, argc, argv, &options, &options.daemon, &status)) {
        return status;
    }
    int rc = aq_daemon_check_learner(options.learner_url, &error);
    if (rc == 0 && options.listen_url == NULL) { /* in the open only where somebody needs it */
        options.listen_url =
            aq_url_is_local(options.learner_url) ? "tcp://127.0.0.1:0" : "tcp://*:0";
    }
    if (rc == 0) {
        rc = aq_replay_run(&options, &error);
    }
    return rc == 0 ? EXIT_SUCCESS : aq_program_failed(options_page.program, &error);
}
