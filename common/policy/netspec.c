/*
 * Building, checking and describing a network. All of it is safe on a description that came from a
 * peer and was not checked yet: counts are clamped before they index an array.
 */
#include "common/policy/netspec.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/fnv1a.h"
#include "common/base/parse.h"
#include "common/policy/layer_kind.h"

static uint32_t at_most(uint32_t count, uint32_t most)
{
    return count < most ? count : most;
}

static uint32_t layer_count(const aq_net_spec *spec)
{
    return at_most(spec->layer_count, AQ_NET_LAYERS_MAX);
}

static uint32_t array_count(const aq_net_spec *spec)
{
    return at_most(spec->array_count, AQ_NET_ARRAYS_MAX);
}

int aq_net_spec_init_mlp(uint32_t inputs, const uint32_t *hidden, uint32_t hidden_count,
                         uint32_t outputs, enum aq_activation activation, aq_net_spec *ret_spec,
                         aq_error *error)
{
    if (hidden_count > AQ_NET_LAYERS_MAX - 1) {
        return aq_fail(error, AQ_E_INVALID, "%u hidden layers; at most %d are possible",
                       hidden_count, AQ_NET_LAYERS_MAX - 1);
    }
    aq_net_spec spec;
    memset(&spec, 0, sizeof(spec));
    spec.layer_count = hidden_count + 1;
    uint32_t width = inputs;
    for (uint32_t i = 0; i < hidden_count; i++) {
        spec.layers[i] = aq_layer_linear(width, hidden[i], activation);
        width = hidden[i];
    }
    spec.layers[hidden_count] = aq_layer_linear(width, outputs, AQ_ACTIVATION_NONE);
    int rc = aq_net_spec_validate(&spec, error);
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}

int aq_net_spec_add(aq_net_spec *spec, const aq_layer_spec *layer, aq_error *error)
{
    if (spec->layer_count >= AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "more than %d layers", AQ_NET_LAYERS_MAX);
    }
    spec->layers[spec->layer_count++] = *layer;
    return 0;
}

/* ---- the graph ------------------------------------------------------------------------------ */

aq_layer_sources aq_net_sources(const aq_net_spec *spec, uint32_t layer)
{
    AQ_ASSERT(layer < AQ_NET_LAYERS_MAX);
    aq_layer_sources sources = spec->layers[layer].sources;
    if (sources.count == 0) {
        sources = (aq_layer_sources){.count = 1, .values = {layer}};
    }
    if (sources.count > AQ_LAYER_SOURCES_MAX) {
        sources.count = AQ_LAYER_SOURCES_MAX;
    }
    return sources;
}

bool aq_net_is_chained(const aq_net_spec *spec, uint32_t layer)
{
    const aq_layer_sources sources = aq_net_sources(spec, layer);
    return sources.count == 1 && sources.values[0] == layer;
}

uint32_t aq_net_image_layers(const aq_net_spec *spec)
{
    uint32_t count = spec->layer_count;
    while (count > 0 && !aq_layer_kind_of(spec->layers[count - 1].kind)->takes_image) {
        count--;
    }
    return count;
}

uint32_t aq_net_value_width(const aq_net_spec *spec, uint32_t value)
{
    return value == 0 ? aq_net_spec_inputs(spec) : spec->layers[value - 1].outputs;
}

uint32_t aq_net_takes(const aq_net_spec *spec, uint32_t layer, uint32_t value)
{
    const aq_layer_sources sources = aq_net_sources(spec, layer);
    uint32_t count = 0;
    for (uint32_t k = 0; k < sources.count; k++) {
        count += sources.values[k] == value;
    }
    return count;
}

uint32_t aq_net_reader_count(const aq_net_spec *spec, uint32_t value)
{
    uint32_t count = 0;
    for (uint32_t i = value; i < spec->layer_count; i++) {
        count += aq_net_takes(spec, i, value);
    }
    return count;
}

void aq_net_find_acting(const aq_net_spec *spec, bool ret_acting[AQ_NET_LAYERS_MAX])
{
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        ret_acting[i] = i + 1 == spec->layer_count;
    }
    for (uint32_t i = spec->layer_count; i-- > 0;) {
        const aq_layer_sources sources = aq_net_sources(spec, i);
        const uint32_t count = aq_layer_noise_count(&spec->layers[i]) > 0 ? 1 : sources.count;
        for (uint32_t k = 0; ret_acting[i] && k < count; k++) {
            if (sources.values[k] > 0) {
                ret_acting[sources.values[k] - 1] = true;
            }
        }
    }
}

