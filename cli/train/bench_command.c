/*
 * actorq bench: hands over to the program that measures the subject. Those are programs of their
 * own since they link what nothing else of ours does.
 */
#include "cli/text/command.h"

static const aq_command kernels = {
    .name = "kernels",
    .summary = "the int8 and fp32 kernels against OpenBLAS and oneDNN",
    .program = "actorq-bench",
    .folder = "bench/kernels",
    .speaker = "actorq bench",
};

static const aq_command learner = {
    .name = "learner",
    .summary = "training steps a second, and the share of their products",
    .program = "actorq-bench-learner",
    .folder = "bench/learner",
    .speaker = "actorq bench",
};

static const aq_command replay = {
    .name = "replay",
    .summary = "a replay shard: inserts and samples a second, latency, memory",
    .program = "actorq-bench-replay",
    .folder = "bench/replay",
    .speaker = "actorq bench",
};

static const aq_command *const commands[] = {&kernels, &learner, &replay};

static const aq_command_page page = {
    .program = "actorq bench",
    .summary = "Measures how fast ActorQ is on this machine, beside what else could be used. Each "
               "prints one\nJSON object with --json.\n",
    .examples = "  actorq bench kernels --quick\n"
                "  actorq bench kernels --json >kernels.json\n"
                "  actorq bench replay --quick\n",
    .commands = commands,
    .count = sizeof(commands) / sizeof(commands[0]),
};

const aq_command aq_command_bench = {
    .name = "bench",
    .summary = "measure how fast kernels, learner and replay are, beside what else could be used",
    .page = &page,
};
