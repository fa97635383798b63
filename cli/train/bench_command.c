/*
 * actorq bench: starts the program that measures the subject. Those are programs of their own since
 * they link what nothing else of ours does. The one that is started takes this process's place, so
 * its output and exit status are this command's.
 */
#include <stdio.h>
#include <string.h>

#include "cli/text/command.h"
#include "common/base/nearest.h"

static const struct subject {
    const char *name;
    const char *program;
    const char *folder; /* in the build tree, from actorq's own folder */
} subjects[] = {
    {"kernels", "actorq-bench", "bench/kernels"},
    {"learner", "actorq-bench-learner", "bench/learner"},
    {"replay", "actorq-bench-replay", "bench/replay"},
};

enum { SUBJECT_COUNT = sizeof(subjects) / sizeof(subjects[0]) };

static void print_help(void)
{
    (void)fputs("Usage: actorq bench SUBJECT [options]\n\n"
                "Measures how fast ActorQ is on this machine, beside what else could be used.\n\n"
                "  kernels   the int8 and fp32 kernels against OpenBLAS and oneDNN\n"
                "  learner   training steps a second, and the share of their products\n"
                "  replay    a replay shard: inserts and samples a second, latency, memory\n\n"
                "'actorq bench SUBJECT --help' tells more. Each prints one JSON object with "
                "--json.\n\n"
                "Examples:\n"
                "  actorq bench kernels --quick\n"
                "  actorq bench kernels --json >kernels.json\n"
                "  actorq bench replay --quick\n",
                stdout);
}

static int find_subject(const char *name, const struct subject **ret_subject, aq_error *error)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        if (strcmp(subjects[i].name, name) == 0) {
            *ret_subject = &subjects[i];
            return 0;
        }
        aq_nearest_offer(&nearest, subjects[i].name);
    }
    const char *guess = aq_nearest_name(&nearest);
    return guess ? aq_fail(error, AQ_E_INVALID, "there is no benchmark '%s'; did you mean '%s'?",
                           name, guess)
                 : aq_fail(error, AQ_E_INVALID, "there is no benchmark '%s'; see --help", name);
}

static int run(int argc, char **argv)
{
    const struct subject *subject = NULL;
    aq_error error = {0};
    if (argc < 2) {
        (void)aq_fail(&error, AQ_E_INVALID, "SUBJECT is missing; see --help");
        return aq_command_failed(argv[0], &error);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return aq_command_printed(argv[0]);
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("actorq %s\n", AQ_VERSION);
        return aq_command_printed(argv[0]);
    }
    /* argv ends with NULL, and argv[0] is for the program's own name. */
    if (find_subject(argv[1], &subject, &error) == 0) {
        aq_command_become(subject->program, subject->folder, argv, &error);
    }
    return aq_command_failed(argv[0], &error);
}

const aq_command aq_command_bench = {
    .name = "bench",
    .summary = "measure how fast kernels, learner and replay are, beside what else could be used",
    .run = run,
};
