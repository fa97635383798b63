/*
 * Rank meeting: how the trainers of all ranks stay in step. Before each group they meet: everybody
 * says whether it has a group, whether it has to end, and where it is, and all come to the same
 * conclusion. Rank 0 says what holds for all: step sizes, how often a version is due, and how far
 * versions have come, by which a group is too old or not. So nobody waits for a rank that has
 * nothing to train on for longer than that takes to say so, and an end reaches all.
 *
 * A note is what a rank's loop has to tell the other loops, at some time: it travels with the next
 * meeting. Those that have come may be read when the link is closed already: a loop goes on for a
 * moment after its trainer.
 *
 * Meetings are the trainer's thread's; notes any thread's, and one thread of a rank posts.
 */
#ifndef AQ_LEARNER_TRAIN_RANK_MEETING_H
#define AQ_LEARNER_TRAIN_RANK_MEETING_H

#include <stdbool.h>

#include "common/base/error.h"
#include "learner/gradients/rank_link.h"
#include "learner/train/trainer_core.h"

enum { AQ_RANK_NOTE_MAX = 64 << 10 };

typedef struct aq_rank_meeting aq_rank_meeting;

/* What rank 0 says that holds for all. */
typedef struct aq_rank_orders {
    aq_schedules schedules;
    uint64_t publish_period;
    uint64_t newest_version;  /* of the policy that is out; 0: none */
    uint64_t coming_versions; /* that will come of updates so far */
    uint64_t fresh_from;      /* groups with steps of older versions are passed over */
} aq_rank_orders;

/* What a rank says; the same bytes for all. */
typedef struct aq_rank_word {
    uint32_t is_ready; /* a group is at hand */
    uint32_t ends;
    uint64_t step;
    uint64_t hash;           /* of all that a checkpoint keeps; 0: not looked at this time */
    uint64_t oldest_version; /* of the group's steps */
    aq_rank_orders orders;   /* rank 0's are those of all */
    uint64_t note;           /* how many it has posted */
    uint64_t note_bytes;
} aq_rank_word;

/* What follows from all words. */
typedef struct aq_rank_outcome {
    bool is_ready;    /* all are, with groups that are fresh enough */
    bool is_outdated; /* this one's is not: it has to get another, while the others keep theirs */
    bool ends;        /* one does */
    uint32_t ender;
    aq_rank_orders orders;
} aq_rank_outcome;

/* `link` is lent. AQ_E_NOMEM. */
int aq_rank_meeting_create(aq_rank_link *link, aq_rank_meeting **ret_meeting) AQ_MUST_USE;
void aq_rank_meeting_destroy(aq_rank_meeting *meeting); /* NULL is fine */

/* The members `note` and `note_bytes` of the word are not the caller's. In words: AQ_E_PEER when a
 * rank is lost, AQ_E_CORRUPT when one is at another step or keeps other numbers. */
int aq_rank_meet(aq_rank_meeting *meeting, const aq_rank_word *word, aq_rank_outcome *ret_outcome,
                 aq_error *error) AQ_MUST_USE;

/* In place of the one before, which may not have gone out. At most AQ_RANK_NOTE_MAX. */
void aq_rank_note_post(aq_rank_meeting *meeting, const void *note, size_t bytes);

/* What rank `from` posted, if that is of `bytes` and newer than *seen: true, and *seen is its
 * number. */
bool aq_rank_note_read(aq_rank_meeting *meeting, uint32_t from, uint64_t *seen, void *note,
                       size_t bytes);

#endif
