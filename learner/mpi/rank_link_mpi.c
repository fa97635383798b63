/*
 * Rank link over MPI: a module of its own, actorq-mpi.so, which a learner loads when it was started
 * as one of several ranks. It knows nothing of the learner but the link's header, and is the only
 * file that knows MPI.
 *
 * Each call is a non-blocking collective that is tested until it is done or patience is over: a
 * rank that is dead, stopped or out of reach ends in words. It is tested without a pause for as
 * long as others usually take, and with short ones afterwards, so that a rank which waits for
 * experience leaves the processor to others. After a call that failed MPI is left alone: what is
 * under way would never come to its end. MPI's beginning, parting and end wait in MPI itself, which
 * knows no patience: an alarm ends the process there, in words.
 */
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "learner/gradients/rank_link.h"

/* Joining takes as long as the slowest host needs to load and to read a checkpoint. */
enum { FIRST_PATIENCE_S = 120 };

/* Of testing without a pause, and of the pauses after it. */
#define EAGER_NS (2 * AQ_NS_PER_MS)
#define PAUSE_NS (100 * AQ_NS_PER_US)

/* From one test to the next, no more counts as others' silence: where this rank stood still, they
 * may have done so with it. */
#define SILENCE_PER_TEST_NS (50 * AQ_NS_PER_MS)

/* What MPI_Finalize may take. It waits for all, and rank 0 comes last: once the last checkpoint is
 * written, which takes as long as the disk does. */
enum { FINALIZE_S = 20, LAST_CHECKPOINT_S = 600 };

typedef struct mpi_state {
    aq_rank_link *world; /* that it is a part of, or itself: whose patience and trouble count */
    MPI_Comm comm;
    _Atomic int64_t patience_ms;                    /* the world's */
    int counts[AQ_RANKS_MAX], places[AQ_RANKS_MAX]; /* of pieces of a block */
    int own_counts[AQ_RANKS_MAX], own_places[AQ_RANKS_MAX];
} mpi_state;

/* By the signal itself, whose handler is gone once it is here. */
static void give_up(int number)
{
    static const char words[] = "actorq-learner: another rank did not come: it is gone, stopped or "
                                "out of reach\n";
    const ssize_t rc = write(STDERR_FILENO, words, sizeof(words) - 1);
    (void)rc;
    (void)raise(number);
}

/* Of what MPI is called for next; 0: it has come back. */
static void bound(unsigned seconds)
{
    const struct sigaction action = {.sa_handler = give_up, .sa_flags = (int)SA_RESETHAND};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm(seconds);
}

static int begin(int *ret_provided)
{
    bound(FIRST_PATIENCE_S);
    const int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, ret_provided);
    bound(0);
    return rc;
}

static int split(MPI_Comm whole, uint32_t color, uint32_t rank, MPI_Comm *ret_part)
{
    bound(FIRST_PATIENCE_S);
    const int rc = MPI_Comm_split(whole, (int)color, (int)rank, ret_part);
    bound(0);
    return rc;
}

static void pause_for(int64_t silent_ns)
{
    if (silent_ns < EAGER_NS) {
        (void)sched_yield();
    } else {
        aq_clock_wait_until(aq_clock_monotonic_ns() + PAUSE_NS);
    }
}

static int fail(aq_rank_link *link, const char *reason)
{
    const mpi_state *state = link->state;
    aq_rank_link *told = state != NULL ? state->world : link;
    (void)snprintf(told->trouble, sizeof(told->trouble), "%s", reason);
    return -1;
}

static _Atomic int64_t *patience_of(const mpi_state *state)
{
    mpi_state *world = state->world->state;
    return &world->patience_ms;
}

