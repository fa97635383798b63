/*
 * Layer formats: see layer_formats.h.
 */
#include "common/policy/layer_formats.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/parse.h"

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
    return aq_format_parse(colon + 1, &ret_row->format, error);
}

int aq_layer_formats_parse(const char *text, aq_layer_formats *ret_formats, aq_error *error)
{
    aq_layer_formats list = {0};
    const char *at = text[0] != '\0' ? text : NULL;
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

uint32_t aq_layer_formats_choices(const aq_net_spec *spec, uint32_t ret_layers[AQ_NET_LAYERS_MAX])
{
    bool acting[AQ_NET_LAYERS_MAX];
    uint32_t count = 0;
    aq_net_find_acting(spec, acting);
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        if (acting[i] && aq_layer_is_quantizable(&spec->layers[i])) {
            ret_layers[count++] = i;
        }
    }
    return count;
}

int aq_layer_formats_resolve(const aq_layer_formats *list, const aq_net_spec *spec,
                             uint32_t ret_formats[AQ_NET_LAYERS_MAX], aq_error *error)
{
    uint32_t formats[AQ_NET_LAYERS_MAX] = {0};
    uint32_t layers[AQ_NET_LAYERS_MAX];
    const int32_t count = (int32_t)aq_layer_formats_choices(spec, layers);
    for (size_t i = 0; i < list->count; i++) {
        const int32_t named = list->rows[i].layer;
        const int32_t chosen = named < 0 ? count + named : named;
        if (chosen < 0 || chosen >= count) {
            return aq_fail(error, AQ_E_INVALID,
                           "there is no layer %" PRId32 ": this network has %" PRId32
                           " that may have a format, 0 to %" PRId32 " or -%" PRId32 " to -1",
                           named, count, count - 1, count);
        }
        formats[layers[chosen]] = list->rows[i].format;
    }
    memcpy(ret_formats, formats, sizeof(formats));
    return 0;
}