bool aq_net_is_affine_in_input(const aq_net_spec *spec)
{
    bool is_affine = true;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        is_affine &= aq_net_takes(spec, i, 0) == 0 || aq_layer_is_affine(&spec->layers[i]);
    }
    return is_affine;
}

/* ---- checks --------------------------------------------------------------------------------- */

/* That the values are there, before any of them is looked at. */
static int check_sources_exist(const aq_net_spec *spec, uint32_t index, aq_error *error)
{
    if (spec->layers[index].sources.count > AQ_LAYER_SOURCES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "layer %u takes %u values; 1 to %d are possible", index,
                       spec->layers[index].sources.count, AQ_LAYER_SOURCES_MAX);
    }
    const aq_layer_sources sources = aq_net_sources(spec, index);
    for (uint32_t k = 0; k < sources.count; k++) {
        if (sources.values[k] > index) {
            return aq_fail(error, AQ_E_INVALID,
                           "layer %u takes value %u; 0 to %u are there before it", index,
                           sources.values[k], index);
        }
    }
    return 0;
}

/* That they are as many, and as wide, as the layer asks for. */
static int check_sources(const aq_net_spec *spec, uint32_t index, aq_error *error)
{
    const aq_layer_spec *layer = &spec->layers[index];
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    const aq_layer_sources sources = aq_net_sources(spec, index);
    uint32_t widths[AQ_LAYER_SOURCES_MAX];
    uint64_t sum = 0;
    if (sources.count > 1 && (index == 0 || kind->check_sources == NULL)) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: a %s layer%s takes one value, not %u", index,
                       kind->name, index == 0 ? " in front" : "", sources.count);
    }
    for (uint32_t k = 0; k < sources.count; k++) {
        widths[k] = aq_net_value_width(spec, sources.values[k]);
        sum += widths[k];
    }
    if (sum != layer->inputs && aq_net_is_chained(spec, index)) {
        return aq_fail(error, AQ_E_INVALID, "layer %u takes %u values, but layer %u gives %u",
                       index, layer->inputs, index - 1, widths[0]);
    }
    if (sum != layer->inputs) {
        return aq_fail(error, AQ_E_INVALID, "layer %u takes %u values, but is given %" PRIu64,
                       index, layer->inputs, sum);
    }
    return kind->check_sources != NULL
               ? kind->check_sources(layer, widths, sources.count, index, error)
               : 0;
}

static bool is_name(const char *name)
{
    size_t length = 0;
    while (length < AQ_NET_ARRAY_NAME_MAX && name[length] != '\0') {
        const char c = name[length++];
        if (!(c >= 'a' && c <= 'z') && (length == 1 || (c != '_' && !(c >= '0' && c <= '9')))) {
            return false;
        }
    }
    return length > 0 && length < AQ_NET_ARRAY_NAME_MAX;
}

static int check_arrays(const aq_net_spec *spec, aq_error *error)
{
    if (spec->array_count > AQ_NET_ARRAYS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u arrays; at most %d are possible", spec->array_count,
                       AQ_NET_ARRAYS_MAX);
    }
    for (uint32_t i = 0; i < spec->array_count; i++) {
        const aq_net_array *array = &spec->arrays[i];
        if (!is_name(array->name)) {
            return aq_fail(error, AQ_E_INVALID,
                           "array %u: its name is not made of small letters, digits and _", i);
        }
        if (array->count < 1 || array->count > AQ_NET_ARRAY_VALUES_MAX) {
            return aq_fail(error, AQ_E_INVALID, "array %s has %u values; 1 to %u are possible",
                           array->name, array->count, AQ_NET_ARRAY_VALUES_MAX);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(array->name, spec->arrays[k].name) == 0) {
                return aq_fail(error, AQ_E_INVALID, "two arrays are called %s", array->name);
            }
        }
    }
    return 0;
}

