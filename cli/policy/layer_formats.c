/*
 * Layer formats: see layer_formats.h.
 */
#include "cli/policy/layer_formats.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/parse.h"
#include "library/source/policy_source.h"

enum { WORD_BYTES = 64 };

static int parse_row(char *word, aq_layer_format *ret_row, aq_error *error)
{
    int64_t layer;
    char *colon = strchr(word, ':');
    if (!colon) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not LAYER:FORMAT", word);
    }
    *colon = '\0';
    if (aq_parse_i64(word, &layer) != 0 || layer < -AQ_NET_LAYERS_MAX ||
        layer >= AQ_NET_LAYERS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is no number of a layer, %d to %d", word,
                       -AQ_NET_LAYERS_MAX, AQ_NET_LAYERS_MAX - 1);
    }
    ret_row->layer = (int32_t)layer;
    return aq_precision_take(&ret_row->format, colon + 1, error);
}

int aq_layer_formats_parse(const char *text, aq_layer_formats *ret_formats, aq_error *error)
{
    aq_layer_formats list = {0};
    const char *at = text;
    while (at) {
        char word[WORD_BYTES];
        const char *comma = strchr(at, ',');
        const size_t length = comma ? (size_t)(comma - at) : strlen(at);
        if (length == 0 || length >= sizeof(word)) {
            return aq_fail(error, AQ_E_INVALID, "'%s' is not a list such as 0:fp32,-1:bf16", text);
        }
        if (list.count == AQ_NET_LAYERS_MAX) {
            return aq_fail(error, AQ_E_INVALID, "more than %d layers", AQ_NET_LAYERS_MAX);
        }
        memcpy(word, at, length);
        word[length] = '\0';
        int rc = parse_row(word, &list.rows[list.count], error);
        if (rc != 0) {
            return rc;
        }
        list.count++;
        at = comma ? comma + 1 : NULL;
    }
    *ret_formats = list;
    return 0;
}

int aq_layer_formats_resolve(const aq_layer_formats *list, const aq_net_spec *spec,
                             uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error)
{
    uint32_t formats[AQ_NET_LAYERS_MAX] = {0};
    const int32_t count = (int32_t)spec->layer_count;
    for (size_t i = 0; i < list->count; i++) {
        const int32_t named = list->rows[i].layer;
        const int32_t layer = named < 0 ? count + named : named;
        if (layer < 0 || layer >= count) {
            return aq_fail(error, AQ_E_INVALID,
                           "there is no layer %" PRId32 ": the network has %" PRId32, named, count);
        }
        const aq_layer_spec *own = &spec->layers[layer];
        if (!aq_layer_is_quantizable(own) && list->rows[i].format != AQ_FORMAT_F32) {
            return aq_fail(error, AQ_E_INVALID, "layer %" PRId32 ", a %s, is always fp32", named,
                           aq_layer_kind_name(own->kind));
        }
        if (formats[layer] != 0) {
            return aq_fail(error, AQ_E_INVALID, "layer %" PRId32 " has a format already", named);
        }
        formats[layer] = list->rows[i].format;
    }
    memcpy(ret_formats, formats, sizeof(formats));
    return 0;
}