/* `started` is what the collective's start gave. */
static int wait_for(aq_rank_link *link, int started, MPI_Request *request)
{
    mpi_state *state = link->state;
    const int64_t begun_ns = aq_clock_monotonic_ns();
    int64_t tested_ns = begun_ns, silent_ns = 0;
    int is_done = 0;
    int rc = started;
    while (rc == MPI_SUCCESS) {
        rc = MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        const int64_t now_ns = aq_clock_monotonic_ns();
        if (is_done) {
            link->spent_ns += now_ns - begun_ns;
            return 0;
        }
        const int64_t since_ns = now_ns - tested_ns;
        silent_ns += since_ns < SILENCE_PER_TEST_NS ? since_ns : SILENCE_PER_TEST_NS;
        tested_ns = now_ns;
        const int64_t patience_ms = atomic_load(patience_of(state));
        if (silent_ns > patience_ms * AQ_NS_PER_MS) {
            char reason[AQ_RANK_TROUBLE_MAX];
            (void)snprintf(reason, sizeof(reason),
                           "another rank was silent for %lld ms: it is gone, stopped or out of "
                           "reach",
                           (long long)patience_ms);
            return fail(link, reason);
        }
        pause_for(silent_ns);
    }
    return fail(link, "MPI could not send or receive");
}

static int check(aq_rank_link *link, size_t bytes)
{
    const mpi_state *state = link->state;
    if (state->world->trouble[0] != '\0') {
        return -1; /* as before */
    }
    if (bytes > INT32_MAX) {
        return fail(link, "ranks exchange 2 GiB at once at most");
    }
    return 0;
}

/* Pieces of a block, each rank's. */
static int cut(aq_rank_link *link, size_t bytes, size_t piece)
{
    mpi_state *state = link->state;
    if (check(link, bytes) != 0) {
        return -1;
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
                                   state->own_counts, state->own_places, MPI_BYTE, state->comm,
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
                                    MPI_BYTE, state->comm, &request),
                    &request);
}

static int spread(aq_rank_link *link, uint32_t from, void *block, size_t bytes)
{
    const mpi_state *state = link->state;
    MPI_Request request;
    if (check(link, bytes) != 0) {
        return -1;
    }
    link->sent_bytes += bytes * (link->count - 1) / link->count;
    return wait_for(link, MPI_Ibcast(block, (int)bytes, MPI_BYTE, (int)from, state->comm, &request),
                    &request);
}

static void set_patience(aq_rank_link *link, int64_t patience_ms)
{
    atomic_store(patience_of(link->state), patience_ms);
}

/* What it has of MPI goes with MPI. */
static void close_part(aq_rank_link *link, bool in_order)
{
    (void)in_order;
    aq_free(link->state);
    *link = (aq_rank_link){0};
}

/* Out of order nothing of MPI is called any more: the launcher ends what others wait for. */
static void close_link(aq_rank_link *link, bool in_order)
{
    if (in_order) {
        bound(link->rank == 0 ? FINALIZE_S : LAST_CHECKPOINT_S);
        (void)MPI_Finalize();
        bound(0);
    }
    aq_free(link->state);
    *link = (aq_rank_link){0};
}

static int part(aq_rank_link *link, uint32_t color, aq_rank_link *ret_part)
{
    const mpi_state *whole = link->state;
    int rank = 0, count = 0;
    mpi_state *state = aq_alloc(1, sizeof(*state));
    if (state == NULL || check(link, 0) != 0 ||
        split(whole->comm, color, link->rank, &state->comm) != MPI_SUCCESS ||
        MPI_Comm_rank(state->comm, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(state->comm, &count) != MPI_SUCCESS) {
        aq_free(state);
        return fail(link, "the ranks could not be parted");
    }
    state->world = whole->world;
    *ret_part = (aq_rank_link){.rank = (uint32_t)rank,
                               .count = (uint32_t)count,
                               .state = state,
                               .swap = swap,
                               .join = join,
                               .spread = spread,
                               .part = part,
                               .set_patience = set_patience,
                               .close = close_part};
    return 0;
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
                               .part = part,
                               .set_patience = set_patience,
                               .close = close_link};
    if (begin(&provided) != MPI_SUCCESS || provided < MPI_THREAD_SERIALIZED ||
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
    atomic_init(&state->patience_ms, FIRST_PATIENCE_S * 1000);
    state->world = ret_link;
    state->comm = MPI_COMM_WORLD;
    ret_link->rank = (uint32_t)rank;
    ret_link->count = (uint32_t)count;
    ret_link->state = state;
    return 0;
}
