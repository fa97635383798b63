/*
 * Writing the file: what it says about itself, the pieces of code that its layers need, the layers'
 * constants, and the two functions. What it says comes first and counts the constants, so it is
 * written last, in front of the others.
 */
#include "quantizer/export/export_c.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/policy/net_graph.h"
#include "quantizer/export/export_head.h"
#include "quantizer/export/export_header.h"
#include "quantizer/export/export_layer.h"

/* Where the layers' outputs go: buffers of floats, and `out` for the last. */
typedef struct export_plan {
    const aq_snapshot *snapshot;
    uint32_t pieces; /* a set */
    uint32_t state;  /* floats that are kept from step to step; while it is made, so far */
    char states[AQ_NET_LAYERS_MAX][24]; /* where layers have theirs */
    aq_net_buffers buffers;
    size_t widths[AQ_NET_VALUES_MAX];  /* of each buffer */
    char names[AQ_NET_VALUES_MAX][16]; /* of each value's array */
    aq_export_layer layers[AQ_NET_LAYERS_MAX];
    size_t levels;  /* of the widest quantized input */
    size_t patch;   /* the widest; 0: none */
    uint32_t input; /* the width of a copy of the observation whose numbers are finite; 0: none */
    aq_export_figures figures;
} export_plan;

/* ---- the plan ------------------------------------------------------------------------------- */

static const char *buffer_name(uint32_t buffer, char name[16])
{
    static const char *const first[] = {"even", "odd"}; /* layers of a chain write them in turn */
    if (buffer < 2) {
        return first[buffer];
    }
    (void)snprintf(name, 16, "more%u", buffer);
    return name;
}

static void plan_layer(export_plan *plan, uint32_t index)
{
    const aq_net_spec *spec = &plan->snapshot->spec;
    const aq_layer_sources sources = aq_net_sources(spec, index);
    const bool is_last = index + 1 == spec->layer_count;
    const uint32_t buffer = plan->buffers.of[1 + index];
    const uint32_t state = aq_layer_state(&spec->layers[index]);
    uint32_t taken = 0;
    aq_export_layer *layer = &plan->layers[index];
    *layer = (aq_export_layer){
        .spec = &spec->layers[index],
        .stored = &plan->snapshot->layers[index],
        .kind = aq_export_kind_of(&spec->layers[index], plan->snapshot->layers[index].format),
        .index = index,
        .width = aq_net_matrix_width(spec, index),
        .y = is_last ? "out" : buffer_name(buffer, plan->names[1 + index]),
    };
    if (state > 0) {
        (void)snprintf(plan->states[index], sizeof(plan->states[index]), "state + %u", plan->state);
        layer->x[taken++] = plan->states[index];
        plan->state += state;
    }
    for (uint32_t k = 0; k < sources.count; k++) {
        const uint32_t value = sources.values[k];
        layer->x[taken++] = value > 0         ? plan->layers[value - 1].y
                            : plan->input > 0 ? "input"
                                              : "obs";
    }
    if (!is_last && layer->spec->outputs > plan->widths[buffer]) {
        plan->widths[buffer] = layer->spec->outputs;
    }
    if (aq_export_layer_is_quantized(layer) && layer->width > plan->levels) {
        plan->levels = layer->width;
    }
    const uint32_t columns = aq_layer_matrix(layer->spec).columns;
    if (layer->kind->has_patches && columns > plan->patch) {
        plan->patch = columns;
    }
    plan->pieces |= aq_export_layer_pieces(layer);
}

