/*
 * See rank_crew.h.
 */
#include "tests/support/rank_crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/must.h"

typedef struct crew {
    pthread_barrier_t barrier;
    const void *shown[CREW_MAX]; /* what each rank lets others read */
    unsigned lost_at;
    atomic_uint left; /* of a part: ranks that have not closed it */
    crew_act act;
    void *user;
} crew;

typedef struct hand {
    crew *crew;
    aq_rank_link link;
    unsigned calls;
    aq_rank_link *whole; /* that it is a part of; NULL: of none */
} hand;

static int begin(aq_rank_link *link, const void *shown)
{
    hand *own = link->state;
    aq_rank_link *whole = own->whole != NULL ? own->whole : link;
    hand *counted = whole->state;
    if (counted->crew->lost_at > 0 && ++counted->calls >= counted->crew->lost_at) {
        (void)snprintf(whole->trouble, sizeof(whole->trouble), "lost");
        return -1;
    }
    own->crew->shown[link->rank] = shown;
    (void)pthread_barrier_wait(&own->crew->barrier);
    return 0;
}

static const uint8_t *shown_by(const aq_rank_link *link, uint32_t rank)
{
    const hand *own = link->state;
    return own->crew->shown[rank];
}

static void end(aq_rank_link *link)
{
    hand *own = link->state;
    (void)pthread_barrier_wait(&own->crew->barrier);
}

static size_t part_bytes(size_t bytes, size_t piece, uint32_t rank)
{
    const size_t at = rank * piece < bytes ? rank * piece : bytes;
    return bytes - at < piece ? bytes - at : piece;
}

static int swap(aq_rank_link *link, const void *out, size_t bytes, size_t piece, void *in)
{
    const size_t own = part_bytes(bytes, piece, link->rank);
    if (begin(link, out) != 0) {
        return -1;
    }
    for (uint32_t rank = 0; own > 0 && rank < link->count; rank++) {
        memcpy((uint8_t *)in + rank * own, shown_by(link, rank) + link->rank * piece, own);
    }
    link->sent_bytes += bytes - own;
    end(link);
    return 0;
}

static int join(aq_rank_link *link, void *block, size_t bytes, size_t piece)
{
    if (begin(link, block) != 0) {
        return -1;
    }
    for (uint32_t rank = 0; rank < link->count; rank++) {
        const size_t part = part_bytes(bytes, piece, rank);
        if (rank != link->rank && part > 0) {
            memcpy((uint8_t *)block + rank * piece, shown_by(link, rank) + rank * piece, part);
        }
    }
    link->sent_bytes += part_bytes(bytes, piece, link->rank) * (link->count - 1);
    end(link);
    return 0;
}

static int spread(aq_rank_link *link, uint32_t from, void *block, size_t bytes)
{
    if (begin(link, block) != 0) {
        return -1;
    }
    if (from != link->rank) {
        memcpy(block, shown_by(link, from), bytes);
    }
    link->sent_bytes += bytes * (link->count - 1) / link->count;
    end(link);
    return 0;
}

static void set_patience(aq_rank_link *link, int64_t patience_ms)
{
    (void)link;
    (void)patience_ms;
}

/* The first of each part makes what it needs, which the last to close it frees. */
static void close_part(aq_rank_link *link, bool in_order)
{
    hand *own = link->state;
    (void)in_order;
    if (atomic_fetch_sub(&own->crew->left, 1) == 1) {
        (void)pthread_barrier_destroy(&own->crew->barrier);
        free(own->crew);
    }
    free(own);
    *link = (aq_rank_link){0};
}

static int part(aq_rank_link *link, uint32_t color, aq_rank_link *ret_part)
{
    crew *made = calloc(1, sizeof(*made));
    hand *own = calloc(1, sizeof(*own));
    uint32_t rank = 0, count = 0, first = link->count;
    if (begin(link, &color) != 0) {
        free(made);
        free(own);
        return -1;
    }
    for (uint32_t other = 0; other < link->count; other++) {
        if (*(const uint32_t *)shown_by(link, other) == color) {
            first = other < first ? other : first;
            rank += other < link->rank;
            count++;
        }
    }
    end(link);
    if (rank == 0) {
        (void)pthread_barrier_init(&made->barrier, NULL, count);
        atomic_init(&made->left, count);
    }
    if (begin(link, made) != 0) {
        free(made);
        free(own);
        return -1;
    }
    own->crew = (crew *)(uintptr_t)shown_by(link, first);
    own->whole = link;
    end(link);
    if (rank > 0) {
        free(made);
    }
    *ret_part = (aq_rank_link){.rank = rank,
                               .count = count,
                               .state = own,
                               .swap = swap,
                               .join = join,
                               .spread = spread,
                               .part = part,
                               .set_patience = set_patience,
                               .close = close_part};
    return 0;
}

static void *run(void *user)
{
    hand *own = user;
    own->crew->act(own->crew->user, &own->link);
    return NULL;
}

void crew_run(uint32_t ranks, unsigned lost_at, crew_act act, void *user)
{
    crew all = {.lost_at = lost_at, .act = act, .user = user};
    hand hands[CREW_MAX] = {0};
    pthread_t threads[CREW_MAX];
    AQ_ASSERT(ranks >= 1 && ranks <= CREW_MAX);
    must(pthread_barrier_init(&all.barrier, NULL, ranks));
    for (uint32_t rank = 0; rank < ranks; rank++) {
        hands[rank] = (hand){.crew = &all,
                             .link = {.rank = rank,
                                      .count = ranks,
                                      .state = &hands[rank],
                                      .swap = swap,
                                      .join = join,
                                      .spread = spread,
                                      .part = part,
                                      .set_patience = set_patience}};
        must(pthread_create(&threads[rank], NULL, run, &hands[rank]));
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        must(pthread_join(threads[rank], NULL));
    }
    (void)pthread_barrier_destroy(&all.barrier);
}
