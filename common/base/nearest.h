/*
 * "Did you mean …": the nearest of a set of names to a text that matched none of them.
 *
 *   aq_nearest nearest;
 *   aq_nearest_init(&nearest, typed);
 *   for each name: aq_nearest_offer(&nearest, name);
 *   aq_nearest_name(&nearest) is the best of them, or NULL
 *
 * One owner, no allocation; texts are borrowed until the last call.
 */
#ifndef AQ_COMMON_BASE_NEAREST_H
#define AQ_COMMON_BASE_NEAREST_H

#include <stddef.h>

typedef struct aq_nearest {
    const char *text;
    const char *name;
    size_t distance;
} aq_nearest;

void aq_nearest_init(aq_nearest *nearest, const char *text);
void aq_nearest_offer(aq_nearest *nearest, const char *name);

/* The nearest name offered (the first of equals); NULL when none is near enough to be a slip of
 * the fingers: more than a third of its letters, and more than one, would have to change. */
const char *aq_nearest_name(const aq_nearest *nearest);

/* How many letters have to be inserted, removed, replaced or swapped with their neighbour.
 * Texts longer than AQ_NEAREST_TEXT_MAX are infinitely far from everything: SIZE_MAX. */
#define AQ_NEAREST_TEXT_MAX 64
size_t aq_edit_distance(const char *a, const char *b);

#endif
