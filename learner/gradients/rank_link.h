/*
 * Rank link: how the ranks of a learner reach each other, as those see it that combine something.
 * It is implemented by a module (learner/mpi/) that is loaded only where there are ranks, and by
 * the tests.
 *
 * Every call is made by all ranks, in the same order and with the same sizes. It waits for the
 * others, for as long as they are given; a call that failed says why in `trouble`, and so does each
 * one after it. One thread at a time, but for set_patience.
 */
#ifndef AQ_LEARNER_GRADIENTS_RANK_LINK_H
#define AQ_LEARNER_GRADIENTS_RANK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AQ_RANKS_MAX = 64, AQ_RANK_TROUBLE_MAX = 256 };

typedef struct aq_rank_link aq_rank_link;

struct aq_rank_link {
    uint32_t rank, count;
    void *state; /* the implementation's */

    /* `out` is cut into a piece for each rank, of `piece` bytes but for the last ones. `in` gets
     * this rank's piece of everybody's, in the order of the ranks. 0, or -1. */
    int (*swap)(aq_rank_link *link, const void *out, size_t bytes, size_t piece, void *in);

    /* The other way: of `block`, cut likewise, each rank has its own piece, and all get all. */
    int (*join)(aq_rank_link *link, void *block, size_t bytes, size_t piece);

    /* All get what rank `from` has. */
    int (*spread)(aq_rank_link *link, uint32_t from, void *block, size_t bytes);

    /* Those that say the same color come to a link of their own, in the same order. It has the
     * patience of this one, whose `trouble` says what went wrong with either, and is closed before
     * it. */
    int (*part)(aq_rank_link *link, uint32_t color, aq_rank_link *ret_part);

    /* How long others are waited for, from now on and in a call under way. Any thread. */
    void (*set_patience)(aq_rank_link *link, int64_t patience_ms);

    /* Frees what is in it, which becomes zeroes. In order, once all ranks do so; else those that
     * still wait will find out. */
    void (*close)(aq_rank_link *link, bool in_order);

    uint64_t sent_bytes; /* by this rank, so far; each has an even share of what is spread */
    int64_t spent_ns;    /* in calls, so far */
    char trouble[AQ_RANK_TROUBLE_MAX];
};

/* What a module exports under this name: 0, or -1 with link->trouble. `bytes` is the struct's size,
 * by which a module of another build is known. */
#define AQ_RANK_LINK_SYMBOL "aq_rank_link_open"
typedef int (*aq_rank_link_open_fn)(size_t bytes, aq_rank_link *ret_link);

#endif
