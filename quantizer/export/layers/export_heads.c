/*
 * dueling and categorical.
 */
#include "common/base/memory.h"
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char dueling_text[] =
    "\n"
    "/* x is [1 + choices][atoms]: the state's value, then each choice's advantage. */\n"
    "static void @_dueling(const float *x, uint32_t choices, uint32_t atoms, float *y)\n"
    "{\n"
    "    const float *advantage = x + atoms;\n"
    "    for (uint32_t k = 0; k < atoms; k++) {\n"
    "        float mean = 0.0f;\n"
    "        for (uint32_t c = 0; c < choices; c++) {\n"
    "            mean += advantage[(size_t)c * atoms + k];\n"
    "        }\n"
    "        mean = mean / (float)choices;\n"
    "        for (uint32_t c = 0; c < choices; c++) {\n"
    "            y[(size_t)c * atoms + k] = x[k] + (advantage[(size_t)c * atoms + k] - mean);\n"
    "        }\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void call_dueling(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_head_shape *head = &layer->spec->head;
    aq_export_print(to, "    @_dueling(%s, %u, %u, %s);\n", layer->x[0], head->choices, head->atoms,
                    layer->y);
}

const aq_export_kind aq_export_dueling = {
    .text = dueling_text, .after = AQ_PIECE_LANES, .call = call_dueling};

/* clang-format off */
static const char categorical_text[] =
    "\n"
    "/* The expectation of atom under softmax(logit). */\n"
    "static float @_expectation(const float *logit, const float *atom, uint32_t count)\n"
    "{\n"
    "    float weight[16] = {0};\n"
    "    float value[16] = {0};\n"
    "    float greatest = logit[0];\n"
    "    for (uint32_t i = 1; i < count; i++) {\n"
    "        greatest = logit[i] > greatest ? logit[i] : greatest;\n"
    "    }\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        const float below = logit[i] - greatest;\n"
    "        float power;\n"
    "        const float series = @_exp_parts(below < -80.0f ? -80.0f : below, &power);\n"
    "        const float e = power * series + power;\n"
    "        weight[i % 16] += e;\n"
    "        value[i % 16] += e * atom[i];\n"
    "    }\n"
    "    return @_add_lanes(value) / @_add_lanes(weight);\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static void @_categorical(const float *x, uint32_t choices, const float *atom,\n"
    "                          uint32_t atoms, float *y)\n"
    "{\n"
    "    for (uint32_t c = 0; c < choices; c++) {\n"
    "        y[c] = @_expectation(x + (size_t)c * atoms, atom, atoms);\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void put_atoms(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_head_shape *head = &layer->spec->head;
    float *atoms = aq_alloc(head->atoms, sizeof(*atoms));
    if (atoms == NULL) {
        to->rc = AQ_E_NOMEM;
        return;
    }
    for (uint32_t k = 0; k < head->atoms; k++) {
        atoms[k] = aq_head_atom(head, k);
    }
    aq_export_floats(to, "atoms", layer->index, atoms, head->atoms);
    aq_free(atoms);
}

static void call_categorical(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_head_shape *head = &layer->spec->head;
    aq_export_print(to, "    @_categorical(%s, %u, @_atoms%u, %u, %s);\n", layer->x[0],
                    head->choices, layer->index, head->atoms, layer->y);
}

const aq_export_kind aq_export_categorical = {
    .text = categorical_text,
    .needs = AQ_PIECE(LANES) | AQ_PIECE(EXP),
    .after = AQ_PIECE_LANES,
    .put_constants = put_atoms,
    .call = call_categorical,
};
