/*
 * Shard board: see shard_board.h.
 */
#include "learner/sampling/shard_board.h"

#include <math.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/net/security/incarnation.h"

/* A shard that failed is left alone this long, so that a dead one doesn't keep the loop busy. */
#define PAUSE_NS   (100 * AQ_NS_PER_MS)
#define NOT_YET_NS (5 * AQ_NS_PER_MS)

/* A shard counts as stalled when it holds requests and answers none for this long, or for several
 * times of what it has taken of late. */
#define STALL_MIN_NS (25 * AQ_NS_PER_MS)
#define STALL_MAX_NS (250 * AQ_NS_PER_MS)
enum { STALL_TIMES = 4, ANSWER_MEAN_OF = 8 };

/* No sum of 64 such is infinite. */
#define MASS_MAX 1e300

static aq_shard_turn *turn_of(aq_shard_board *board, const aq_board_shard *shard)
{
    return &board->turns[shard - board->shards];
}

int aq_shard_board_add(aq_shard_board *board, uint64_t incarnation, const char *name,
                       aq_board_shard **ret_shard)
{
    AQ_ASSERT(incarnation != 0);
    AQ_ASSERT(!aq_shard_board_find(board, incarnation));
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        aq_board_shard *place = &board->shards[i];
        if (place->incarnation == 0) {
            *place = (aq_board_shard){.incarnation = incarnation,
                                      .start = aq_incarnation_name(incarnation),
                                      .life = ++board->lives};
            (void)snprintf(place->name, sizeof(place->name), "%s", name);
            aq_shard_turn_init(&board->turns[i]);
            *ret_shard = place;
            return 0;
        }
    }
    return AQ_E_FULL;
}

void aq_shard_board_remove(aq_shard_board *board, aq_board_shard *shard)
{
    *turn_of(board, shard) = (aq_shard_turn){0};
    *shard = (aq_board_shard){0};
}

aq_board_shard *aq_shard_board_find(aq_shard_board *board, uint64_t incarnation)
{
    for (size_t i = 0; incarnation != 0 && i < AQ_SHARDS_MAX; i++) {
        if (board->shards[i].incarnation == incarnation) {
            return &board->shards[i];
        }
    }
    return NULL;
}

aq_board_shard *aq_shard_board_find_life(aq_shard_board *board, uint64_t life)
{
    for (size_t i = 0; life != 0 && i < AQ_SHARDS_MAX; i++) {
        if (board->shards[i].life == life) {
            return &board->shards[i];
        }
    }
    return NULL;
}

uint32_t aq_shard_board_count(const aq_shard_board *board)
{
    uint32_t count = 0;
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        count += board->shards[i].incarnation != 0;
    }
    return count;
}

void aq_shard_board_told_mass(aq_shard_board *board, const aq_board_shard *shard, double mass)
{
    if (mass >= 0 && mass <= MASS_MAX) {
        turn_of(board, shard)->mass = mass;
    }
}

static int64_t stall_ns_of(const aq_board_shard *shard)
{
    int64_t usual_ns = STALL_TIMES * shard->answer_ns;
    if (usual_ns < STALL_MIN_NS) {
        return STALL_MIN_NS;
    }
    return usual_ns < STALL_MAX_NS ? usual_ns : STALL_MAX_NS;
}

aq_board_shard *aq_shard_board_next(aq_shard_board *board, int64_t now_ns, uint32_t requests_max)
{
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        const aq_board_shard *shard = &board->shards[i];
        aq_shard_turn *turn = &board->turns[i];
        turn->open = shard->incarnation != 0 && shard->not_before_ns <= now_ns;
        turn->stalled = turn->asked > 0 && now_ns - shard->quiet_since_ns > stall_ns_of(shard);
    }
    size_t due = aq_shard_turns_next(board->turns, AQ_SHARDS_MAX, requests_max);
    if (due == AQ_SHARDS_MAX) {
        return NULL;
    }
    if (board->turns[due].asked == 1) {
        board->shards[due].quiet_since_ns = now_ns;
    }
    return &board->shards[due];
}

void aq_shard_board_sampled(aq_shard_board *board, aq_board_shard *shard, int64_t now_ns,
                            int64_t taken_ns)
{
    shard->last_word = AQ_SHARD_SAID_NOTHING;
    shard->quiet_since_ns = now_ns;
    shard->answer_ns += (taken_ns - shard->answer_ns) / (shard->answer_ns > 0 ? ANSWER_MEAN_OF : 1);
    aq_shard_turn_ended(turn_of(board, shard), true);
}

void aq_shard_board_failed(aq_shard_board *board, aq_board_shard *shard, int64_t now_ns,
                           enum aq_shard_word word)
{
    shard->last_word = word;
    shard->quiet_since_ns = now_ns;
    shard->not_before_ns = now_ns + (word == AQ_SHARD_SAID_NOT_YET ? NOT_YET_NS : PAUSE_NS);
    if (word == AQ_SHARD_SAID_TROUBLE) {
        shard->least = 0; /* it may be long until it is sampled from again */
    }
    aq_shard_turn_ended(turn_of(board, shard), false);
}

double aq_shard_board_least(const aq_shard_board *board)
{
    double least = INFINITY;
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        double candidate = board->shards[i].least;
        least = candidate > 0 && candidate < least ? candidate : least;
    }
    return least;
}

enum aq_sample_wait aq_shard_board_reason_to_wait(const aq_shard_board *board)
{
    uint32_t live = 0;
    uint32_t failed = 0;
    for (size_t i = 0; i < AQ_SHARDS_MAX; i++) {
        const aq_board_shard *shard = &board->shards[i];
        if (shard->incarnation == 0) {
            continue;
        }
        if (shard->last_word == AQ_SHARD_SAID_NOT_YET) {
            return AQ_WAIT_LIMITER;
        }
        live++;
        failed += shard->last_word == AQ_SHARD_SAID_TROUBLE;
    }
    if (live == 0) {
        return AQ_WAIT_NO_SHARD;
    }
    return failed == live ? AQ_WAIT_TROUBLE : AQ_WAIT_ANSWER;
}
