/*
 * How long libactorq takes to act, called from C in a loop: what bench/python_overhead.py is
 * compared with.
 *
 *     build/bench/bench_act RUN|POLICY
 */
#include <actorq/actorq.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/base/memory.h"

enum { ROWS_MAX = 256, CALLS = 20000, SLICES = 9 };

/* The least time of a call, in nanoseconds of this process; below 0: one failed. */
static double time_of(actorq_policy *policy, const void *obs, uint64_t rows, void *actions)
{
    double least = 1e18;
    const int calls = CALLS / (rows > 1 ? 20 : 1);
    for (int slice = 0; slice < SLICES; slice++) {
        const int64_t start = aq_clock_cpu_ns();
        for (int i = 0; i < calls; i++) {
            if (actorq_policy_act(policy, obs, rows, actions, NULL) != 0) {
                return -1.0;
            }
        }
        const double each = (double)(aq_clock_cpu_ns() - start) / calls;
        least = each < least ? each : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    actorq_policy *policy;
    actorq_error error;
    if (argc != 2 || actorq_policy_load(argv[1], NULL, &policy, &error) != 0) {
        (void)fprintf(stderr, "bench_act: %s\n", argc != 2 ? "RUN or POLICY" : error.text);
        return 1;
    }
    const actorq_policy_facts *facts = actorq_policy_look(policy);
    void *obs = aq_alloc(ROWS_MAX, facts->observation_bytes);
    void *actions = aq_alloc(ROWS_MAX, facts->action_bytes);
    const bool has_room = obs != NULL && actions != NULL;
    const double one = has_room ? time_of(policy, obs, 1, actions) : -1.0;
    const double many = one >= 0.0 ? time_of(policy, obs, ROWS_MAX, actions) : -1.0;
    if (many >= 0.0) {
        (void)printf("{\"1\": %.1f, \"256\": %.1f}\n", one, many);
    } else {
        (void)fprintf(stderr, "bench_act: %s\n", has_room ? "it does not act" : "out of memory");
    }
    aq_free(obs);
    aq_free(actions);
    actorq_policy_free(policy);
    return many >= 0.0 ? 0 : 1;
}
