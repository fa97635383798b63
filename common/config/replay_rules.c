/*
 * Replay rules: see replay_rules.h. Most of them keep a run from standing still: whoever waits must
 * be waiting for somebody who may move.
 *
 * Any thread; no state.
 */
#include "common/config/replay_rules.h"

#include <inttypes.h>
#include <math.h>

#include "common/config/gradient_rows.h"
#include "common/config/pacing.h"
#include "common/config/run_tables.h"

/* ---- sizes --------------------------------------------------------------------------------- */

static bool is_paced(const aq_run_config *config)
{
    return aq_pacing_versions_max(config) > 0;
}

static int check_spans(const aq_run_config *config, const aq_run_tables *tables, aq_error *error)
{
    const uint64_t chunk = config->replay.chunk_length;
    for (uint32_t i = 0; i < tables->count; i++) {
        const aq_table_spec *spec = &tables->specs[i];
        if (chunk >= aq_table_spec_steps(spec)) {
            continue;
        }
        return aq_fail(error, AQ_E_INVALID,
                       "replay.chunk_length is %" PRIu64 ", but %s %" PRIu32
                       " of table %s must fit in a chunk",
                       chunk,
                       spec->sequence_length > 0 ? "a sequence of sequence_length"
                                                 : "a return over learner.n_step",
                       aq_table_spec_steps(spec), spec->name);
    }
    return 0;
}

static int check_sizes(const aq_run_config *config, const aq_run_tables *tables, aq_error *error)
{
    const uint64_t chunk = config->replay.chunk_length;
    const uint64_t shards = config->replay.shards;
    for (uint32_t i = 0; i < tables->count; i++) {
        const aq_table_spec *spec = &tables->specs[i];
        if (spec->capacity < 2 * chunk * shards) {
            return aq_fail(error, AQ_E_INVALID,
                           "replay: table %s: capacity %" PRIu64
                           " is too small: each of the replay.shards %" PRIu64
                           " must hold two chunks of replay.chunk_length %" PRIu64
                           ", which takes %" PRIu64,
                           spec->name, spec->capacity, shards, chunk, 2 * chunk * shards);
        }
    }
    const uint64_t min_size = tables->specs[tables->learner].min_size;
    if (min_size < config->learner.batch_size && aq_pacing_group_steps(config) == 0 &&
        !is_paced(config) && !config->actor.gradients) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.min_size is %" PRIu64
                       ", less than one learner.batch_size of %" PRIu64
                       ": the first batches would hold the same steps over and over",
                       min_size, config->learner.batch_size);
    }
    if (config->limits.env_steps > 0 && config->limits.env_steps < min_size &&
        !config->actor.gradients) {
        return aq_fail(error, AQ_E_INVALID,
                       "limits.env_steps %" PRIu64 " is less than replay.min_size %" PRIu64
                       ": the run would end before the learner starts",
                       config->limits.env_steps, min_size);
    }
    return 0;
}

/* ---- who waits for whom -------------------------------------------------------------------- */

/* A table from which nobody draws would stop the actors for good, were it to hold them back. */
static int check_readers(const aq_run_tables *tables, aq_error *error)
{
    const char *read = tables->specs[tables->learner].name;
    for (uint32_t i = 0; i < tables->count; i++) {
        const aq_table_spec *spec = &tables->specs[i];
        if (i == tables->learner) {
            continue;
        }
        if (spec->selector == AQ_SELECTOR_QUEUE) {
            return aq_fail(error, AQ_E_INVALID,
                           "replay: table %s is a queue, but learner.table is %s: once it is full, "
                           "the actors would wait for ever",
                           spec->name, read);
        }
        if (spec->samples_per_insert > 0.0) {
            return aq_fail(error, AQ_E_INVALID,
                           "replay: table %s has samples_per_insert %g, but learner.table is %s: "
                           "the actors would wait for ever; samples_per_insert=0 works",
                           spec->name, spec->samples_per_insert, read);
        }
    }
    return 0;
}

