/*
 * Command: see command.h.
 */
#include "cli/text/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/base/rng.h"

enum { JSON_TEXT_BYTES_MAX = 4096, SIZE_TEXT_BYTES = 32 };

/* ---- arguments ------------------------------------------------------------------------------ */

int aq_command_take_size(void *size, const char *value, aq_error *error)
{
    aq_command_size *sides = size;
    uint64_t width = 0, height = 0;
    char text[SIZE_TEXT_BYTES];
    char *cross = aq_text_set(text, sizeof(text), value) == 0 ? strchr(text, 'x') : NULL;
    if (cross != NULL) {
        *cross = '\0';
    }
    if (cross == NULL || aq_parse_u64(text, &width) != 0 || width < sides->min ||
        width > sides->max || aq_parse_u64(cross + 1, &height) != 0 || height < sides->min ||
        height > sides->max) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is no size such as 640x480, of %" PRIu32 " to %" PRIu32 " pixels",
                       value, sides->min, sides->max);
    }
    sides->width = (uint32_t)width;
    sides->height = (uint32_t)height;
    sides->is_given = true;
    return 0;
}

void aq_command_draw_seed(uint64_t *seed)
{
    if (*seed == AQ_JSON_SEED_DRAW) {
        *seed = aq_rng_system_seed() & AQ_JSON_SEED_MAX;
    }
}

/* ---- results -------------------------------------------------------------------------------- */

double aq_json_number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

uint64_t aq_json_count_of(const json_t *object, const char *key)
{
    const json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

void aq_json_add(json_t **list, json_t *value)
{
    if (json_array_append_new(*list, value) != 0) {
        json_decref(*list);
        *list = NULL;
    }
}

json_t *aq_json_text(const char *text)
{
    char plain[JSON_TEXT_BYTES_MAX];
    json_t *string = json_string(text);
    return string ? string : json_string(aq_plain_text(plain, sizeof(plain), text));
}
