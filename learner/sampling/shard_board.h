/*
 * Shard board: what the learner knows of each live replay shard while it samples from them: how
 * much it holds, what it said last, whether it may be asked, and whose turn it is.
 *
 * Loop thread only.
 */
#ifndef AQ_LEARNER_SAMPLING_SHARD_BOARD_H
#define AQ_LEARNER_SAMPLING_SHARD_BOARD_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/config/table_spec.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc.h"
#include "learner/sampling/shard_turns.h"

/* Why there is no group to train on. */
enum aq_sample_wait {
    AQ_WAIT_NO_SHARD, /* no shard is in the run */
    AQ_WAIT_LIMITER,  /* a shard's rate limiter holds answers back: actors are to insert first */
    AQ_WAIT_TROUBLE,  /* every shard has failed when it was asked last */
    AQ_WAIT_ANSWER,   /* answers are under way, and no limiter held them */
};
enum { AQ_SAMPLE_WAITS = AQ_WAIT_ANSWER + 1 };

enum aq_shard_word { AQ_SHARD_SAID_NOTHING, AQ_SHARD_SAID_NOT_YET, AQ_SHARD_SAID_TROUBLE };

typedef struct aq_board_shard {
    uint64_t incarnation; /* 0: the place is free */
    uint64_t start;       /* by which its answers name it */
    uint64_t life;        /* another one each time that it is added, never 0 */
    char name[AQ_URL_MAX];
    aq_rpc_stub stub; /* the owner's to set */
    enum aq_shard_word last_word;
    int64_t not_before_ns;
    int64_t quiet_since_ns; /* it holds requests, and has answered none since */
    int64_t answer_ns;      /* what an answer takes, a running mean; 0: not known */
    double least;           /* of its latest batch, see importance.h; 0: none since it failed */
} aq_board_shard;

typedef struct aq_shard_board {
    aq_board_shard shards[AQ_SHARDS_MAX];
    aq_shard_turn turns[AQ_SHARDS_MAX]; /* of the shards */
    uint64_t lives;
} aq_shard_board; /* zeroed: empty */

/* `incarnation` is not 0 and not on the board. AQ_E_FULL. */
int aq_shard_board_add(aq_shard_board *board, uint64_t incarnation, const char *name,
                       aq_board_shard **ret_shard) AQ_MUST_USE;
void aq_shard_board_remove(aq_shard_board *board, aq_board_shard *shard);

/* NULL when there is none. */
aq_board_shard *aq_shard_board_find(aq_shard_board *board, uint64_t incarnation);
aq_board_shard *aq_shard_board_find_life(aq_shard_board *board, uint64_t life);
uint32_t aq_shard_board_count(const aq_shard_board *board);

/* How much the shard's table holds; what can't be is passed over. */
void aq_shard_board_told_mass(aq_shard_board *board, const aq_board_shard *shard, double mass);

/* The shard that is to be asked now, counted as asked; NULL when none is (shard_turns.h). At most
 * `requests_max` are asked at a time, of which one at least is free. */
aq_board_shard *aq_shard_board_next(aq_shard_board *board, int64_t now_ns, uint32_t requests_max);

/* Its request has ended: with a sample, after `taken_ns`; with "not yet"; or with trouble. After
 * the latter two it is left alone for a moment. */
void aq_shard_board_sampled(aq_shard_board *board, aq_board_shard *shard, int64_t now_ns,
                            int64_t taken_ns);
void aq_shard_board_failed(aq_shard_board *board, aq_board_shard *shard, int64_t now_ns,
                           enum aq_shard_word word);

/* The least `least` of all shards; infinite when none has one. */
double aq_shard_board_least(const aq_shard_board *board);

/* Why nothing comes at this moment. */
enum aq_sample_wait aq_shard_board_reason_to_wait(const aq_shard_board *board);

#endif
