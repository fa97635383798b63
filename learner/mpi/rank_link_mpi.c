/*
 * Rank link over MPI: a module of its own, actorq-mpi.so, which a learner loads when it was started
 * as one of several ranks. It knows nothing of the learner but the link's header, and is the only
 * file that knows MPI.
 *
 * Each call is a non-blocking collective that is tested until it is done or patience is over: a
 * rank that is dead, stopped or out of reach ends in words. It is tested without a pause for as
 * long as others usually take, and with short ones afterwards, so that a rank which waits for
 * experience leaves the processor to others. After a call that failed MPI is left alone: what is
 * under way would never come to its end.
 */
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "learner/gradients/rank_link.h"

/* Joining takes as long as the slowest host needs to load and to read a checkpoint. */
#define FIRST_PATIENCE_MS 120000

/* Of testing without a pause, and of the pauses after it. */
#define EAGER_NS (2 * AQ_NS_PER_MS)
#define PAUSE_NS (100 * AQ_NS_PER_US)

/* What MPI_Finalize may take, which waits without end for a rank that has died meanwhile. */
enum { FINALIZE_S = 20 };

typedef struct mpi_state {
    _Atomic int64_t patience_ms;
    int counts[AQ_RANKS_MAX], places[AQ_RANKS_MAX]; /* of pieces of a block */
    int own_counts[AQ_RANKS_MAX], own_places[AQ_RANKS_MAX];
} mpi_state;

static void pause_for(int64_t waited_ns)
{
    if (waited_ns < EAGER_NS) {
        (void)sched_yield();
    } else {
        aq_clock_wait_until(aq_clock_monotonic_ns() + PAUSE_NS);
    }
}

static int fail(aq_rank_link *link, const char *reason)
{
    (void)snprintf(link->trouble, sizeof(link->trouble), "%s", reason);
    return -1;
}

/* `started` is what the collective's start gave. */
static int wait_for(aq_rank_link *link, int started, MPI_Request *request)
{
    mpi_state *state = link->state;
    const int64_t begun_ns = aq_clock_monotonic_ns();
    int is_done = 0;
    int rc = started;
    while (rc == MPI_SUCCESS) {
        rc = MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        const int64_t waited_ns = aq_clock_monotonic_ns() - begun_ns;
        if (is_done) {
            link->spent_ns += waited_ns;
            return 0;
        }
        const int64_t patience_ms = atomic_load(&state->patience_ms);
        if (waited_ns > patience_ms * AQ_NS_PER_MS) {
            (void)snprintf(link->trouble, sizeof(link->trouble),
                           "another rank was silent for %lld ms: it is gone, stopped or out of "
                           "reach",
                           (long long)patience_ms);
            return -1;
        }
        pause_for(waited_ns);
    }
    return fail(link, "MPI could not send or receive");
}

/* Pieces of a block, each rank's. */
static int cut(aq_rank_link *link, size_t bytes, size_t piece)
{
    mpi_state *state = link->state;
    if (link->trouble[0] != '\0') {
        return -1; /* as before */
    }
    if (bytes > INT32_MAX) {
        return fail(link, "ranks exchange 2 GiB at once at most");
    }
    for (uint32_t rank = 0; rank < link->count; rank++) {
        const size_t at = rank * piece < bytes ? rank * piece : bytes;
        state->places[rank] = (int)at;
        state->counts[rank] = (int)(bytes - at < piece ? bytes - at : piece);
    }
    for (uint32_t rank = 0; rank < link->count; rank++) {
        state->own_counts[rank] = state->counts[link->rank];
        state->own_places[rank] = (int)rank * state->counts[link->rank];
    }
    return 0;
}

static int swap(aq_rank_link *link, const void *out, size_t bytes, size_t piece, void *in)
{
    mpi_state *state = link->state;
    MPI_Request request;
    if (cut(link, bytes, piece) != 0) {
        return -1;
    }
    link->sent_bytes += bytes - (size_t)state->counts[link->rank];
    return wait_for(link,
                    MPI_Ialltoallv(out, state->counts, state->places, MPI_BYTE, in,
                                   state->own_counts, state->own_places, MPI_BYTE, MPI_COMM_WORLD,
                                   &request),
                    &request);
}

static int join(aq_rank_link *link, void *block, size_t bytes, size_t piece)
{
    mpi_state *state = link->state;
    MPI_Request request;
    if (cut(link, bytes, piece) != 0) {
        return -1;
    }
    link->sent_bytes += (size_t)state->counts[link->rank] * (link->count - 1);
    return wait_for(link,
                    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, block, state->counts, state->places,
                                    MPI_BYTE, MPI_COMM_WORLD, &request),
                    &request);
}

static int spread(aq_rank_link *link, uint32_t from, void *block, size_t bytes)
{
    MPI_Request request;
    if (cut(link, bytes, bytes) != 0) {
        return -1;
    }
    return wait_for(link,
                    MPI_Ibcast(block, (int)bytes, MPI_BYTE, (int)from, MPI_COMM_WORLD, &request),
                    &request);
}

static void set_patience(aq_rank_link *link, int64_t patience_ms)
{
    mpi_state *state = link->state;
    atomic_store(&state->patience_ms, patience_ms);
}

/* Out of order nothing of MPI is called any more: the launcher ends what others wait for. */
static void close_link(aq_rank_link *link, bool in_order)
{
    if (in_order) {
        (void)alarm(FINALIZE_S);
        (void)MPI_Finalize();
        (void)alarm(0);
    }
    aq_free(link->state);
    *link = (aq_rank_link){0};
}

int aq_rank_link_open(size_t bytes, aq_rank_link *ret_link);

__attribute__((visibility("default"))) int aq_rank_link_open(size_t bytes, aq_rank_link *ret_link)
{
    int provided = 0, rank = 0, count = 0;
    if (bytes != sizeof(*ret_link)) {
        return -1; /* of another build, where nobody knows what to say */
    }
    *ret_link = (aq_rank_link){.swap = swap,
                               .join = join,
                               .spread = spread,
                               .set_patience = set_patience,
                               .close = close_link};
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED ||
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &count) != MPI_SUCCESS) {
        return fail(ret_link, "MPI could not be begun");
    }
    if (count > AQ_RANKS_MAX) {
        return fail(ret_link, "a learner has 64 ranks at most");
    }
    mpi_state *state = aq_alloc(1, sizeof(*state));
    if (state == NULL) {
        return fail(ret_link, "out of memory");
    }
    atomic_init(&state->patience_ms, FIRST_PATIENCE_MS);
    ret_link->rank = (uint32_t)rank;
    ret_link->count = (uint32_t)count;
    ret_link->state = state;
    return 0;
}
