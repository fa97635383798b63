/*
 * See rank_crew.h.
 */
#include "tests/support/rank_crew.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/must.h"

typedef struct crew {
    pthread_barrier_t barrier;
    const void *shown[CREW_MAX]; /* what each rank lets others read */
    unsigned lost_at;
    crew_act act;
    void *user;
} crew;

typedef struct hand {
    crew *crew;
    aq_rank_link link;
    unsigned calls;
} hand;

static int begin(aq_rank_link *link, const void *shown)
{
    hand *own = link->state;
    if (own->crew->lost_at > 0 && ++own->calls >= own->crew->lost_at) {
        (void)snprintf(link->trouble, sizeof(link->trouble), "lost");
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
    end(link);
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
                                      .spread = spread}};
        must(pthread_create(&threads[rank], NULL, run, &hands[rank]));
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        must(pthread_join(threads[rank], NULL));
    }
    (void)pthread_barrier_destroy(&all.barrier);
}