static int check_band(const aq_run_config *config, const aq_table_spec *spec, aq_error *error)
{
    const aq_run_slack slack = aq_run_slack_of(config, spec);
    const double most = aq_run_config_row("replay.tolerance")->max;
    if (slack.tolerance > most) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.tolerance would have to be %.0f steps, lest everybody wait for "
                       "everybody, and %.0f is the most; fewer environments (actor.count, "
                       "actor.envs), a lower replay.chunk_length or a higher "
                       "replay.samples_per_insert takes less",
                       slack.tolerance, most);
    }
    if (spec->tolerance < slack.held_back) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.tolerance is %g steps, but actor.count times actor.envs, %.0f "
                       "environments, may hold back a chunk of replay.chunk_length %" PRIu64
                       " steps each: everybody could wait for everybody; %.0f is the least that "
                       "works, and 0 takes what is needed",
                       spec->tolerance, slack.lanes, config->replay.chunk_length, slack.tolerance);
    }
    if (spec->tolerance < slack.tolerance) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.tolerance is %g steps, but one request of learner.batch_size times "
                       "learner.batches_per_request, %.0f rows, counts as %.0f steps at "
                       "replay.samples_per_insert %g: everybody could wait for everybody; with one "
                       "chunk more, %.0f is the least that works, and 0 takes what is needed",
                       spec->tolerance, slack.request_rows, slack.request_steps,
                       spec->samples_per_insert, slack.tolerance);
    }
    return 0;
}

/* A queue is full when it has no room for the chunks that lanes still fill; then a whole request
 * must be in it. */
static int check_queue(const aq_run_config *config, const aq_table_spec *spec, aq_error *error)
{
    const aq_run_slack slack = aq_run_slack_of(config, spec);
    const double shards = (double)config->replay.shards;
    const double least = (slack.request_rows + slack.held_back) * shards;
    if ((double)spec->capacity >= least) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "replay: table %s is a queue of capacity %" PRIu64
                   ", but a request takes %.0f items from one of %.0f shards, and %.0f "
                   "environments may hold back a chunk of replay.chunk_length %" PRIu64
                   " steps each: everybody could wait for everybody; %.0f is the least that works",
                   spec->name, spec->capacity, slack.request_rows, shards, slack.lanes,
                   config->replay.chunk_length, least);
}

/* Where a request may not draw an item as often as it likes, so many of them must be there. */
static double items_of_request(const aq_run_config *config, const aq_table_spec *spec)
{
    const bool is_ordered =
        spec->selector == AQ_SELECTOR_FIFO || spec->selector == AQ_SELECTOR_LIFO;
    const uint32_t times = is_ordered ? 1 : spec->times_sampled_max;
    return times > 0 ? ceil(aq_run_slack_of(config, spec).request_rows / times) : 0.0;
}

uint64_t aq_replay_rules_request_steps(const aq_run_config *config, const aq_table_spec *spec)
{
    return (uint64_t)items_of_request(config, spec) * aq_table_spec_period(spec);
}

/* Chunks leave whole, so a full table may lack one. */
static int check_draws(const aq_run_config *config, const aq_table_spec *spec, aq_error *error)
{
    const double items = items_of_request(config, spec);
    if (items == 0.0) {
        return 0;
    }
    const double chunk = (double)config->replay.chunk_length;
    const double shards = (double)config->replay.shards;
    const double least = (items * aq_table_spec_period(spec) + chunk) * shards;
    if ((double)spec->capacity >= least) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "replay: table %s has a capacity of %" PRIu64
                   ", but a request needs %.0f items of one of %.0f shards, which may have let go "
                   "a chunk of replay.chunk_length %.0f steps: the learner could wait for ever; "
                   "%.0f is the least that works",
                   spec->name, spec->capacity, items, shards, chunk, least);
}

static int check_limiter(const aq_run_config *config, const aq_run_tables *tables, aq_error *error)
{
    const aq_table_spec *spec = &tables->specs[tables->learner];
    if (is_paced(config)) {
        return 0; /* aq_pacing_check has */
    }
    if (spec->selector == AQ_SELECTOR_QUEUE) {
        return check_queue(config, spec, error);
    }
    int rc = check_draws(config, spec, error);
    if (rc == 0 && spec->samples_per_insert > 0.0) {
        rc = check_band(config, spec, error);
    }
    return rc;
}

