/*
 * The worker's life: down -> starting (spawned, hello awaited) -> ready -> down. Only the first
 * start is waited for; all others happen between the calls of whoever steps the environments, or
 * while they wait for it (aq_python_worker_await).
 */
#include "envs/python/python_worker.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "envs/env_open.h"

/* Importing a large package from a cold disk takes its time. */
enum { START_TIMEOUT_MS = 120000, LAST_WORDS_MS = 200, END_MS = 2000, HOW_BYTES = 64 };

#define ASKING_NS       (AQ_NS_PER_MS / 5)
#define BACK_OFF_MIN_NS (AQ_NS_PER_S / 10)
#define BACK_OFF_MAX_NS (10 * AQ_NS_PER_S)
#define STEADY_NS       (60 * AQ_NS_PER_S) /* who lived that long begins with the least again */

/* Address space, not memory: pages are there once they are written to. */
#define MEMORY_BYTES_MAX (UINT64_C(1) << 34)

/* ---- down ----------------------------------------------------------------------------------- */

void aq_python_worker_note_text(aq_python_worker *worker, const char *format, ...)
{
    va_list arguments;
    const int named = snprintf(worker->failure, sizeof(worker->failure), "py:%s: ", worker->task);
    va_start(arguments, format);
    (void)vsnprintf(worker->failure + named, sizeof(worker->failure) - (size_t)named, format,
                    arguments);
    va_end(arguments);
}

static void plan_restart(aq_python_worker *worker)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    worker->phase = AQ_PYTHON_DOWN;
    if (worker->back_off_ns == 0 || now_ns - worker->started_ns > STEADY_NS) {
        worker->back_off_ns = BACK_OFF_MIN_NS;
    } else if (worker->back_off_ns < BACK_OFF_MAX_NS / 2) {
        worker->back_off_ns *= 2;
    } else {
        worker->back_off_ns = BACK_OFF_MAX_NS;
    }
    worker->retry_ns = now_ns + worker->back_off_ns;
}

/* Its channel ended. */
static void bury(aq_python_worker *worker)
{
    char how[HOW_BYTES] = "is gone";
    aq_python_process_finish(&worker->process, LAST_WORDS_MS, how, sizeof(how));
    aq_python_worker_note_text(worker, "the Python worker %s; it is started again", how);
    plan_restart(worker);
}

static void kill_for(aq_python_worker *worker, const char *reason)
{
    aq_python_process_kill(&worker->process);
    aq_python_worker_note_text(worker, "the Python worker %s; it was killed and is started again",
                               reason);
    plan_restart(worker);
}

bool aq_python_worker_is_ours(aq_python_worker *worker)
{
    if (worker->owner == getpid()) {
        return true;
    }
    aq_python_process_forget(&worker->process);
    aq_python_worker_note_text(worker, "it was opened before a fork; open it in this process");
    return false;
}

/* ---- hello ---------------------------------------------------------------------------------- */

static void read_space(const aq_python_space *from, aq_space *to)
{
    *to = (aq_space){.kind = from->kind,
                     .dtype = from->dtype,
                     .rank = from->rank,
                     .choice_count = from->choice_count,
                     .bound_count = from->bound_count};
    memcpy(to->shape, from->shape, sizeof(to->shape));
    memcpy(to->low, from->low, sizeof(to->low));
    memcpy(to->high, from->high, sizeof(to->high));
}

/* Receives the first message. AQ_E_AGAIN when it does not come in that time. */
static int receive_hello(aq_python_worker *worker, int timeout_ms, aq_python_hello *hello)
{
    struct pollfd poller = {.fd = worker->process.channel, .events = POLLIN};
    int ready;
    do {
        ready = poll(&poller, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) {
        return AQ_E_AGAIN;
    }
    memset(hello, 0, sizeof(*hello));
    const size_t head = offsetof(aq_python_hello, text);
    const ssize_t got = recv(worker->process.channel, hello, sizeof(*hello) - 1, MSG_DONTWAIT);
    if (got <= 0) {
        return AQ_E_CLOSED;
    }
    if ((size_t)got < head || hello->magic != AQ_PYTHON_MAGIC ||
        hello->version != AQ_PYTHON_VERSION) {
        return AQ_E_VERSION;
    }
    return 0;
}

static int read_hello(const aq_python_worker *worker, const aq_python_hello *hello,
                      aq_schema *ret_schema, aq_error *error)
{
    if (hello->status != AQ_PYTHON_OK) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "py:%s: %s", worker->task,
                       aq_env_said_last(hello->text));
    }
    read_space(&hello->observation, &ret_schema->obs);
    read_space(&hello->action, &ret_schema->action);
    const int rc = aq_schema_validate(ret_schema, error);
    return rc != 0 ? aq_fail_context(error, rc, "py:%s", worker->task) : 0;
}

