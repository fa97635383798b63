/*
 * Writing the file: what it says about itself, the pieces of code that its layers need, the layers'
 * constants, and the two functions.
 */
#include "quantizer/export/export_c.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/nn/forward.h"
#include "quantizer/export/export_runtime.h"
#include "quantizer/export/export_text.h"

#define PIECE(name) (UINT32_C(1) << AQ_PIECE_##name)

/* Where the layers' outputs go in turn: layer i writes buffer i % 2, the last one `out`. */
typedef struct export_plan {
    const aq_snapshot *snapshot;
    uint32_t pieces;
    size_t widths[2];
    size_t levels; /* of the widest quantized input */
    aq_export_figures figures;
} export_plan;

static bool has_matrix(const aq_layer_spec *layer)
{
    return aq_layer_is_quantizable(layer);
}

/* ---- the plan ------------------------------------------------------------------------------- */

static uint32_t pieces_of(const aq_layer_spec *layer, const aq_snapshot_layer *stored)
{
    static const uint32_t kinds[] = {
        [AQ_LAYER_LINEAR] = PIECE(LINEAR),
        [AQ_LAYER_CONV2D] = PIECE(CONV2D),
        [AQ_LAYER_NORM] = PIECE(NORM),
        [AQ_LAYER_DUELING] = PIECE(DUELING),
        [AQ_LAYER_CATEGORICAL] = PIECE(CATEGORICAL),
    };
    static const uint32_t activations[] = {
        [AQ_ACTIVATION_NONE] = 0,
        [AQ_ACTIVATION_RELU] = PIECE(RELU),
        [AQ_ACTIVATION_TANH] = PIECE(TANH),
        [AQ_ACTIVATION_ELU] = PIECE(ELU),
    };
    AQ_ASSERT(layer->kind < sizeof(kinds) / sizeof(kinds[0]));
    uint32_t pieces = kinds[layer->kind];
    if (has_matrix(layer)) {
        pieces |= stored->input_scale > 0.0f ? PIECE(LEVELS_FIXED) : PIECE(LEVELS);
    }
    if (!(has_matrix(layer) && layer->activation == AQ_ACTIVATION_RELU)) {
        pieces |= activations[layer->activation];
    }
    return pieces;
}

static void plan_layer(export_plan *plan, uint32_t index)
{
    const aq_layer_spec *layer = &plan->snapshot->spec.layers[index];
    const aq_snapshot_layer *stored = &plan->snapshot->layers[index];
    size_t *width = &plan->widths[index % 2];
    plan->pieces |= pieces_of(layer, stored);
    if (index + 1 < plan->snapshot->spec.layer_count && layer->outputs > *width) {
        *width = layer->outputs;
    }
    if (has_matrix(layer) && layer->inputs > plan->levels) {
        plan->levels = layer->inputs;
    }
    plan->figures.weights_bytes +=
        stored->weights_bytes + stored->sizes.scales * sizeof(float) +
        aq_layer_matrix(layer).rows * sizeof(float) +
        (layer->kind == AQ_LAYER_CATEGORICAL ? layer->head.atoms * sizeof(float) : 0);
}

static void make_plan(const aq_snapshot *snapshot, export_plan *ret_plan)
{
    *ret_plan = (export_plan){.snapshot = snapshot};
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        plan_layer(ret_plan, i);
    }
    ret_plan->pieces |= snapshot->act_rule == AQ_ACT_CONTINUOUS ? PIECE(SCALE) : 0;
    ret_plan->pieces = aq_export_pieces_close(ret_plan->pieces);
    ret_plan->figures.stack_bytes =
        (ret_plan->widths[0] + ret_plan->widths[1]) * sizeof(float) +
        ret_plan->levels * sizeof(int16_t) +
        (snapshot->act_rule == AQ_ACT_ARGMAX ? aq_net_spec_outputs(&snapshot->spec) * sizeof(float)
                                             : 0);
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
        const uint32_t format = snapshot->layers[i].format;
        if (has_matrix(&snapshot->spec.layers[i]) && format != AQ_FORMAT_INT8_CHANNEL &&
            format != AQ_FORMAT_INT8_TENSOR) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "export: the weights of layer %u are %s, and a C file holds int8; make "
                           "an int8 policy with 'actorq quantize IN.aq OUT.aq --format int8', or "
                           "export a run that broadcasts int8",
                           i, aq_format_name(format));
        }
    }
    return 0;
}

