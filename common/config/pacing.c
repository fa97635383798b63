/*
 * Pacing: see pacing.h.
 */
#include "common/config/pacing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/experience/batch.h"

enum { LAG_MAX = 1000000 };

/* False for a text that is no lag. */
static bool parse(const char *text, uint32_t *ret_lag)
{
    uint64_t lag;
    if (text[0] == '\0' || strcmp(text, "none") == 0) {
        *ret_lag = AQ_LAG_ANY;
        return true;
    }
    if (aq_parse_u64(text, &lag) != 0 || lag > LAG_MAX) {
        return false;
    }
    *ret_lag = (uint32_t)lag;
    return true;
}

static bool is_of_sequences(const aq_run_config *config)
{
    return config->replay.selector == AQ_SELECTOR_QUEUE && config->replay.sequence_length > 0;
}

static bool is_auto(const aq_run_config *config)
{
    return strcmp(config->learner.lag_max, "auto") == 0;
}

uint32_t aq_pacing_lag_max(const aq_run_config *config)
{
    uint32_t lag = AQ_LAG_ANY;
    if (is_auto(config)) {
        return is_of_sequences(config) && aq_algorithm_learns_from(config->learner.algorithm) ==
                                              AQ_LEARNS_FROM_SEQUENCES
                   ? 0
                   : AQ_LAG_ANY;
    }
    return parse(config->learner.lag_max, &lag) ? lag : AQ_LAG_ANY;
}

void aq_pacing_settle(aq_run_config *config)
{
    if (is_auto(config)) {
        const char *text = aq_pacing_lag_max(config) == AQ_LAG_ANY ? "none" : "0";
        int rc = aq_text_set(config->learner.lag_max, sizeof(config->learner.lag_max), text);
        AQ_ASSERT(rc == 0);
    }
}

uint64_t aq_pacing_group_steps(const aq_run_config *config)
{
    if (!is_of_sequences(config)) {
        return 0;
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

/* What a paced queue must hold: all that was asked, and what lanes may fill on top. */
static int check_capacity(const aq_run_config *config, uint32_t lag, aq_error *error)
{
    const uint64_t group = aq_pacing_group_rows(config);
    const uint64_t asked = lag < config->learner.prefetch ? 1 + lag : config->learner.prefetch;
    const uint64_t open =
        config->actor.count * config->actor.envs * config->replay.chunk_length;
    const uint64_t least = (asked * group + open) * config->replay.shards;
    if (config->replay.capacity < least) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.capacity is %" PRIu64
                       ", but with learner.lag_max %" PRIu32 " up to %" PRIu64 " groups of %" PRIu64
                       " steps are asked of a shard, and environments may hold %" PRIu64
                       " on top; %" PRIu64 " is the least that works",
                       config->replay.capacity, lag, asked, group, open, least);
    }
    return 0;
}

/* Steps that are made on demand must get out at once, whatever is open: then no item may need the
 * steps that come after a chunk's last. */
static int check_items(const aq_run_config *config, aq_error *error)
{
    if (config->replay.sequence_length > 0 &&
        config->replay.sequence_period != config->replay.sequence_length) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.sequence_period is %" PRIu64
                       ", but with learner.lag_max each step is learned from once; %" PRIu64
                       ", as replay.sequence_length, works",
                       config->replay.sequence_period, config->replay.sequence_length);
    }
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
    uint32_t lag;
    if (!is_auto(config) && !parse(config->learner.lag_max, &lag)) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.lag_max is \"%s\"; \"auto\", \"none\" and 0 to %d are possible",
                       config->learner.lag_max, LAG_MAX);
    }
    lag = aq_pacing_lag_max(config);
    int rc = check_group(config, error);
    if (rc != 0 || lag == AQ_LAG_ANY) {
        return rc;
    }
    if (config->replay.selector != AQ_SELECTOR_QUEUE || config->replay.tables[0] != '\0') {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.lag_max %" PRIu32
                       " needs steps that are given once and nobody else draws from: "
                       "replay.selector=queue and an empty replay.tables work",
                       lag);
    }
    if (config->actor.random_first) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor.random_first makes steps of no version, and learner.lag_max %" PRIu32
                       " takes none of these; actor.random_first=false works",
                       lag);
    }
    rc = check_items(config, error);
    return rc == 0 ? check_capacity(config, lag, error) : rc;
}
