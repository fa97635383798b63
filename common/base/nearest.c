/*
 * Edit distance with adjacent swaps (optimal string alignment), three rows at a time.
 */
#include "common/base/nearest.h"

#include <stdint.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t aq_edit_distance(const char *a, const char *b)
{
    /* rows[i % 3][j]: the distance between the first i letters of a and the first j of b. */
    size_t rows[3][AQ_NEAREST_TEXT_MAX + 1];
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);

    if (a_length > AQ_NEAREST_TEXT_MAX || b_length > AQ_NEAREST_TEXT_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

void aq_nearest_init(aq_nearest *nearest, const char *text)
{
    *nearest = (aq_nearest){.text = text, .distance = SIZE_MAX};
}

void aq_nearest_offer(aq_nearest *nearest, const char *name)
{
    size_t distance = aq_edit_distance(nearest->text, name);

    if (distance < nearest->distance) {
        nearest->distance = distance;
        memcpy(nearest->name, name, strlen(name) + 1); /* it fits, or would be infinitely far */
    }
}

const char *aq_nearest_name(const aq_nearest *nearest)
{
    if (nearest->distance == SIZE_MAX) {
        return NULL;
    }
    size_t limit = strlen(nearest->name) / 3;
    return nearest->distance <= (limit > 1 ? limit : 1) ? nearest->name : NULL;
}
