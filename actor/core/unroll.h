/*
 * Unroll: the steps of which an actor makes its next gradient. They are of one version, go to the
 * gradient maker, and leave as one row.
 *
 * One thread at a time.
 */
#ifndef AQ_ACTOR_CORE_UNROLL_H
#define AQ_ACTOR_CORE_UNROLL_H

#include <stdbool.h>
#include <stdint.h>

#include "rollout/gradient_maker.h"

/* Zeroes: the actor sends its steps. */
typedef struct aq_unroll {
    aq_gradient_maker maker;
    uint64_t steps;    /* that a gradient is of, unless an environment fails */
    uint64_t gathered; /* of the next one */
    uint64_t made;     /* gradients */
    bool has_version;  /* that gradients can be of */
} aq_unroll;

/* Takes the maker over. */
void aq_unroll_init(aq_unroll *unroll, const aq_gradient_maker *maker, uint64_t steps);
void aq_unroll_fini(aq_unroll *unroll);

static inline bool aq_unroll_is_used(const aq_unroll *unroll)
{
    return unroll->steps > 0;
}

/* Gradients are of a version. */
static inline bool aq_unroll_may_go(const aq_unroll *unroll)
{
    return unroll->steps == 0 || unroll->has_version;
}

/* Environment steps that a step which is sent stands for. */
static inline uint64_t aq_unroll_row_steps(const aq_unroll *unroll)
{
    return unroll->steps > 0 ? unroll->steps : 1;
}

/* Before the first step of a gradient; NULL: there is no version. */
void aq_unroll_adopt(aq_unroll *unroll, const aq_snapshot *version);

/* A step of so many environments; true: they are enough, and what is open is to be taken now. Those
 * that failed or waited count as well: more steps of the others would be left over for gradients of
 * later versions. */
bool aq_unroll_gather(aq_unroll *unroll, uint32_t lanes);

/* The reference is moved. One that there is no memory for is missing from the gradient. */
void aq_unroll_take(aq_unroll *unroll, aq_chunk *chunk);

/* The gradient of what was taken, as a row; one reference, the caller's. NULL: there is none. */
aq_chunk *aq_unroll_make(aq_unroll *unroll);

#endif
