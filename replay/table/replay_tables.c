/*
 * Loops over a handful of tables.
 */
#include "replay/table/replay_tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"

/* The reward of a gradient says whether it is one: actors have shaped those of its steps. */
static aq_reward_shape shape_of(const aq_run_config *config)
{
    if (config->actor.gradients) {
        return (aq_reward_shape){.clip = 0.0f, .scale = 1.0f};
    }
    return (aq_reward_shape){.clip = (float)config->learner.reward_clip,
                             .scale = (float)config->learner.reward_scale};
}

int aq_replay_tables_init(aq_replay_tables *tables, const aq_run_settings *settings,
                          const aq_layout *layout, aq_message_store *store, uint64_t seed,
                          aq_error *error)
{
    AQ_ASSERT(settings->table_count >= 1);
    AQ_ASSERT(settings->table_count <= AQ_TABLES_MAX);
    memset(tables, 0, sizeof(*tables));
    tables->rows_max = settings->sample_rows;
    for (size_t i = 0; i < settings->table_count; i++) {
        const aq_table_spec *spec = &settings->tables[i];
        aq_replay_shelf *shelf = &tables->shelves[i];
        int rc = aq_replay_limiter_init(&shelf->limiter, spec, settings->sample_rows, error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "table %s", spec->name);
        }
        rc = aq_replay_table_create(spec, layout, store, seed + i, &shelf->table);
        if (rc != 0) {
            return aq_fail(error, rc, "table %s: %s", spec->name, aq_error_text(rc));
        }
        aq_replay_table_shape_rewards(shelf->table, shape_of(&settings->config));
        shelf->is_paced = spec->selector == AQ_SELECTOR_QUEUE && settings->versions_max > 0;
        tables->count = i + 1;
    }
    return 0;
}

void aq_replay_tables_fini(aq_replay_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        aq_replay_table_destroy(tables->shelves[i].table);
    }
    memset(tables, 0, sizeof(*tables));
}

aq_replay_shelf *aq_replay_tables_find(aq_replay_tables *tables, const char *name)
{
    if (name[0] == '\0') {
        return &tables->shelves[0];
    }
    for (size_t i = 0; i < tables->count; i++) {
        if (strcmp(aq_replay_table_spec(tables->shelves[i].table)->name, name) == 0) {
            return &tables->shelves[i];
        }
    }
    return NULL;
}