/* What a network gives is its last layer's value. */
static int check_ends(const aq_net_spec *spec, aq_error *error)
{
    for (uint32_t i = 0; i + 1 < spec->layer_count; i++) {
        if (aq_net_reader_count(spec, 1 + i) == 0) {
            return aq_fail(error, AQ_E_INVALID,
                           "layer %u gives a value that no layer takes; only the last one can", i);
        }
    }
    return 0;
}

/* Images go through their layers one by one, and what lies behind takes what they give: were it to
 * take the observation itself, that would not be made finite for it. */
static int check_images(const aq_net_spec *spec, aq_error *error)
{
    const uint32_t images = aq_net_image_layers(spec);
    for (uint32_t i = images; images > 0 && i < spec->layer_count; i++) {
        if (aq_net_takes(spec, i, 0) > 0) {
            return aq_fail(error, AQ_E_INVALID,
                           "layer %u takes value 0; behind layer %u, the last one of images, no "
                           "layer can",
                           i, images - 1);
        }
    }
    return 0;
}

/* What acts without noise is a network, too: nothing in it is noise alone, and an activation behind
 * a mean can be that of the layer that gives it. */
static int check_noise(const aq_net_spec *spec, aq_error *error)
{
    bool acting[AQ_NET_LAYERS_MAX];
    aq_net_find_acting(spec, acting);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_spec *layer = &spec->layers[i];
        const aq_layer_sources sources = aq_net_sources(spec, i);
        if (!acting[i] || aq_layer_noise_count(layer) == 0) {
            continue;
        }
        const uint32_t mean = sources.values[0];
        if (sources.count < 2 || mean == 0 || aq_net_reader_count(spec, mean) != 1 ||
            spec->layers[mean - 1].activation != AQ_ACTIVATION_NONE ||
            !aq_layer_is_affine(&spec->layers[mean - 1])) {
            return aq_fail(error, AQ_E_INVALID,
                           "layer %u: noise is added to what an affine layer gives to it alone, "
                           "without an activation",
                           i);
        }
    }
    return 0;
}

int aq_net_spec_validate(const aq_net_spec *spec, aq_error *error)
{
    if (spec->layer_count < 1 || spec->layer_count > AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u layers; 1 to %d are possible", spec->layer_count,
                       AQ_NET_LAYERS_MAX);
    }
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        int rc = aq_layer_spec_validate(&spec->layers[i], i, error);
        if (rc == 0) {
            rc = check_sources_exist(spec, i, error);
        }
        if (rc == 0) {
            rc = check_sources(spec, i, error);
        }
        if (rc != 0) {
            return rc;
        }
    }
    int rc = check_ends(spec, error);
    rc = rc == 0 ? check_images(spec, error) : rc;
    rc = rc == 0 ? check_noise(spec, error) : rc;
    return rc == 0 ? check_arrays(spec, error) : rc;
}

/* ---- hash ----------------------------------------------------------------------------------- */

/* What a plain chain has not is hashed only where it is there, behind a word of its own, so that
 * the hashes of plain chains stay what they were. */
enum { HASH_SOURCES = -1, HASH_ARRAY = -2 };

static uint64_t hash_words(uint64_t hash, const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hash = aq_fnv1a_word(hash, words[i]);
    }
    return hash;
}

static uint64_t hash_layer(uint64_t hash, const aq_net_spec *spec, uint32_t index)
{
    const aq_layer_spec *layer = &spec->layers[index];
    const aq_layer_sources sources = aq_net_sources(spec, index);
    hash = aq_fnv1a_word(hash, layer->kind);
    hash = aq_fnv1a_word(hash, layer->inputs);
    hash = aq_fnv1a_word(hash, layer->outputs);
    hash = aq_fnv1a_word(hash, layer->activation);
    hash = hash_words(hash, layer->shape, aq_layer_shape_words(layer->kind));
    if (!aq_net_is_chained(spec, index)) {
        hash = aq_fnv1a_word(hash, (uint32_t)HASH_SOURCES);
        hash = hash_words(hash, sources.values, sources.count);
    }
    return hash;
}