/* ---- what else goes together --------------------------------------------------------------- */

static int check_items(const aq_run_config *config, const aq_run_tables *tables, aq_error *error)
{
    const aq_table_spec *spec = &tables->specs[tables->learner];
    const enum aq_learns_from wanted = aq_algorithm_learns_from(config->learner.algorithm);
    const char *name = aq_algorithm_names[config->learner.algorithm];
    const bool learns_once = aq_algorithm_has(config->learner.algorithm, AQ_LEARNS_ONCE);
    const bool is_queue = spec->selector == AQ_SELECTOR_QUEUE, is_main = tables->learner == 0;
    const uint64_t chunk = config->replay.chunk_length;
    if (spec->sequence_length > 0 && wanted == AQ_LEARNS_FROM_ITEMS) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.table %s holds sequences of %" PRIu32
                       " transitions, but %s needs n-step items; sequence_length=0 works",
                       spec->name, spec->sequence_length, name);
    }
    if (spec->sequence_length == 0 && wanted == AQ_LEARNS_FROM_SEQUENCES) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.table %s holds n-step items, but %s needs sequences; "
                       "sequence_length=%" PRIu64 " works",
                       spec->name, name,
                       chunk < AQ_SEQUENCE_LENGTH_MAX ? chunk : AQ_SEQUENCE_LENGTH_MAX);
    }
    /* What a group of such a queue is, and that it gives each step once, goes by replay.* alone. */
    if (is_queue && spec->sequence_length > 0 && !is_main) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.table %s is a queue of sequences, which only table main may be; "
                       "%s works",
                       spec->name,
                       learns_once ? "learner.table=main without this table" : "selector=uniform");
    }
    if (!is_queue && learns_once) {
        return aq_fail(
            error, AQ_E_INVALID,
            "%s learns once from each step that its policy has made, and learner.table %s "
            "gives steps again; %s works",
            name, spec->name, is_main ? "selector=queue" : "learner.table=main");
    }
    if (config->actor.random_first && learns_once &&
        aq_algorithm_has(config->learner.algorithm, AQ_DRAWS_ACTIONS)) {
        return aq_fail(error, AQ_E_INVALID,
                       "actor.random_first makes steps that no policy chose, and %s learns from "
                       "the probabilities of its policy's choices; actor.random_first=false works",
                       name);
    }
    return 0;
}

int aq_replay_rules_check_storage(const aq_run_config *config, aq_error *error)
{
    const uint64_t memory = config->replay.memory_bytes;
    if (config->replay.segment_bytes < config->net.message_bytes) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.segment_bytes %" PRIu64 " is less than one message of "
                       "net.message_bytes %" PRIu64,
                       config->replay.segment_bytes, config->net.message_bytes);
    }
    if (memory > 0 && config->replay.storage == AQ_STORAGE_MEMORY) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.memory_bytes %" PRIu64
                       " needs files to which the other steps can go: replay.storage=segments "
                       "works, or replay.capacity_bytes (of a queue replay.capacity), which lets "
                       "them go for good",
                       memory);
    }
    if (memory > 0 && config->replay.compression) {
        return aq_fail(error, AQ_E_INVALID,
                       "replay.memory_bytes %" PRIu64
                       " needs records that can be read in place; replay.compression=false works",
                       memory);
    }
    return 0;
}

int aq_replay_rules_check(const aq_run_config *config, aq_error *error)
{
    static int (*const checks[])(const aq_run_config *config, const aq_run_tables *tables,
                                 aq_error *error) = {check_spans, check_sizes, check_items,
                                                     check_limiter};
    aq_run_tables tables;
    int rc = aq_pacing_check(config, error);
    if (rc == 0) {
        rc = aq_gradient_check(config, error);
    }
    if (rc == 0) {
        rc = aq_run_tables_make(config, &tables, error);
    }
    for (size_t i = 0; rc == 0 && i < sizeof(checks) / sizeof(checks[0]); i++) {
        rc = checks[i](config, &tables, error);
    }
    if (rc == 0) {
        rc = check_readers(&tables, error);
    }
    return rc;
}