/* ---- memory --------------------------------------------------------------------------------- */

static void lay_out(aq_python_worker *worker)
{
    const size_t row_bytes[AQ_PYTHON_COLUMNS] = {
        [AQ_PYTHON_LANES] = sizeof(uint32_t),
        [AQ_PYTHON_WORKS] = sizeof(uint8_t),
        [AQ_PYTHON_SEEDS] = sizeof(uint64_t),
        [AQ_PYTHON_ACTIONS] = worker->action_bytes,
        [AQ_PYTHON_ENDS] = sizeof(uint8_t),
        [AQ_PYTHON_READIES] = sizeof(uint8_t),
        [AQ_PYTHON_REWARDS] = sizeof(float),
        [AQ_PYTHON_OBSERVATIONS] = worker->obs_bytes,
        [AQ_PYTHON_FIRST_OBSERVATIONS] = worker->obs_bytes,
        [AQ_PYTHON_FAILURES] = AQ_PYTHON_TEXT_MAX,
    };
    size_t slot_bytes = 0;
    for (size_t i = 0; i < AQ_PYTHON_COLUMNS; i++) {
        slot_bytes += row_bytes[i];
    }
    const uint64_t fitting = MEMORY_BYTES_MAX / slot_bytes - 1;
    worker->lanes_max = fitting < AQ_PYTHON_LANES_MAX ? (uint32_t)fitting : AQ_PYTHON_LANES_MAX;
    worker->layout = (aq_python_layout){.magic = AQ_PYTHON_MAGIC, .slots = worker->lanes_max + 1};
    uint64_t bytes = 0;
    for (size_t i = 0; i < AQ_PYTHON_COLUMNS; i++) {
        worker->layout.offsets[i] = bytes;
        bytes += i == AQ_PYTHON_PICTURE ? sizeof(aq_python_picture)
                                        : row_bytes[i] * worker->layout.slots;
        bytes = (bytes + AQ_ALIGNMENT_BYTES - 1) & ~(uint64_t)(AQ_ALIGNMENT_BYTES - 1);
    }
    worker->layout.bytes = bytes;
}

static int map_memory(aq_python_worker *worker, aq_error *error)
{
    if (ftruncate(worker->memory, (off_t)worker->layout.bytes) == 0) {
        void *rows = mmap(NULL, worker->layout.bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, worker->memory, 0);
        if (rows != MAP_FAILED) {
            worker->rows = rows;
            return 0;
        }
    }
    return aq_fail(error, aq_error_from_errno(errno), "py:%s: %" PRIu64 " bytes to share: %s",
                   worker->task, worker->layout.bytes, strerror(errno));
}

/* ---- ready ---------------------------------------------------------------------------------- */

/* Sends the layout. */
static bool greet(aq_python_worker *worker)
{
    if (send(worker->process.channel, &worker->layout, sizeof(worker->layout), MSG_NOSIGNAL) < 0) {
        return false;
    }
    worker->phase = AQ_PYTHON_READY;
    worker->generation++;
    return true;
}

/* Spawns it and waits for its hello, with that interpreter. */
static int start_with(aq_python_worker *worker, const char *interpreter, aq_python_hello *hello,
                      aq_error *error)
{
    char how[HOW_BYTES] = "";
    int rc =
        aq_python_process_start(interpreter, worker->task, worker->memory, &worker->process, error);
    if (rc != 0) {
        return rc;
    }
    rc = receive_hello(worker, START_TIMEOUT_MS, hello);
    if (rc == 0) {
        return 0;
    }
    if (rc == AQ_E_CLOSED) {
        aq_python_process_finish(&worker->process, LAST_WORDS_MS, how, sizeof(how));
        return aq_fail(error, AQ_E_UNSUPPORTED, "py:%s: %s %s before it said what the task is",
                       worker->task, interpreter, how);
    }
    aq_python_process_kill(&worker->process);
    return rc == AQ_E_AGAIN ? aq_fail(error, AQ_E_TIMEOUT, "py:%s: nothing from %s within %d s",
                                      worker->task, interpreter, START_TIMEOUT_MS / 1000)
                            : aq_fail(error, AQ_E_VERSION,
                                      "py:%s: the Python package actorq_env is of another version",
                                      worker->task);
}

