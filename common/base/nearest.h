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

#include <stdbool.h>
#include <stddef.h>

/* Longer texts are infinitely far from everything. */
#define AQ_NEAREST_TEXT_MAX 64

typedef struct aq_nearest {
    const char *text;
    char name[AQ_NEAREST_TEXT_MAX + 1];
    size_t distance;
} aq_nearest;

void aq_nearest_init(aq_nearest *nearest, const char *text);

/* True when it is now the nearest. */
bool aq_nearest_offer(aq_nearest *nearest, const char *name);

/* The nearest name offered (the first of equals), in `nearest`; NULL when none is near enough. A
 * slip of the fingers is: at most a third of the letters behind the group that both are in
 * ("learner."), or one, would have to change. So is a short form of the words, such as "lr" for
 * "learning_rate", which counts as one change, or of the later ones, which counts as two. */
const char *aq_nearest_name(const aq_nearest *nearest);

/* How many letters have to be inserted, removed, replaced or swapped with their neighbour, in
 * whatever case they are; SIZE_MAX where a text is longer than AQ_NEAREST_TEXT_MAX. */
size_t aq_edit_distance(const char *a, const char *b);

#endif
