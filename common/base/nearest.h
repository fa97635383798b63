/*
 * "Did you mean …": the nearest of a set of names to a text that matched none of them.
 *
 *   aq_nearest nearest;
 *   aq_nearest_init(&nearest, typed);
 *   for each name: aq_nearest_offer(&nearest, name);
 *   aq_nearest_name(&nearest) is the best of them, or NULL
 *
 * One owner, no allocation. The text is borrowed until the last call, a name only for the call that
 * offers it.
 */
#ifndef AQ_COMMON_BASE_NEAREST_H
#define AQ_COMMON_BASE_NEAREST_H

#include <stddef.h>

/* Longer texts are infinitely far from everything. */
#define AQ_NEAREST_TEXT_MAX 64

typedef struct aq_nearest {
    const char *text;
    char name[AQ_NEAREST_TEXT_MAX + 1];
    size_t distance;
} aq_nearest;

void aq_nearest_init(aq_nearest *nearest, const char *text);
void aq_nearest_offer(aq_nearest *nearest, const char *name);

/* The nearest name offered (the first of equals), in `nearest`; NULL when none is near enough to be
 * a slip of the fingers: more than a third of its letters, and more than one, would have to
 * change. */
const char *aq_nearest_name(const aq_nearest *nearest);

/* How many letters have to be inserted, removed, replaced or swapped with their neighbour; SIZE_MAX
 * where a text is longer than AQ_NEAREST_TEXT_MAX. */
size_t aq_edit_distance(const char *a, const char *b);

#endif