/* The first interpreter that exists and has NumPy. */
static int start_first(aq_python_worker *worker, aq_python_hello *hello, aq_error *error)
{
    aq_error first = {0};
    for (uint32_t i = 0;; i++) {
        const char *interpreter = aq_python_interpreter(i);
        if (interpreter == NULL) {
            return aq_fail(error, first.code, "%s", first.text);
        }
        int rc = start_with(worker, interpreter, hello, error);
        if (rc == 0 && hello->status != AQ_PYTHON_NO_NUMPY) {
            worker->interpreter = i;
            return 0;
        }
        if (rc == 0) {
            aq_python_process_kill(&worker->process);
            rc = aq_fail(error, AQ_E_UNSUPPORTED,
                         "py:%s: %s; Debian's package is python3-numpy, and ACTORQ_PYTHON chooses "
                         "another Python",
                         worker->task, hello->text);
        } else if (rc != AQ_E_NOT_FOUND) {
            return rc;
        }
        if (i == 0) {
            first = error != NULL ? *error : (aq_error){.code = rc};
        }
    }
}

static int start(aq_python_worker *worker, aq_error *error)
{
    aq_python_hello hello;
    int rc = aq_python_memory_create(&worker->memory, error);
    worker->started_ns = aq_clock_monotonic_ns();
    rc = rc != 0 ? rc : start_first(worker, &hello, error);
    rc = rc != 0 ? rc : read_hello(worker, &hello, &worker->schema, error);
    if (rc != 0) {
        return rc;
    }
    worker->step_limit = hello.step_limit;
    worker->draws = hello.draws != 0;
    worker->reward_threshold = isfinite(hello.reward_threshold) ? hello.reward_threshold : NAN;
    worker->obs_bytes = aq_space_bytes(&worker->schema.obs);
    worker->action_bytes = aq_space_bytes(&worker->schema.action);
    lay_out(worker);
    rc = map_memory(worker, error);
    if (rc == 0 && !greet(worker)) {
        rc = aq_fail(error, AQ_E_IO, "py:%s: the Python worker ended at once", worker->task);
    }
    return rc;
}

int aq_python_worker_create(const char *task, uint32_t timeout_s, aq_python_worker **ret_worker,
                            aq_error *error)
{
    aq_python_worker *worker = aq_alloc(1, sizeof(*worker));
    if (worker == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for py:%s", task);
    }
    worker->memory = -1;
    worker->owner = getpid();
    worker->timeout_ns = timeout_s * AQ_NS_PER_S;
    int rc = aq_text_set(worker->task, sizeof(worker->task), task);
    AQ_ASSERT(rc == 0); /* it is part of a task's name */
    rc = start(worker, error);
    if (rc != 0) {
        aq_python_worker_destroy(worker);
        return rc;
    }
    *ret_worker = worker;
    return 0;
}

void aq_python_worker_destroy(aq_python_worker *worker)
{
    if (worker == NULL) {
        return;
    }
    if (aq_python_worker_is_ours(worker) && worker->phase == AQ_PYTHON_READY) {
        char how[HOW_BYTES];
        const aq_python_round none = {0};
        (void)send(worker->process.channel, &none, sizeof(none), MSG_NOSIGNAL);
        aq_python_process_finish(&worker->process, END_MS, how, sizeof(how));
    }
    aq_python_process_kill(&worker->process);
    if (worker->rows != NULL) {
        (void)munmap(worker->rows, worker->layout.bytes);
    }
    if (worker->memory >= 0) {
        (void)close(worker->memory);
    }
    aq_free(worker);
}

/* ---- again ---------------------------------------------------------------------------------- */

static void restart(aq_python_worker *worker)
{
    aq_error error = {0};
    worker->started_ns = aq_clock_monotonic_ns();
    if (aq_python_process_start(aq_python_interpreter(worker->interpreter), worker->task,
                                worker->memory, &worker->process, &error) != 0) {
        aq_python_worker_note_text(worker, "%s", error.text);
        plan_restart(worker);
        return;
    }
    worker->phase = AQ_PYTHON_STARTING;
}

/* Another process has to be for the same task as the first. */
static void await_hello(aq_python_worker *worker, int timeout_ms)
{
    aq_python_hello hello;
    aq_schema schema = {0};
    aq_error error = {0};
    const int rc = receive_hello(worker, timeout_ms, &hello);
    if (rc == AQ_E_AGAIN) {
        if (aq_clock_monotonic_ns() - worker->started_ns > START_TIMEOUT_MS * AQ_NS_PER_MS) {
            kill_for(worker, "does not start");
        }
    } else if (rc == AQ_E_CLOSED) {
        bury(worker);
    } else if (rc != 0) {
        kill_for(worker, "is of another version");
    } else if (read_hello(worker, &hello, &schema, &error) != 0) {
        kill_for(worker, "refuses the task");
        (void)snprintf(worker->failure, sizeof(worker->failure), "%s", error.text);
    } else if (aq_schema_hash(&schema) != aq_schema_hash(&worker->schema)) {
        kill_for(worker, "has other spaces than the one before");
    } else if (!greet(worker)) {
        bury(worker);
    }
}