static size_t bound_index(const aq_space *action, uint32_t element)
{
    return action->bound_count == 1 ? 0 : element;
}

static int check_bounds(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_space *action = &snapshot->schema.action;
    if (snapshot->act_rule != AQ_ACT_CONTINUOUS) {
        return 0;
    }
    for (uint32_t i = 0; i < action->bound_count; i++) {
        if (!isfinite(action->high[i] - action->low[i])) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "export: an action from %g to %g has no range to scale outputs to",
                           (double)action->low[i], (double)action->high[i]);
        }
    }
    return 0;
}

/* ---- the head of the file ------------------------------------------------------------------- */

/* The task's name comes from elsewhere: nothing in it may end the comment or begin another. */
static void put_task(aq_export_text *text, const char *task)
{
    char plain[AQ_TASK_NAME_MAX];
    size_t i = 0;
    for (; task[i] != '\0'; i++) {
        plain[i] = task[i];
        if (!isalnum((unsigned char)task[i]) && strchr(" .,:;-_+=()[]", task[i]) == NULL) {
            plain[i] = '_';
        }
    }
    plain[i] = '\0';
    aq_export_put(text, plain);
}

static void put_head(aq_export_text *text, const export_plan *plan)
{
    const aq_snapshot *snapshot = plan->snapshot;
    char net[256];
    aq_export_put(text, "/*\n * A policy for ");
    put_task(text, snapshot->task);
    aq_export_print(
        text,
        ", version %llu: %s.\n * Made by actorq " AQ_VERSION " export.\n *\n"
        " * C99; needs nothing but memcpy and memset. Constants take %zu bytes, arrays\n"
        " * on the stack %zu. There is no state: any thread, any number of calls at "
        "once.\n",
        (unsigned long long)snapshot->version, aq_net_spec_text(&snapshot->spec, net, sizeof(net)),
        plan->figures.weights_bytes, plan->figures.stack_bytes);
    aq_export_put(
        text, " *\n"
              " * It gives the same bits as ActorQ's actors, on any processor whose floats are\n"
              " * IEEE 754, as long as every operation is rounded to float. So don't compile it\n"
              " * with -ffast-math, -Ofast, -funsafe-math-optimizations, clang's\n"
              " * -ffp-contract=fast or x87 arithmetic (-mfpmath=387), and leave the processor's\n"
              " * rounding to nearest and its denormals on.\n"
              " */\n");
}

static void put_prototypes(aq_export_text *text, const aq_snapshot *snapshot)
{
    const uint32_t inputs = aq_net_spec_inputs(&snapshot->spec);
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    aq_export_print(text,
                    "\n/* out[%u]: what the network makes of obs[%u]%s. They don't overlap. */\n"
                    "void @_forward(const float *obs, float *out);\n",
                    outputs, inputs,
                    snapshot->schema.obs.dtype == AQ_DTYPE_U8 ? ", bytes divided by 255" : "");
    if (snapshot->act_rule == AQ_ACT_ARGMAX) {
        aq_export_print(text,
                        "\n/* The choice, 0 to %u: the greatest output, the first of equals. NaN "
                        "never wins. */\nuint32_t @_act(const float *obs);\n",
                        outputs - 1);
    } else {
        aq_export_print(text,
                        "\n/* action[%u]: each output, -1 to 1, scaled to the bounds of its "
                        "element. */\nvoid @_act(const float *obs, float *action);\n",
                        outputs);
    }
}

/* ---- layers --------------------------------------------------------------------------------- */

static void put_conv_shape(aq_export_text *text, uint32_t index, const aq_conv_shape *conv)
{
    aq_export_print(
        text, "\nstatic const @_image @_image%u = {\n    %u, %u, %u, %u, %u, %u, %u, %u,\n};\n",
        index, conv->height, conv->width, conv->channels, conv->kernel, conv->stride, conv->padding,
        aq_conv_out_height(conv), aq_conv_out_width(conv));
}