static void make_plan(const aq_snapshot *snapshot, export_plan *ret_plan)
{
    memset(ret_plan, 0, sizeof(*ret_plan));
    ret_plan->snapshot = snapshot;
    ret_plan->buffers = aq_net_inner_buffers(&snapshot->spec);
    if (aq_snapshot_meets_floats(snapshot)) {
        ret_plan->input = aq_net_spec_inputs(&snapshot->spec);
        ret_plan->pieces = AQ_PIECE(FINITE_ROW);
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        plan_layer(ret_plan, i);
    }
    ret_plan->pieces = aq_export_pieces_close(ret_plan->pieces | aq_export_head_pieces(snapshot));
    size_t floats = ret_plan->input;
    floats += aq_export_head_code(snapshot)->is_in_place ? 0 : aq_net_spec_outputs(&snapshot->spec);
    for (uint32_t i = 0; i < ret_plan->buffers.count; i++) {
        floats += ret_plan->widths[i];
    }
    ret_plan->figures.stack_bytes =
        floats * sizeof(float) + (ret_plan->levels + ret_plan->patch) * sizeof(int16_t);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static int check_prefix(const char *prefix, aq_error *error)
{
    const size_t length = strlen(prefix);
    bool fits = length >= 1 && length <= AQ_EXPORT_PREFIX_MAX && isalpha((unsigned char)prefix[0]);
    for (size_t i = 0; fits && i < length; i++) {
        fits = isalnum((unsigned char)prefix[i]) || prefix[i] == '_';
    }
    if (!fits) {
        return aq_fail(
            error, AQ_E_INVALID,
            "export: '%.40s' can't begin the names of functions; it takes a letter, then "
            "letters, digits and underscores, %d at most",
            prefix, AQ_EXPORT_PREFIX_MAX);
    }
    return 0;
}

static int check_formats(const aq_snapshot *snapshot, aq_error *error)
{
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const aq_layer_spec *layer = &snapshot->spec.layers[i];
        const uint32_t format = snapshot->layers[i].format;
        if (aq_export_kind_of(layer, format) == NULL) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "export: the weights of layer %u, %s, are %s, and a C file holds "
                           "floats of linear layers only; make an int8 policy of an fp32 one or of "
                           "a run folder with 'actorq quantize IN OUT.aq --format int8'",
                           i, aq_layer_kind_name(layer->kind), aq_format_name(format));
        }
    }
    return 0;
}

/* ---- what the file says of itself ----------------------------------------------------------- */

static void put_preface(aq_export_text *text, const export_plan *plan)
{
    const aq_snapshot *snapshot = plan->snapshot;
    aq_export_put_title(text, snapshot);
    aq_export_print(
        text,
        " *\n"
        " * C99, or C++17; needs nothing but memcpy and memset. Constants take %zu bytes where\n"
        " * pointers have 32 bits, arrays of values on the stack %zu. There is no state%s:\n"
        " * any thread, any number of calls at once.\n",
        plan->figures.weights_bytes, plan->figures.stack_bytes,
        plan->state > 0 ? " but the caller's" : "");
    aq_export_put(
        text,
        " *\n"
        " * It gives the same bits as ActorQ's actors, on any processor whose floats are\n"
        " * IEEE 754, as long as every operation is rounded to float. So don't compile it\n"
        " * with -ffast-math, -Ofast, -funsafe-math-optimizations, -ffinite-math-only, clang's\n"
        " * -ffp-contract=fast or x87 arithmetic (-mfpmath=387), and leave the processor's\n"
        " * rounding to nearest and its denormals on.\n"
        " */\n");
}

/* ---- the two functions ---------------------------------------------------------------------- */

static void put_forward(aq_export_text *text, const export_plan *plan)
{
    char name[16];
    aq_export_put(text, "\nvoid @_forward(const float *obs, float *out)\n{\n");
    for (uint32_t i = 0; i < plan->buffers.count; i++) {
        aq_export_print(text, "    float %s[%zu];\n", buffer_name(i, name), plan->widths[i]);
    }
    if (plan->levels > 0) {
        aq_export_print(text, "    int16_t levels[%zu];\n    float scale;\n", plan->levels);
    }
    if (plan->patch > 0) {
        aq_export_print(text, "    int16_t patch[%zu];\n", plan->patch);
    }
    if (plan->input > 0) {
        aq_export_print(text, "    float input[%u];\n\n    @_finite_row(obs, %u, input);\n",
                        plan->input, plan->input);
    }
    for (uint32_t i = 0; i < plan->snapshot->spec.layer_count; i++) {
        aq_export_put(text, "\n");
        aq_export_layer_put_call(&plan->layers[i], text);
    }
    aq_export_put(text, "}\n");
}