static bool become_ready(aq_python_worker *worker, int hello_timeout_ms)
{
    if (worker->phase == AQ_PYTHON_DOWN && aq_clock_monotonic_ns() >= worker->retry_ns) {
        restart(worker);
    }
    if (worker->phase == AQ_PYTHON_STARTING) {
        await_hello(worker, hello_timeout_ms);
    }
    return worker->phase == AQ_PYTHON_READY;
}

bool aq_python_worker_is_ready(aq_python_worker *worker)
{
    return aq_python_worker_is_ours(worker) && become_ready(worker, 0);
}

/* Who is asked nothing says nothing, so the end of its channel is all there is to see. */
static bool has_ended(const aq_python_worker *worker)
{
    struct pollfd poller = {.fd = worker->process.channel};
    return poll(&poller, 1, 0) > 0;
}

void aq_python_worker_await(aq_python_worker *worker)
{
    if (aq_python_worker_is_ours(worker)) {
        if (worker->phase == AQ_PYTHON_READY && has_ended(worker)) {
            bury(worker);
        }
        aq_clock_wait_until(worker->retry_ns); /* it is past, of one that was started since */
        (void)become_ready(worker, START_TIMEOUT_MS);
    }
}

/* ---- work ----------------------------------------------------------------------------------- */

void *aq_python_worker_row(const aq_python_worker *worker, enum aq_python_column column,
                           size_t row_bytes, uint32_t slot)
{
    AQ_ASSERT(slot < worker->layout.slots);
    return worker->rows + worker->layout.offsets[column] + slot * row_bytes;
}

void aq_python_worker_put(aq_python_worker *worker, uint32_t slot, uint32_t lane,
                          enum aq_python_work work, uint64_t seed)
{
    AQ_ASSERT(lane < worker->lanes_max);
    *(uint32_t *)aq_python_worker_row(worker, AQ_PYTHON_LANES, sizeof(uint32_t), slot) = lane;
    *(uint8_t *)aq_python_worker_row(worker, AQ_PYTHON_WORKS, 1, slot) = (uint8_t)work;
    *(uint64_t *)aq_python_worker_row(worker, AQ_PYTHON_SEEDS, sizeof(uint64_t), slot) = seed;
}

/* The worker's answer. A round of a small environment is over sooner than a sleeping thread wakes,
 * so the first of it is spent asking, with the core offered to whoever else wants it. */
static ssize_t receive_answer(const aq_python_worker *worker, uint32_t *answer)
{
    const int64_t start_ns = aq_clock_monotonic_ns();
    struct pollfd poller = {.fd = worker->process.channel, .events = POLLIN};
    bool is_late = false; /* then it is asked once more: this thread may have stood still */
    for (;;) {
        const ssize_t got = recv(worker->process.channel, answer, sizeof(*answer), MSG_DONTWAIT);
        if (got >= 0 || is_late || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            return got;
        }
        const int64_t left_ns = start_ns + worker->timeout_ns - aq_clock_monotonic_ns();
        is_late = left_ns <= 0;
        if (left_ns > worker->timeout_ns - ASKING_NS) {
            (void)sched_yield();
        } else if (!is_late) { /* signals wake it, and change nothing about the end */
            (void)poll(&poller, 1, (int)(left_ns / AQ_NS_PER_MS + 1));
        }
    }
}

bool aq_python_worker_work(aq_python_worker *worker, uint32_t first, uint32_t count)
{
    const aq_python_round round = {.first = first, .count = count};
    uint32_t answer = 0;
    AQ_ASSERT(worker->phase == AQ_PYTHON_READY);
    AQ_ASSERT(count > 0);
    if (send(worker->process.channel, &round, sizeof(round), MSG_NOSIGNAL) < 0) {
        bury(worker);
        return false;
    }
    const ssize_t got = receive_answer(worker, &answer);
    if (got == (ssize_t)sizeof(answer) && answer == AQ_PYTHON_MAGIC) {
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        char reason[HOW_BYTES];
        (void)snprintf(reason, sizeof(reason), "did not answer within %" PRId64 " s",
                       worker->timeout_ns / AQ_NS_PER_S);
        kill_for(worker, reason);
    } else if (got <= 0) {
        bury(worker);
    } else {
        kill_for(worker, "talks nonsense");
    }
    return false;
}

void aq_python_worker_note(aq_python_worker *worker, uint32_t slot)
{
    char *text = aq_python_worker_row(worker, AQ_PYTHON_FAILURES, AQ_PYTHON_TEXT_MAX, slot);
    text[AQ_PYTHON_TEXT_MAX - 1] = '\0'; /* the memory is Python's, too */
    aq_python_worker_note_text(worker, "%s", text);
}