static uint64_t hash_arrays(uint64_t hash, const aq_net_spec *spec)
{
    for (uint32_t i = 0; i < array_count(spec); i++) {
        const aq_net_array *array = &spec->arrays[i];
        hash = aq_fnv1a_word(hash, (uint32_t)HASH_ARRAY);
        hash = aq_fnv1a_word(hash, array->count);
        for (size_t k = 0; k < sizeof(array->name) && array->name[k] != '\0'; k++) {
            hash = aq_fnv1a_word(hash, (uint8_t)array->name[k]);
        }
    }
    return hash;
}

uint64_t aq_net_spec_hash(const aq_net_spec *spec)
{
    uint64_t hash = aq_fnv1a_word(AQ_FNV1A_START, spec->layer_count);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        hash = hash_layer(hash, spec, i);
    }
    return aq_fnv1a_end(hash_arrays(hash, spec));
}

/* ---- sizes ---------------------------------------------------------------------------------- */

size_t aq_net_spec_array_values(const aq_net_spec *spec)
{
    size_t count = 0;
    for (uint32_t i = 0; i < array_count(spec); i++) {
        count += spec->arrays[i].count;
    }
    return count;
}

uint32_t aq_net_spec_acting_arrays(const aq_net_spec *spec)
{
    const uint32_t count = array_count(spec);
    return count > 0 && strcmp(spec->arrays[count - 1].name, AQ_CRITIC_ARRAY) == 0 ? count - 1
                                                                                   : count;
}

size_t aq_net_spec_parameters(const aq_net_spec *spec)
{
    size_t count = aq_net_spec_array_values(spec);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        count += aq_layer_parameters(&spec->layers[i]);
    }
    return count;
}

uint32_t aq_net_spec_inputs(const aq_net_spec *spec)
{
    return spec->layers[0].inputs;
}

uint32_t aq_net_spec_outputs(const aq_net_spec *spec)
{
    AQ_ASSERT(spec->layer_count >= 1);
    return spec->layers[layer_count(spec) - 1].outputs;
}

uint32_t aq_net_spec_width_max(const aq_net_spec *spec)
{
    uint32_t width = aq_net_spec_inputs(spec);
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        width = spec->layers[i].outputs > width ? spec->layers[i].outputs : width;
    }
    return width;
}

uint32_t aq_net_spec_state(const aq_net_spec *spec)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        width += aq_layer_state(&spec->layers[i]);
    }
    return width;
}

uint32_t aq_net_spec_noise(const aq_net_spec *spec)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        count += aq_layer_noise_count(&spec->layers[i]);
    }
    return count;
}

uint32_t aq_net_matrix_width(const aq_net_spec *spec, uint32_t layer)
{
    const uint32_t state = aq_layer_state(&spec->layers[layer]);
    return state > 0 ? state : aq_net_value_width(spec, aq_net_sources(spec, layer).values[0]);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void append_layer(const aq_net_spec *spec, uint32_t index, char *out, size_t size)
{
    const aq_layer_spec *layer = &spec->layers[index];
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    const aq_layer_sources sources = aq_net_sources(spec, index);
    char text[48] = "?";
    if (kind != NULL) {
        kind->text(layer, text, sizeof(text));
    }
    aq_text_append(out, size, "-%s%s", text, aq_activation_suffix(layer->activation));
    for (uint32_t k = 0; !aq_net_is_chained(spec, index) && k < sources.count; k++) {
        aq_text_append(out, size, "%s%" PRIu32 "%s", k == 0 ? "(" : ",", sources.values[k],
                       k + 1 == sources.count ? ")" : "");
    }
}

const char *aq_net_spec_text(const aq_net_spec *spec, char *out, size_t size)
{
    AQ_ASSERT(size > 0);
    const aq_layer_spec *first = &spec->layers[0];
    const aq_layer_kind *kind = aq_layer_kind_of(first->kind);
    out[0] = '\0';
    if (kind != NULL && kind->takes_image) {
        aq_text_append(out, size, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, first->shape[0],
                       first->shape[1], first->shape[2]);
    } else {
        aq_text_append(out, size, "%" PRIu32, first->inputs);
    }
    for (uint32_t i = 0; i < layer_count(spec); i++) {
        append_layer(spec, i, out, size);
    }
    for (uint32_t i = 0; i < array_count(spec); i++) {
        aq_text_append(out, size, "+%.*s%" PRIu32, AQ_NET_ARRAY_NAME_MAX, spec->arrays[i].name,
                       spec->arrays[i].count);
    }
    return out;
}
