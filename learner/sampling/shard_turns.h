/*
 * Shard turns: which shard the next request goes to, so that each gets requests in proportion to
 * its mass, exactly in the long run, and in the same order for the same history.
 *
 * By deficit: with each request every shard that takes part earns its share of it, and the one that
 * has earned most is asked and pays a whole one. A shard that is closed (it has nothing to give, or
 * can't be reached) or stalled (it holds a request for longer than it usually takes) takes no part:
 * the others get its share, and it is owed nothing for that time.
 *
 *   - A shard that has not told its mass is asked before all others while it has no request out;
 *     until it tells, it counts as much as the others do on average.
 *   - While each shard can have a request of its own, one is kept free for each that has none out.
 *     So a shard that stops answering leaves the others something to go on with.
 *
 * Pure; the caller keeps the states, opens and closes them.
 */
#ifndef AQ_LEARNER_SAMPLING_SHARD_TURNS_H
#define AQ_LEARNER_SAMPLING_SHARD_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct aq_shard_turn {
    bool open;      /* it may be asked now */
    bool stalled;   /* it may, but is not expected to answer soon; where all are, none is */
    double mass;    /* NaN: not told yet */
    uint32_t asked; /* requests that wait for its answer */
    double earned;  /* requests; less than 0: it was asked ahead of its share */
} aq_shard_turn;

/* As for a shard that has just come. */
void aq_shard_turn_init(aq_shard_turn *turn);

/* Whose turn it is, counted in its `asked`; `count` when nobody's: none is open, or the one that is
 * due must wait for an answer first. `requests_max` is how many can be out in all, of which one at
 * least is free. */
size_t aq_shard_turns_next(aq_shard_turn *turns, size_t count, uint32_t requests_max);

/* A request has ended. One that brought nothing is given back to what the shard has earned. */
void aq_shard_turn_ended(aq_shard_turn *turn, bool brought);

#endif
