/*
 * actorq bench: hands over to the program that measures the subject. Those are programs of their
 * own since they link what nothing else of ours does. The one that is started takes this process's
 * place.
 */
#include "cli/text/command.h"

/* `folder` is in the build tree, from actorq's own. */
static int become(const char *program, const char *folder, char **argv)
{
    aq_error error = {0};
    aq_command_become(program, folder, argv, &error);
    return aq_command_failed("bench", &error);
}

static int run_kernels(int argc, char **argv)
{
    (void)argc;
    return become("actorq-bench", "bench/kernels", argv);
}

static int run_learner(int argc, char **argv)
{
    (void)argc;
    return become("actorq-bench-learner", "bench/learner", argv);
}

static int run_replay(int argc, char **argv)
{
    (void)argc;
    return become("actorq-bench-replay", "bench/replay", argv);
}

static const aq_command kernels = {
    .name = "kernels",
    .summary = "the int8 and fp32 kernels against OpenBLAS and oneDNN",
    .run = run_kernels,
};

static const aq_command learner = {
    .name = "learner",
    .summary = "training steps a second, and the share of their products",
    .run = run_learner,
};

static const aq_command replay = {
    .name = "replay",
    .summary = "a replay shard: inserts and samples a second, latency, memory",
    .run = run_replay,
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

static int run(int argc, char **argv)
{
    return aq_command_main(&page, argc, argv);
}

const aq_command aq_command_bench = {
    .name = "bench",
    .summary = "measure how fast kernels, learner and replay are, beside what else could be used",
    .run = run,
};
