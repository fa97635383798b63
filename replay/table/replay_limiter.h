/*
 * Rate limiter: keeps what is sampled and what is inserted in a fixed proportion, within a band, as
 * arithmetic on two counts.
 *
 *   I inserted steps, S sampled rows, M minimum size, r samples per insert, T tolerance in steps
 *
 *   lead = (I - M) - S / r       by how many steps the actors are ahead of the ratio
 *
 *   n rows may be sampled   iff  I >= M  and  lead - n / r >= -T
 *   headroom for inserts    =    max(0, floor(T - lead))
 *
 * So lead stays in [-T, T], whichever side is the slower one. Counting starts at M: the first M
 * steps are owed to nobody. Counted from 0 instead, the learner would be owed M * r rows the moment
 * it may start, and would spend them in a burst on the few steps there are; and were M greater than
 * T, the actors would have to stop before the learner could start.
 *
 * It cannot happen that both sides must wait. Let R be the most rows that one request draws, and
 * 2 T >= R / r + 2, which aq_replay_limiter_init demands. Suppose that R rows may not be sampled.
 *   Either I < M: then lead < 0, as S / r >= 0, and T - lead > T >= 1: headroom is at least 1.
 *   Or lead < R / r - T: then T - lead > 2 T - R / r >= 2: headroom is at least 1, also when
 *   rounding has cost a part of a step (below 2^50 steps it costs far less).
 *
 * Where r is 0, no proportion is kept: the minimum size alone counts, and anything may come.
 *
 * A queue gives each item once, so that its proportion is kept by itself: as much may come as its
 * capacity leaves room for, and what may be sampled is what it holds (the table says). It must be
 * able to hold more than one request asks for, or both sides would wait.
 *
 * The limiter never refuses steps that are there already: it says how many more should come, and a
 * chunk that begins below the band's end may reach beyond it.
 *
 * Plain data, no locking.
 */
#ifndef AQ_REPLAY_TABLE_REPLAY_LIMITER_H
#define AQ_REPLAY_TABLE_REPLAY_LIMITER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/table_spec.h"

typedef struct aq_replay_limiter {
    uint64_t min_size;         /* M, steps */
    double samples_per_insert; /* r; 0: none */
    double tolerance;          /* T, steps */
    uint32_t rows_max;         /* R */
    uint64_t inserted;         /* I, steps */
    uint64_t sampled;          /* S, rows */
    double forgiven;           /* steps of lead that a restart wrote off; see restore */
    uint64_t capacity;         /* of a queue, steps; 0: it is none */
    uint64_t held;             /* by the queue */
} aq_replay_limiter;

/* Of a table whose spec is valid. AQ_E_INVALID in words, naming what works, when both sides could
 * have to wait, and for numbers that are not finite or not possible. */
int aq_replay_limiter_init(aq_replay_limiter *limiter, const aq_table_spec *spec, uint32_t rows_max,
                           aq_error *error) AQ_MUST_USE;

/* Counts of all lives so far, in place of what it has counted itself. With `known`, the lead is
 * what they make it under the settings of now, but no further out than the band's ends: settings
 * that have changed, or counts that a crash has set apart, cost neither side more than one band's
 * width of waiting. Without, `sampled` is not looked at and neither side is ahead. */
void aq_replay_limiter_restore(aq_replay_limiter *limiter, uint64_t inserted, uint64_t sampled,
                               bool known);

/* After a restore: of what was counted only `held` steps are there, and these alone count towards
 * the minimum size, as if there had been none before. */
void aq_replay_limiter_begin_anew(aq_replay_limiter *limiter, uint64_t held);

void aq_replay_limiter_inserted(aq_replay_limiter *limiter, uint64_t steps);
void aq_replay_limiter_sampled(aq_replay_limiter *limiter, uint32_t rows);

/* What the table holds now: to be told after every insert and sample of a queue; of no use
 * elsewhere. */
void aq_replay_limiter_holds(aq_replay_limiter *limiter, uint64_t steps);

/* Steps by which the actors are ahead (negative: behind); 0 where no proportion is kept. */
double aq_replay_limiter_lead(const aq_replay_limiter *limiter);

bool aq_replay_limiter_may_sample(const aq_replay_limiter *limiter, uint32_t rows);

/* Steps that may still be inserted before the actors have to wait. */
uint64_t aq_replay_limiter_headroom(const aq_replay_limiter *limiter);

/* Steps that may always be inserted when a request for rows_max rows has to wait (by a queue: for
 * items); at least 1. */
uint64_t aq_replay_limiter_width(const aq_replay_limiter *limiter);

#endif