static void put_matrix(aq_export_text *text, const aq_snapshot *snapshot, uint32_t index)
{
    const aq_layer_spec *layer = &snapshot->spec.layers[index];
    const aq_snapshot_layer *stored = &snapshot->layers[index];
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    aq_export_int8(text, "weights", index, stored->weights, stored->weights_bytes);
    aq_export_floats(text, "scale", index, stored->scale, stored->sizes.scales);
    aq_export_floats(text, "bias", index, stored->bias, matrix.rows);
    aq_export_print(
        text,
        "\nstatic const @_matrix @_layer%u = {\n    %u, %u, @_weights%u, %d, @_scale%u, "
        "%d, @_bias%u, %d,\n};\n",
        index, matrix.rows, matrix.columns, index, stored->weight_zero, index,
        stored->sizes.scales > 1, index, layer->activation == AQ_ACTIVATION_RELU);
}

static int put_atoms(aq_export_text *text, uint32_t index, const aq_head_shape *head)
{
    float *atoms = aq_alloc(head->atoms, sizeof(*atoms));
    if (atoms == NULL) {
        return AQ_E_NOMEM;
    }
    for (uint32_t k = 0; k < head->atoms; k++) {
        atoms[k] = aq_head_atom(head, k);
    }
    aq_export_floats(text, "atoms", index, atoms, head->atoms);
    aq_free(atoms);
    return 0;
}

static void put_constants(aq_export_text *text, const aq_snapshot *snapshot, uint32_t index)
{
    const aq_layer_spec *layer = &snapshot->spec.layers[index];
    const aq_snapshot_layer *stored = &snapshot->layers[index];
    if (has_matrix(layer)) {
        put_matrix(text, snapshot, index);
    }
    if (layer->kind == AQ_LAYER_CONV2D) {
        put_conv_shape(text, index, &layer->conv);
    }
    if (layer->kind == AQ_LAYER_NORM) {
        aq_export_floats(text, "gain", index, stored->weights, layer->inputs);
        aq_export_floats(text, "bias", index, stored->bias, layer->inputs);
    }
    if (layer->kind == AQ_LAYER_CATEGORICAL && text->rc == 0) {
        text->rc = put_atoms(text, index, &layer->head);
    }
}

/* The call of one layer, from x to y. */
static void put_call(aq_export_text *text, const aq_snapshot *snapshot, uint32_t index,
                     const char *x, const char *y)
{
    const aq_layer_spec *layer = &snapshot->spec.layers[index];
    const aq_snapshot_layer *stored = &snapshot->layers[index];
    char scale[32];
    if (has_matrix(layer) && stored->input_scale > 0.0f) {
        aq_export_float_text(stored->input_scale, scale);
        aq_export_print(text, "    scale = @_levels_fixed(%s, %u, %s, %d, levels);\n", x,
                        layer->inputs, scale, stored->input_zero);
    } else if (has_matrix(layer)) {
        aq_export_print(text, "    scale = @_levels(%s, %u, levels);\n", x, layer->inputs);
    }
    switch (layer->kind) {
    case AQ_LAYER_LINEAR:
        aq_export_print(text, "    @_linear(&@_layer%u, levels, scale, %s);\n", index, y);
        break;
    case AQ_LAYER_CONV2D:
        aq_export_print(text, "    @_conv2d(&@_layer%u, &@_image%u, levels, scale, %s);\n", index,
                        index, y);
        break;
    case AQ_LAYER_NORM:
        aq_export_print(text, "    @_norm(%s, %u, @_gain%u, @_bias%u, %s);\n", x, layer->inputs,
                        index, index, y);
        break;
    case AQ_LAYER_DUELING:
        aq_export_print(text, "    @_dueling(%s, %u, %u, %s);\n", x, layer->head.choices,
                        layer->head.atoms, y);
        break;
    default:
        AQ_ASSERT(layer->kind == AQ_LAYER_CATEGORICAL);
        aq_export_print(text, "    @_categorical(%s, %u, @_atoms%u, %u, %s);\n", x,
                        layer->head.choices, index, layer->head.atoms, y);
        break;
    }
    if (layer->activation != AQ_ACTIVATION_NONE &&
        !(has_matrix(layer) && layer->activation == AQ_ACTIVATION_RELU)) {
        aq_export_print(text, "    @_%s(%s, %u);\n", aq_activation_name(layer->activation), y,
                        layer->outputs);
    }
}