/* What layers compute with, behind the piece that it follows, once of each kind. */
static void put_kinds(aq_export_text *text, const export_plan *plan, enum aq_export_piece after)
{
    for (uint32_t i = 0; i < plan->snapshot->spec.layer_count; i++) {
        const aq_export_kind *kind = plan->layers[i].kind;
        bool is_new = kind->after == after;
        for (uint32_t k = 0; k < i && is_new; k++) {
            is_new = plan->layers[k].kind != kind;
        }
        if (is_new) {
            aq_export_put(text, kind->text);
        }
    }
}

static void put_code(aq_export_text *text, const export_plan *plan)
{
    const aq_snapshot *snapshot = plan->snapshot;
    aq_export_put(text, aq_export_piece_text(AQ_PIECE_COMPILER));
    aq_export_put_prototypes(text, snapshot);
    for (uint32_t i = AQ_PIECE_COMPILER + 1; i < AQ_PIECE_COUNT; i++) {
        if ((plan->pieces >> i & 1) != 0) {
            aq_export_put(text, aq_export_piece_text((enum aq_export_piece)i));
        }
        put_kinds(text, plan, (enum aq_export_piece)i);
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        aq_export_layer_put_constants(&plan->layers[i], text);
    }
    put_forward(text, plan);
    aq_export_head_put(text, snapshot);
}

static int put_file(aq_export_text *text, export_plan *plan)
{
    aq_buffer *out = text->out;
    aq_buffer code;
    aq_buffer_init(&code, AQ_EXPORT_BYTES_MAX);
    text->out = &code;
    put_code(text, plan);
    plan->figures.weights_bytes = text->constants_bytes;
    text->out = out;
    put_preface(text, plan);
    int rc = text->rc != 0 ? text->rc : aq_buffer_append(out, code.data, code.size);
    aq_buffer_fini(&code);
    return rc;
}

/* What there is to write of; it lends from the snapshot. */
static int look(const aq_snapshot *snapshot, const char *prefix, aq_snapshot *ret_mean,
                aq_error *error)
{
    int rc = check_prefix(prefix, error);
    if (rc == 0) {
        rc = aq_snapshot_validate(snapshot, error);
    }
    if (rc != 0) {
        return rc;
    }
    *ret_mean = aq_snapshot_mean(snapshot);
    rc = check_formats(ret_mean, error);
    return rc != 0 ? rc : aq_export_head_check(ret_mean, error);
}

/* Of a text that was begun at `before`. */
static int end(int rc, aq_buffer *out, size_t before, aq_error *error)
{
    if (rc != 0) {
        out->size = before;
        return aq_fail(error, rc, "export: %s", aq_error_text(rc));
    }
    return 0;
}

static aq_export_text text_of(const aq_snapshot *snapshot, const char *prefix, aq_buffer *out)
{
    return (aq_export_text){
        .out = out, .prefix = prefix, .has_state = aq_net_spec_state(&snapshot->spec) > 0};
}

int aq_export_c(const aq_snapshot *snapshot, const char *prefix, aq_buffer *out,
                aq_export_figures *ret_figures, aq_error *error)
{
    export_plan plan;
    aq_snapshot mean;
    int rc = look(snapshot, prefix, &mean, error);
    if (rc != 0) {
        return rc;
    }
    const size_t before = out->size;
    aq_export_text text = text_of(&mean, prefix, out);
    make_plan(&mean, &plan);
    rc = end(put_file(&text, &plan), out, before, error);
    if (rc == 0) {
        *ret_figures = plan.figures;
    }
    return rc;
}

int aq_export_c_header(const aq_snapshot *snapshot, const char *prefix, aq_buffer *out,
                       aq_error *error)
{
    aq_snapshot mean;
    int rc = look(snapshot, prefix, &mean, error);
    if (rc != 0) {
        return rc;
    }
    const size_t before = out->size;
    aq_export_text text = text_of(&mean, prefix, out);
    aq_export_put_header(&text, &mean);
    return end(text.rc, out, before, error);
}
