/*
 * actorq-actor: arguments. What the program does is in actor_net.c.
 */
#include <stdlib.h>

#include "actor/daemon/actor_net.h"
#include "actor/daemon/gradient_load.h"
#include "common/base/clock.h"
#include "common/net/address/url.h"
#include "common/sys/command_page.h"
#include "common/sys/daemon.h"
#include "envs/env_code.h"

static const aq_option option_rows[] = {
    {"learner", 0, "URL", "the learner whose run this process takes part in; required",
     AQ_TO(aq_url_take_callable, aq_actor_options, learner_url)},
    {"evaluate", 0, NULL, "play greedy episodes and report their returns instead of acting",
     AQ_TO_FLAG(aq_actor_options, evaluate)},
    {"gradients", 0, NULL,
     "compute gradients of the steps and send those, in a run that wants them (actor.gradients)",
     AQ_TO_FLAG(aq_actor_options, gradients)},
    {"slot", 0, "N", "the place in the run that it asks for, if nobody has it (default 0: any)",
     AQ_TO_NUMBER(aq_actor_options, slot, 0, UINT32_MAX)},
    AQ_ALLOW_CODE_OPTION,
    AQ_DAEMON_OPTION_ROWS(aq_actor_options, daemon),
};

static const aq_options options_page = {
    .program = "actorq-actor",
    .usage = "--learner URL [options]",
    .summary = "Steps environments under the newest quantized policy and sends what happens to a "
               "replay shard. Everything else it needs comes from the learner.",
    .details = "Examples:\n"
               "  actorq-actor --learner tcp://127.0.0.1:5550\n"
               "  actorq-actor --certs actor --learner tcp://head:5550 --gradients\n"
               "  actorq-actor --certs evaluator --learner tcp://head:5550 --evaluate\n",
    AQ_OPTION_ROWS(option_rows),
};

int main(int argc, char **argv)
{
    aq_error error = {0};
    aq_actor_options options = {.start_ns = aq_clock_monotonic_ns()};
    int status = EXIT_FAILURE;
    aq_daemon_begin("actor", -1);
    if (!aq_daemon_arguments(&options_page, argc, argv, &options, &options.daemon, &status)) {
        return status;
    }
    int rc = aq_daemon_check_learner(options.learner_url, &error);
    if (rc == 0 && options.gradients) {
        rc = options.evaluate ? aq_fail(&error, AQ_E_INVALID,
                                        "an evaluator sends no gradients: leave --gradients out")
                              : aq_gradient_load(argv, &options.open_gradients, &error);
    }
    if (rc == 0) {
        rc = aq_actor_run(&options, &status, &error);
    }
    return rc == 0 ? status : aq_program_failed(options_page.program, &error);
}
