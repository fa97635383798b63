/*
 * Pacing: see pacing.h.
 */
#include "common/config/pacing.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/config/gradient_rows.h"
#include "common/experience/batch.h"

enum { LAG_MAX = 1000000 };

/* No other table than the main one may be such a queue (replay_rules.c). */
static bool is_of_sequences(const aq_run_config *config)
{
    return config->replay.selector == AQ_SELECTOR_QUEUE && config->replay.sequence_length > 0;
}

/* False for a text that is no lag. */
static bool parse(const aq_run_config *config, uint32_t *ret_versions_max)
{
    const char *text = config->learner.lag_max;
    uint64_t lag = 0;
    *ret_versions_max = 0;
    if (strcmp(text, "auto") == 0) {
        *ret_versions_max =
            is_of_sequences(config) && !config->actor.gradients &&
            aq_algorithm_learns_from(config->learner.algorithm) == AQ_LEARNS_FROM_SEQUENCES;
        return true;
    }
    if (strcmp(text, "none") == 0) {
        return true;
    }
    if (aq_parse_u64(text, &lag) != 0 || lag > LAG_MAX) {
        return false;
    }
    *ret_versions_max = 1 + (uint32_t)lag;
    return true;
}

uint32_t aq_pacing_lag(const aq_run_config *config)
{
    uint32_t versions_max;
    return parse(config, &versions_max) ? versions_max : 0;
}

uint32_t aq_pacing_versions_max(const aq_run_config *config)
{
    return config->actor.gradients ? 0 : aq_pacing_lag(config);
}

uint64_t aq_pacing_group_steps(const aq_run_config *config)
{
    if (!is_of_sequences(config)) {
        return 0;
    }
    if (config->actor.gradients) {
        return aq_gradient_steps(config);
    }
    return config->learner.group_steps > 0
               ? config->learner.group_steps
               : config->actor.count * config->actor.envs * config->replay.sequence_length;
}

uint64_t aq_pacing_group_rows(const aq_run_config *config)
{
    const uint64_t steps = aq_pacing_group_steps(config);
    return steps > 0 ? steps : config->learner.batch_size * config->learner.batches_per_request;
}

uint64_t aq_pacing_group_steps_max(const aq_run_config *config, uint32_t sequence_length)
{
    const uint64_t steps = aq_pacing_group_steps(config);
    return steps > 0 ? steps + sequence_length : aq_pacing_group_rows(config) * sequence_length;
}

/* ---- checks -------------------------------------------------------------------------------- */

static int check_group(const aq_run_config *config, aq_error *error)
{
    const uint64_t steps = aq_pacing_group_steps(config);
    if (steps > AQ_BATCH_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.group_steps comes to %" PRIu64
                       " steps (0 is replay.sequence_length in each environment); at most %" PRIu32
                       " are possible",
                       steps, AQ_BATCH_ROWS_MAX);
    }
    return 0;
}

/* A group is of so many steps; of sequences that overlap, each step would count many times. */
static int check_period(const aq_run_config *config, aq_error *error)
{
    if (is_of_sequences(config) && !config->actor.gradients &&
        config->replay.sequence_period != config->replay.sequence_length) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.sequence_period is %" PRIu64
                       ", but each step of a queue of sequences is learned from once; %" PRIu64
                       ", as replay.sequence_length, works",
                       config->replay.sequence_period, config->replay.sequence_length);
    }
    return 0;
}

int aq_pacing_check_capacity(const aq_run_config *config, uint32_t ranks, aq_error *error)
{
    const uint64_t versions_max = aq_pacing_versions_max(config);
    const uint64_t group = aq_pacing_group_rows(config);
    const uint64_t prefetch = config->learner.prefetch;
    const uint64_t asked = ranks * (versions_max < prefetch ? versions_max : prefetch);
    const uint64_t open = config->actor.count * config->actor.envs * config->replay.chunk_length;
    const uint64_t least = (asked * group + open) * config->replay.shards;
    if (versions_max > 0 && config->replay.capacity < least) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.capacity is %" PRIu64 ", but with learner.lag_max %" PRIu64
                       " groups of %" PRIu64
                       " steps may be asked of a shard, and environments may hold %" PRIu64
                       " on top; %" PRIu64 " is the least that works",
                       config->replay.capacity, asked, group, open, least);
    }
    return 0;
}

/* Steps that are made on demand must get out at once, whatever is open: then no item may need the
 * steps that come after a chunk's last. */
static int check_items(const aq_run_config *config, aq_error *error)
{
    if (config->replay.sequence_length == 0 && config->learner.n_step > 1) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.n_step is %" PRIu64
                       ", but with learner.lag_max a step is sent before the next one is made; 1 "
                       "works",
                       config->learner.n_step);
    }
    return 0;
}

int aq_pacing_check(const aq_run_config *config, aq_error *error)
{
    uint32_t versions_max;
    if (!parse(config, &versions_max)) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.lag_max is \"%s\"; \"auto\", \"none\" and 0 to %d are possible",
                       config->learner.lag_max, LAG_MAX);
    }
    int rc = check_group(config, error);
    if (rc == 0) {
        rc = check_period(config, error);
    }
    if (rc != 0 || versions_max == 0 || config->actor.gradients) {
        return rc;
    }
    if (config->replay.selector != AQ_SELECTOR_QUEUE || config->replay.tables[0] != '\0') {
        return aq_fail(
            error, AQ_E_INVALID,
            "learner.lag_max needs steps that are given once and that nobody else draws: "
            "replay.selector=queue and an empty replay.tables work");
    }
    if (config->actor.random_first) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor.random_first makes steps of no version, of which learner.lag_max "
                       "takes none; actor.random_first=false works");
    }
    rc = check_items(config, error);
    return rc == 0 ? aq_pacing_check_capacity(config, 1, error) : rc;
}