/* ---- the two functions ---------------------------------------------------------------------- */

static void put_forward(aq_export_text *text, const export_plan *plan)
{
    static const char *const buffers[] = {"even", "odd"};
    const aq_net_spec *spec = &plan->snapshot->spec;
    const char *x = "obs";
    aq_export_put(text, "\nvoid @_forward(const float *obs, float *out)\n{\n");
    for (int i = 0; i < 2; i++) {
        if (plan->widths[i] > 0) {
            aq_export_print(text, "    float %s[%zu];\n", buffers[i], plan->widths[i]);
        }
    }
    if (plan->levels > 0) {
        aq_export_print(text, "    int16_t levels[%zu];\n    float scale;\n", plan->levels);
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const char *y = i + 1 == spec->layer_count ? "out" : buffers[i % 2];
        aq_export_put(text, "\n");
        put_call(text, plan->snapshot, i, x, y);
        x = y;
    }
    aq_export_put(text, "}\n");
}

static void put_choice(aq_export_text *text, uint32_t outputs)
{
    aq_export_print(text,
                    "\nuint32_t @_act(const float *obs)\n{\n"
                    "    float values[%u];\n"
                    "    uint32_t best = 0;\n"
                    "    @_forward(obs, values);\n"
                    "    for (uint32_t i = 1; i < %u; i++) {\n"
                    "        if (values[i] > values[best] ||\n"
                    "            (values[best] != values[best] && values[i] == values[i])) {\n"
                    "            best = i;\n"
                    "        }\n"
                    "    }\n"
                    "    return best;\n}\n",
                    outputs, outputs);
}

static void put_scaling(aq_export_text *text, const aq_snapshot *snapshot)
{
    const aq_space *action = &snapshot->schema.action;
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    aq_export_print(text, "\nstatic const float @_bounds[%u][3] = { /* low, high, high - low */\n",
                    outputs);
    for (uint32_t i = 0; i < outputs; i++) {
        const size_t bound = bound_index(action, i);
        char low[32], high[32], range[32];
        aq_export_float_text(action->low[bound], low);
        aq_export_float_text(action->high[bound], high);
        aq_export_float_text(action->high[bound] - action->low[bound], range);
        aq_export_print(text, "    {%s, %s, %s},\n", low, high, range);
    }
    aq_export_print(text,
                    "};\n\nvoid @_act(const float *obs, float *action)\n{\n"
                    "    @_forward(obs, action);\n"
                    "    @_scale(@_bounds, %u, action);\n}\n",
                    outputs);
}

static void put_file(aq_export_text *text, const export_plan *plan)
{
    const aq_snapshot *snapshot = plan->snapshot;
    put_head(text, plan);
    aq_export_put(text, aq_export_piece_text(AQ_PIECE_COMPILER));
    put_prototypes(text, snapshot);
    for (uint32_t i = AQ_PIECE_COMPILER + 1; i < AQ_PIECE_COUNT; i++) {
        if ((plan->pieces >> i & 1) != 0) {
            aq_export_put(text, aq_export_piece_text((enum aq_export_piece)i));
        }
    }
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        put_constants(text, snapshot, i);
    }
    put_forward(text, plan);
    if (snapshot->act_rule == AQ_ACT_ARGMAX) {
        put_choice(text, aq_net_spec_outputs(&snapshot->spec));
    } else {
        put_scaling(text, snapshot);
    }
}

int aq_export_c(const aq_snapshot *snapshot, const char *prefix, aq_buffer *out,
                aq_export_figures *ret_figures, aq_error *error)
{
    export_plan plan;
    int rc = check_prefix(prefix, error);
    if (rc == 0) {
        rc = aq_snapshot_validate(snapshot, error);
    }
    if (rc == 0) {
        rc = check_formats(snapshot, error);
    }
    if (rc == 0) {
        rc = check_bounds(snapshot, error);
    }
    if (rc != 0) {
        return rc;
    }
    const size_t before = out->size;
    aq_export_text text = {.out = out, .prefix = prefix};
    make_plan(snapshot, &plan);
    put_file(&text, &plan);
    if (text.rc != 0) {
        out->size = before;
        return aq_fail(error, text.rc, "export: %s", aq_error_text(text.rc));
    }
    *ret_figures = plan.figures;
    return 0;
}
