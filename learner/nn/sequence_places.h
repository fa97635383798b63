/*
 * Sequence places: where the steps of sequences of any length lie side by side, as aq_net_sequences
 * has them: the longest first, a step of all that have it, then the next one. First the lengths are
 * said, then each sequence takes its place.
 *
 * Sized once; one thread at a time.
 */
#ifndef AQ_LEARNER_NN_SEQUENCE_PLACES_H
#define AQ_LEARNER_NN_SEQUENCE_PLACES_H

#include <stdint.h>

#include "common/base/arrays.h"

typedef struct aq_sequence_places {
    uint32_t steps_max; /* of a sequence */
    uint32_t steps;     /* of the longest */
    uint32_t *active;   /* (steps_max + 1): how many have each step */
    uint32_t *next;     /* (steps_max + 1): the place of the next that has so many */
} aq_sequence_places;

/* Among the arrays of their owner. */
void aq_sequence_places_lay_out(aq_sequence_places *places, uint32_t steps_max, aq_arrays *at);

/* A new set of sequences; each of them, of at least one step; and that there are no more. */
void aq_sequence_places_begin(aq_sequence_places *places);
void aq_sequence_places_add(aq_sequence_places *places, uint32_t length);
void aq_sequence_places_close(aq_sequence_places *places);

/* The place of a sequence, which is that of its first step; after a step t at some place the next
 * one is active[t] places on. For each that was added once, in any order. */
uint32_t aq_sequence_places_take(aq_sequence_places *places, uint32_t length);

#endif