int aq_replay_tables_reserve(aq_replay_tables *tables, const aq_arrival *arrival)
{
    for (size_t i = 0; i < tables->count; i++) {
        int rc = aq_replay_table_reserve(tables->shelves[i].table, arrival);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Chunks leave in the order of their coming: the oldest item is that many before the next. */
static bool leaves_in_order(const aq_table_spec *spec)
{
    return spec->remover == AQ_REMOVER_FIFO && spec->times_sampled_max == 0;
}

void aq_replay_tables_restoring(aq_replay_tables *tables, bool restoring)
{
    for (size_t i = 0; i < tables->count; i++) {
        aq_replay_shelf *shelf = &tables->shelves[i];
        aq_replay_table_restoring(shelf->table, restoring);
        if (!restoring) { /* nobody knows when what was read back came */
            shelf->clock = (aq_item_clock){.count = 0};
        }
    }
}

/* What a queue holds decides what may come. */
static void tell_holdings(aq_replay_shelf *shelf)
{
    aq_replay_limiter_holds(&shelf->limiter, aq_replay_table_holdings(shelf->table).transitions);
}

void aq_replay_tables_insert(aq_replay_tables *tables, int64_t now_ns, aq_stored_message *message,
                             uint64_t fresh)
{
    for (size_t i = 0; i < tables->count; i++) {
        aq_replay_shelf *shelf = &tables->shelves[i];
        aq_replay_holdings before = aq_replay_table_holdings(shelf->table);
        uint64_t oldest = leaves_in_order(aq_replay_table_spec(shelf->table))
                              ? before.next_item - before.items
                              : 0;
        aq_item_clock_note(&shelf->clock, before.next_item, oldest, now_ns);
        for (uint32_t chunk = 0; chunk < message->arrival->chunk_count; chunk++) {
            aq_replay_table_insert(shelf->table, message, chunk);
        }
        aq_replay_limiter_inserted(&shelf->limiter, fresh);
        tell_holdings(shelf);
    }
}

int aq_replay_shelf_sample(aq_replay_shelf *shelf, uint32_t rows, float discount, aq_batch *batch)
{
    int rc = AQ_E_AGAIN;
    if (aq_replay_limiter_may_sample(&shelf->limiter, rows)) {
        rc = aq_replay_table_sample(shelf->table, rows, discount, batch);
    }
    if (rc != 0) {
        shelf->refused = true;
        return rc;
    }
    aq_replay_limiter_sampled(&shelf->limiter, rows);
    tell_holdings(shelf);
    shelf->sampled += rows;
    return 0;
}

void aq_replay_shelf_ask(aq_replay_shelf *shelf, uint64_t steps, uint32_t version_min)
{
    shelf->asked = steps;
    if (shelf->is_paced && steps > 0) {
        aq_replay_table_expect(shelf->table, version_min);
        tell_holdings(shelf);
    }
}

uint32_t aq_replay_shelf_rows(const aq_replay_shelf *shelf, uint32_t steps, uint32_t rows_max)
{
    const aq_queue_view enough = aq_replay_table_look(shelf->table, steps);
    return enough.steps >= steps && enough.rows < rows_max ? (uint32_t)enough.rows : rows_max;
}

/* Whether more was counted than there is, and that is too little to learn from: files are gone, or
 * what is in them does not fit any more. Tables whose items leave by being sampled hold little
 * anyway. */
static bool has_lost_its_minimum(const aq_replay_shelf *shelf)
{
    const aq_table_spec *spec = aq_replay_table_spec(shelf->table);
    const uint64_t held = aq_replay_table_holdings(shelf->table).transitions;
    return spec->times_sampled_max == 0 && spec->selector != AQ_SELECTOR_QUEUE &&
           held < shelf->limiter.inserted && held < spec->min_size && held < spec->capacity;
}

void aq_replay_shelf_restore(aq_replay_shelf *shelf, uint64_t inserted, uint64_t sampled,
                             bool known)
{
    /* A store in memory that goes on in a folder has been restored before. */
    shelf->limiter.min_size = aq_replay_table_spec(shelf->table)->min_size;
    aq_replay_limiter_restore(&shelf->limiter, inserted, sampled, known);
    if (has_lost_its_minimum(shelf)) {
        aq_replay_limiter_begin_anew(&shelf->limiter,
                                     aq_replay_table_holdings(shelf->table).transitions);
    }
    tell_holdings(shelf);
}

uint64_t aq_replay_shelf_owed(const aq_replay_shelf *shelf)
{
    const aq_replay_limiter *limiter = &shelf->limiter;
    const uint64_t min_size = aq_replay_table_spec(shelf->table)->min_size;
    const double written_off = limiter->forgiven + (double)(limiter->min_size - min_size);
    double rows = (double)limiter->sampled + written_off * limiter->samples_per_insert;
    return rows > 0.0 ? (uint64_t)rows : 0;
}

/* Steps that were asked for and are not there. */
static uint64_t wanting(const aq_replay_shelf *shelf)
{
    return shelf->asked - aq_replay_table_look(shelf->table, shelf->asked).steps;
}

/* Whether requests find items, whatever the limiter says: of a queue of sequences that are cut
 * those that wait are for steps, and else the largest one counts. */
static bool holds_enough(const aq_replay_shelf *shelf, uint32_t rows_max)
{
    return aq_table_spec_is_cut(aq_replay_table_spec(shelf->table))
               ? wanting(shelf) == 0
               : aq_replay_table_draws(shelf->table, rows_max) >= rows_max;
}

static bool must_wait(const aq_replay_shelf *shelf, uint32_t rows_max)
{
    if (shelf->is_paced) {
        return wanting(shelf) > 0;
    }
    return !aq_replay_limiter_may_sample(&shelf->limiter, rows_max) ||
           !holds_enough(shelf, rows_max);
}

/* Where there is nothing to draw, the limiter's proportion cannot be kept: items left by other ways
 * than by being drawn in their time (a restart that could not read them, times_sampled_max). Then
 * the learner waits for items, and so the actors must not wait for the learner. */
static uint64_t headroom_of(const aq_replay_shelf *shelf, uint32_t rows_max)
{
    uint64_t headroom = aq_replay_limiter_headroom(&shelf->limiter);
    uint64_t width = aq_replay_limiter_width(&shelf->limiter);
    if (shelf->is_paced) {
        const uint64_t missing = wanting(shelf);
        return missing < headroom ? missing : headroom;
    }
    return headroom < width && !holds_enough(shelf, rows_max) ? width : headroom;
}

aq_credit_supply aq_replay_tables_supply(const aq_replay_tables *tables)
{
    aq_credit_supply supply = {.headroom = UINT64_MAX, .width = UINT64_MAX};
    for (size_t i = 0; i < tables->count; i++) {
        const aq_replay_shelf *shelf = &tables->shelves[i];
        uint64_t headroom = headroom_of(shelf, tables->rows_max);
        uint64_t width = aq_replay_limiter_width(&shelf->limiter);
        supply.headroom = headroom < supply.headroom ? headroom : supply.headroom;
        supply.width = width < supply.width ? width : supply.width;
        supply.learner_waits = supply.learner_waits || must_wait(shelf, tables->rows_max);
        supply.is_paced = supply.is_paced || shelf->is_paced;
    }
    supply.learner_waits = supply.learner_waits && supply.headroom >= supply.width;
    return supply;
}

enum aq_replay_wait aq_replay_tables_waiting(const aq_replay_tables *tables, uint64_t least_steps,
                                             size_t *ret_index)
{
    for (size_t i = 0; i < tables->count; i++) {
        const aq_replay_shelf *shelf = &tables->shelves[i];
        /* Of several tables, nobody may ever ask for anything of this one. */
        if (must_wait(shelf, tables->rows_max) && (tables->count == 1 || shelf->awaited)) {
            *ret_index = i;
            return AQ_REPLAY_WAIT_LEARNER;
        }
        if (headroom_of(shelf, tables->rows_max) < least_steps) {
            *ret_index = i;
            return AQ_REPLAY_WAIT_ACTORS;
        }
    }
    *ret_index = 0;
    return AQ_REPLAY_WAIT_NOBODY;
}

static void tell_learner_waits(const aq_replay_shelf *shelf, uint32_t rows_max, char *text,
                               size_t size)
{
    const aq_replay_limiter *limiter = &shelf->limiter;
    const bool is_cut = aq_table_spec_is_cut(aq_replay_table_spec(shelf->table));
    if (shelf->is_paced || (is_cut && aq_replay_limiter_may_sample(limiter, rows_max))) {
        (void)snprintf(text, size, "learner waits: %" PRIu64 " of %" PRIu64 " steps are missing",
                       wanting(shelf), shelf->asked);
    } else if (limiter->inserted < limiter->min_size) {
        const uint64_t min_size = aq_replay_table_spec(shelf->table)->min_size;
        const uint64_t gone = limiter->min_size - min_size; /* see aq_replay_limiter_begin_anew */
        (void)snprintf(text, size, "learner waits: %" PRIu64 " of %" PRIu64 " steps",
                       limiter->inserted - gone, min_size);
    } else if (!aq_replay_limiter_may_sample(limiter, rows_max)) {
        double request = rows_max / limiter->samples_per_insert;
        double lead = aq_replay_limiter_lead(limiter);
        (void)snprintf(text, size, "learner waits: %.0f steps are missing for its next request",
                       fmax(1.0, ceil(request - limiter->tolerance - lead)));
    } else {
        (void)snprintf(text, size,
                       "learner waits: %" PRIu64 " items are there and it asks for %" PRIu32,
                       aq_replay_table_holdings(shelf->table).items, rows_max);
    }
}

const char *aq_replay_tables_words(aq_replay_tables *tables, enum aq_replay_wait wait, size_t index)
{
    const aq_replay_shelf *shelf = &tables->shelves[index];
    const aq_table_spec *spec = aq_replay_table_spec(shelf->table);
    char text[192];
    if (wait == AQ_REPLAY_WAIT_LEARNER) {
        tell_learner_waits(shelf, tables->rows_max, text, sizeof(text));
    } else if (wait == AQ_REPLAY_WAIT_NOBODY) {
        text[0] = '\0';
    } else if (shelf->is_paced) {
        (void)snprintf(text, sizeof(text), "actors wait: nothing is asked of them");
    } else if (spec->selector == AQ_SELECTOR_QUEUE) {
        (void)snprintf(text, sizeof(text), "actors wait: %" PRIu64 " items were not taken yet",
                       aq_replay_table_holdings(shelf->table).items);
    } else {
        (void)snprintf(text, sizeof(text), "actors wait: they are %.0f steps ahead of the learner",
                       aq_replay_limiter_lead(&shelf->limiter));
    }
    bool named = tables->count > 1 && text[0] != '\0';
    (void)snprintf(tables->waiting, sizeof(tables->waiting), "%s%s%s", named ? spec->name : "",
                   named ? ": " : "", text);
    return tables->waiting;
}
