/*
 * Draw audit: see draw_audit.h. To make an engine of a version takes as long as many rows, so that
 * rows are audited some at a time, all of one version.
 */
#include "learner/train/draw_audit.h"

#include <pthread.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "common/experience/column_catalog.h"
#include "common/sys/cpu.h"
#include "learner/algorithms/batch_steps.h"
#include "quantizer/engine/engine.h"

enum { VERSIONS_KEPT = 16, ROWS_AT_ONCE = 32 };

struct aq_draw_audit {
    double share;
    double due; /* rows */
    uint32_t obs_dtype, inputs, elements;
    uint32_t log_prob, drawn; /* columns of the batch; drawn is 0 for choices */
    uint64_t turn;            /* which rows of a group */
    float *obs;               /* (ROWS_AT_ONCE, inputs) */
    uint32_t state;           /* column of what the policy keeps; 0: it keeps nothing ... */
    uint32_t state_bytes;     /* ... or so many bytes a row ... */
    float *states;            /* ... of ROWS_AT_ONCE */
    aq_engine *engine;        /* of the version audited last; NULL: none */
    pthread_mutex_t lock;     /* of what follows */
    aq_snapshot *kept[VERSIONS_KEPT];
    uint64_t published;
};

/* Its place in a batch; 0: the layout has none. */
static uint32_t batch_column(const aq_layout *layout, const char *name)
{
    for (uint32_t i = AQ_COLUMNS_STANDARD; i < layout->column_count; i++) {
        if (strcmp(layout->columns[i].name, name) == 0) {
            return AQ_BATCH_RECORDED + 2 * (i - AQ_COLUMNS_STANDARD);
        }
    }
    return 0;
}

static uint32_t column_bytes(const aq_layout *layout, const char *name)
{
    const uint32_t at = batch_column(layout, name);
    return at == 0 ? 0 : layout->columns[AQ_COLUMNS_STANDARD + (at - AQ_BATCH_RECORDED) / 2].bytes;
}

int aq_draw_audit_create(double share, const aq_schema *schema, const aq_layout *layout,
                         aq_draw_audit **ret_audit)
{
    const uint32_t log_prob = batch_column(layout, "log_prob");
    if (!(share > 0.0) || log_prob == 0) {
        *ret_audit = NULL;
        return 0;
    }
    aq_draw_audit *audit = aq_alloc(1, sizeof(*audit));
    if (audit == NULL) {
        return AQ_E_NOMEM;
    }
    *audit = (aq_draw_audit){
        .share = share,
        .obs_dtype = schema->obs.dtype,
        .inputs = (uint32_t)aq_space_elements(&schema->obs),
        .elements = (uint32_t)aq_space_elements(&schema->action),
        .log_prob = log_prob,
        .drawn = batch_column(layout, "drawn"),
        .state = batch_column(layout, AQ_STATE_COLUMN),
        .state_bytes = column_bytes(layout, AQ_STATE_COLUMN),
    };
    pthread_mutex_init(&audit->lock, NULL);
    audit->obs = aq_alloc(ROWS_AT_ONCE, audit->inputs * sizeof(float));
    if (audit->state != 0) {
        audit->states = aq_alloc(ROWS_AT_ONCE, audit->state_bytes);
    }
    if (audit->obs == NULL || (audit->state != 0 && audit->states == NULL)) {
        aq_draw_audit_destroy(audit);
        return AQ_E_NOMEM;
    }
    *ret_audit = audit;
    return 0;
}

void aq_draw_audit_destroy(aq_draw_audit *audit)
{
    if (audit == NULL) {
        return;
    }
    for (size_t i = 0; i < VERSIONS_KEPT; i++) {
        aq_snapshot_unref(audit->kept[i]);
    }
    pthread_mutex_destroy(&audit->lock);
    aq_engine_destroy(audit->engine);
    aq_free(audit->obs);
    aq_free(audit->states);
    aq_free(audit);
}

void aq_draw_audit_published(aq_draw_audit *audit, aq_snapshot *snapshot)
{
    if (audit == NULL) {
        return;
    }
    aq_mutex_lock(&audit->lock);
    aq_snapshot **place = &audit->kept[audit->published++ % VERSIONS_KEPT];
    aq_snapshot_unref(*place);
    *place = aq_snapshot_ref(snapshot);
    aq_mutex_unlock(&audit->lock);
}

