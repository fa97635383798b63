/*
 * The head's texts in their order, and above them what they name: functions of exact_math.h, the
 * bounds of an action, and the network's arrays.
 */
#include "quantizer/export/export_head.h"

#include <stdio.h>

#include "quantizer/export/export_exact.h"
#include "quantizer/export/export_runtime.h"

const aq_head_code *aq_export_head_code(const aq_snapshot *snapshot)
{
    const aq_head *head = aq_head_of(snapshot->head);
    return aq_space_is_several(&snapshot->schema.action) ? head->code_of_row : head->code;
}

static bool is_named(const aq_snapshot *snapshot, const char *name)
{
    return aq_export_texts_name(aq_export_head_code(snapshot)->texts, AQ_HEAD_TEXTS_MAX, name);
}

static bool has_array(const aq_snapshot *snapshot, uint32_t index)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "@_array%u", index);
    return is_named(snapshot, name);
}

int aq_export_head_check(const aq_snapshot *snapshot, aq_error *error)
{
    return is_named(snapshot, "@_bounds") ? aq_head_check_range(&snapshot->schema.action, error)
                                          : 0;
}

uint32_t aq_export_head_pieces(const aq_snapshot *snapshot)
{
    return aq_head_of(snapshot->head)->drawing != NULL ? AQ_PIECE(DOUBLE) : 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

static void put(aq_export_text *to, const aq_snapshot *snapshot, const char *piece)
{
    const aq_head_terms terms = aq_snapshot_terms(snapshot);
    const aq_head_drawing *drawing = terms.head->drawing;
    const aq_export_number numbers[] = {
        {"outputs", terms.width},
        {"last_output", terms.width - 1},
        {"elements", aq_space_elements(terms.action)},
        {"noise", drawing != NULL ? drawing->noise_count(&terms) : 0},
        {NULL, 0},
    };
    if (piece != NULL) {
        aq_export_fill(to, piece, numbers);
    }
}

static void put_bounds(aq_export_text *to, const aq_space *action)
{
    const size_t elements = aq_space_elements(action);
    to->constants_bytes += elements * 3 * sizeof(float);
    aq_export_print(to, "\nstatic const float @_bounds[%zu][3] = { /* low, high, high - low */\n",
                    elements);
    for (size_t i = 0; i < elements; i++) {
        const size_t bound = aq_space_bound(action, i);
        char low[32], high[32], range[32];
        aq_export_float_text(action->low[bound], low);
        aq_export_float_text(action->high[bound], high);
        aq_export_float_text(action->high[bound] - action->low[bound], range);
        aq_export_print(to, "    {%s, %s, %s},\n", low, high, range);
    }
    aq_export_put(to, "};\n");
}

static void put_arrays(aq_export_text *to, const aq_snapshot *snapshot)
{
    const float *values = snapshot->arrays;
    for (uint32_t i = 0; i < snapshot->spec.array_count; i++) {
        if (has_array(snapshot, i)) {
            aq_export_floats(to, "array", i, values, snapshot->spec.arrays[i].count);
        }
        values += snapshot->spec.arrays[i].count;
    }
}

void aq_export_head_put_prototypes(aq_export_text *to, const aq_snapshot *snapshot)
{
    const aq_head_code *code = aq_export_head_code(snapshot);
    put(to, snapshot, code->prototypes[0]);
    put(to, snapshot, code->prototypes[1]);
}

void aq_export_head_put(aq_export_text *to, const aq_snapshot *snapshot)
{
    const char *const *texts = aq_export_head_code(snapshot)->texts;
    aq_export_put_exact(to, texts, AQ_HEAD_TEXTS_MAX);
    if (is_named(snapshot, "@_bounds")) {
        put_bounds(to, &snapshot->schema.action);
    }
    put_arrays(to, snapshot);
    for (size_t i = 0; i < AQ_HEAD_TEXTS_MAX; i++) {
        put(to, snapshot, texts[i]);
    }
}