/* A reference; NULL when it is not kept. */
static aq_snapshot *find_version(aq_draw_audit *audit, uint32_t version)
{
    aq_snapshot *found = NULL;
    aq_mutex_lock(&audit->lock);
    for (size_t i = 0; found == NULL && i < VERSIONS_KEPT; i++) {
        if (audit->kept[i] != NULL && audit->kept[i]->version == version) {
            found = aq_snapshot_ref(audit->kept[i]);
        }
    }
    aq_mutex_unlock(&audit->lock);
    return found;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Places of the batch at which something was drawn by one version. */
typedef struct chosen {
    uint32_t version;
    uint32_t count;
    size_t places[ROWS_AT_ONCE];
} chosen;

/* Whether there is a step, and a version chose its action. */
static bool is_drawn(const aq_batch *group, size_t place)
{
    return group->version[place] != 0 &&
           (group->length == NULL || place % group->steps < group->length[place / group->steps]);
}

static size_t count_drawn(const aq_batch *group)
{
    size_t count = 0;
    for (size_t place = 0; place < (size_t)group->rows * group->steps; place++) {
        count += is_drawn(group, place);
    }
    return count;
}

/* Goes through the group from a place that moves on from group to group. */
static chosen choose(aq_draw_audit *audit, const aq_batch *group)
{
    const size_t places = (size_t)group->rows * group->steps;
    const size_t stride = places / ROWS_AT_ONCE | 1;
    size_t place = (size_t)(audit->turn++ * UINT64_C(0x9e3779b97f4a7c15) >> 32) % places;
    chosen made = {0};
    for (size_t seen = 0; seen < places && made.count < ROWS_AT_ONCE; seen += stride) {
        const uint32_t version = group->version[place];
        if (is_drawn(group, place) && (made.count == 0 || version == made.version)) {
            made.version = version;
            made.places[made.count++] = place;
        }
        place = (place + stride) % places;
    }
    return made;
}

/* The boundary that a step begins at. */
static size_t boundary_of(const aq_batch *group, size_t place)
{
    return group->length == NULL ? place : place + place / group->steps;
}

static void load_state(aq_draw_audit *audit, const aq_batch *group, const chosen *rows)
{
    const uint8_t *from = group->columns[audit->state].bytes;
    uint8_t *to = (uint8_t *)audit->states;
    for (uint32_t i = 0; i < rows->count; i++) {
        memcpy(to + (size_t)i * audit->state_bytes,
               from + boundary_of(group, rows->places[i]) * audit->state_bytes, audit->state_bytes);
    }
}

/* As actors see them. */
static void load(aq_draw_audit *audit, const aq_batch *group, const chosen *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        aq_batch_observe(group, audit->obs_dtype, (uint32_t)boundary_of(group, rows->places[i]),
                         audit->inputs, audit->obs + (size_t)i * audit->inputs);
    }
}

static void compare(aq_draw_audit *audit, aq_engine *engine, const aq_batch *group,
                    const chosen *rows, aq_audit_counts *counts)
{
    const aq_head_terms terms = aq_snapshot_terms(aq_engine_snapshot(engine));
    const float *said = (const float *)(const void *)group->columns[audit->log_prob].bytes;
    const float *drawn =
        audit->drawn != 0 ? (const float *)(const void *)group->columns[audit->drawn].bytes : NULL;
    load(audit, group, rows);
    if (audit->state != 0) {
        load_state(audit, group, rows);
    }
    const float *outputs = aq_engine_step(engine, audit->obs, audit->states, rows->count);
    for (uint32_t i = 0; i < rows->count; i++) {
        const size_t place = rows->places[i];
        const aq_head_draw draw = {
            .action = group->action + place * group->action_bytes,
            .drawn = drawn != NULL ? drawn + place * audit->elements : NULL,
        };
        const float found =
            terms.head->drawing->log_prob(&terms, outputs + (size_t)i * terms.width, &draw);
        counts->audited++;
        counts->different += memcmp(&found, &said[place], sizeof(found)) != 0;
    }
}

/* The engine of a version, kept for the next rows; NULL when the version is not. */
static aq_engine *engine_of(aq_draw_audit *audit, uint32_t version)
{
    if (audit->engine != NULL && aq_engine_snapshot(audit->engine)->version == version) {
        return audit->engine;
    }
    aq_snapshot *snapshot = find_version(audit, version);
    aq_engine_destroy(audit->engine);
    audit->engine = NULL;
    if (snapshot != NULL) {
        int rc = aq_engine_create(snapshot, ROWS_AT_ONCE, aq_cpu_flags(), &audit->engine, NULL);
        (void)rc; /* memory was short: these rows are not audited */
        aq_snapshot_unref(snapshot);
    }
    return audit->engine;
}

void aq_draw_audit_look(aq_draw_audit *audit, const aq_batch *group, aq_audit_counts *counts)
{
    if (audit == NULL) {
        return;
    }
    audit->due += audit->share * (double)count_drawn(group);
    while (audit->due >= ROWS_AT_ONCE) {
        const chosen rows = choose(audit, group);
        if (rows.count == 0) {
            break; /* those of the next group */
        }
        aq_engine *engine = engine_of(audit, rows.version);
        audit->due -= rows.count;
        if (engine != NULL) {
            compare(audit, engine, group, &rows, counts);
        }
    }
}
