/*
 * Lanes and batches. Announced lanes gather in a batch, which the first step of any of them sends.
 * Work that was not announced (a reset that could not be foreseen, a step on its own) goes through
 * the slot that no batch uses, so that results not yet fetched stay where they are.
 *
 * The next episode is begun ahead of time with the seed that the lane would draw next. If it draws
 * another after all, because it was started anew or somebody else drew in between, that episode is
 * not used, only time is lost, and for some episodes that is not tried again.
 */
#include "envs/python/python_env.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/experience/finite.h"
#include "envs/python/python_worker.h"

enum { TIMEOUT_S = 30, TIMEOUT_S_MAX = 86400, UNFORESEEN_EPISODES = 16 };

typedef struct batch {
    uint64_t number;     /* from 1 */
    uint64_t generation; /* of the worker that it is for: another one knows nothing of its lanes */
    uint32_t count;      /* slots in use */
    bool sent;
} batch;

typedef struct python_params {
    aq_python_worker *worker;
    batch *batch;
    uint8_t *lane_taken; /* (worker->lanes_max) */
} python_params;

typedef struct python_state {
    uint32_t lane;
    uint32_t slot;       /* in the batch that it is in */
    uint64_t batch;      /* 0: none */
    bool is_taken;       /* what the batch did for it */
    uint64_t generation; /* of the worker that knows this episode; 0: there is none */
    uint64_t next_seed;
    uint32_t unforeseen; /* episodes that are not begun ahead of time */
    uint8_t *row;        /* what was seen last: those in memory that is shared are overwritten */
} python_state;

/* ---- open, close ---------------------------------------------------------------------------- */

static void close_env(void *params)
{
    python_params *p = params;
    aq_python_worker_destroy(p->worker);
    aq_free(p->batch);
    aq_free(p->lane_taken);
}

static int open_env(void *params, aq_env_opening *opening, aq_error *error)
{
    python_params *p = params;
    uint32_t timeout_s = TIMEOUT_S;
    int rc = aq_env_option_u32(opening->options, "timeout_s", 1, TIMEOUT_S_MAX, &timeout_s, error);
    rc = rc != 0 ? rc : aq_python_worker_create(opening->argument, timeout_s, &p->worker, error);
    if (rc != 0) {
        return rc;
    }
    p->batch = aq_alloc(1, sizeof(*p->batch));
    p->lane_taken = aq_alloc(p->worker->lanes_max, sizeof(uint8_t));
    if (p->batch == NULL || p->lane_taken == NULL) {
        close_env(p);
        return aq_fail(error, AQ_E_NOMEM, "no memory for py:%s", opening->argument);
    }
    opening->can_be_drawn = p->worker->draws;
    opening->step_limit = p->worker->step_limit;
    opening->reward_threshold = p->worker->reward_threshold;
    return 0;
}

static void schema(const void *params, aq_schema *ret_schema)
{
    *ret_schema = ((const python_params *)params)->worker->schema;
}

/* ---- lanes ---------------------------------------------------------------------------------- */

static int begin(const void *params, void *state, aq_error *error)
{
    const python_params *p = params;
    for (uint32_t lane = 0; lane < p->worker->lanes_max; lane++) {
        if (!p->lane_taken[lane]) {
            uint8_t *row = aq_alloc(1, p->worker->obs_bytes);
            if (row == NULL) {
                return aq_fail(error, AQ_E_NOMEM, "no memory for an observation of py:%s",
                               p->worker->task);
            }
            p->lane_taken[lane] = 1;
            *(python_state *)state = (python_state){.lane = lane, .row = row};
            return 0;
        }
    }
    return aq_fail(error, AQ_E_UNSUPPORTED, "py:%s: more than %" PRIu32 " environments",
                   p->worker->task, p->worker->lanes_max);
}

/* Whether the lane is in the batch that gathers now. */
static bool is_announced(const python_params *p, const python_state *s)
{
    return s->batch != 0 && s->batch == p->batch->number && !p->batch->sent;
}

/* Takes back what was announced and is not to be done. */
static void withdraw(const python_params *p, const python_state *s)
{
    if (is_announced(p, s)) {
        aq_python_worker_put(p->worker, s->slot, s->lane, AQ_PYTHON_NOTHING, 0);
    }
}

/* Works in the slot of its own; false: it failed, and why is noted. */
static bool work_alone(const python_params *p, python_state *s, enum aq_python_work work,
                       uint64_t seed)
{
    const uint32_t slot = p->worker->lanes_max;
    withdraw(p, s);
    aq_python_worker_put(p->worker, slot, s->lane, work, seed);
    s->slot = slot;
    s->batch = 0;
    return aq_python_worker_work(p->worker, slot, 1);
}

/* Whether the worker that runs knows the lane's episode. */
static bool is_known(const python_params *p, const python_state *s)
{
    return aq_python_worker_is_ours(p->worker) && s->generation == p->worker->generation &&
           p->worker->phase == AQ_PYTHON_READY;
}

static void end(const void *params, void *state)
{
    const python_params *p = params;
    python_state *s = state;
    if (is_known(p, s)) {
        (void)work_alone(p, s, AQ_PYTHON_CLOSE, 0);
    }
    aq_free(s->row);
    p->lane_taken[s->lane] = 0;
}

/* ---- what comes back ------------------------------------------------------------------------ */

/* After what Python itself does not notice: the next episode has a new environment, as it has after
 * an exception. */
static void give_up(const python_params *p, python_state *s)
{
    (void)work_alone(p, s, AQ_PYTHON_CLOSE, 0);
}

/* Copies the lane's observation to the caller, unless it is not one. */
static bool fetch_row(const python_params *p, python_state *s, enum aq_python_column column,
                      void *obs)
{
    aq_python_worker *w = p->worker;
    char why[AQ_ROW_FAULT_MAX];
    memcpy(obs, aq_python_worker_row(w, column, w->obs_bytes, s->slot), w->obs_bytes);
    if (aq_space_row_fault(&w->schema.obs, obs, why, sizeof(why))) {
        aq_python_worker_note_text(w, "it %s", why);
        give_up(p, s);
        return false;
    }
    memcpy(s->row, obs, w->obs_bytes);
    return true;
}

static uint64_t draw_seed(aq_rng *rng)
{
    return aq_rng_next(rng) >> 32; /* some libraries take no more */
}

/* An episode has begun; what the lane's next seed will be. */
static void note_begun(const python_params *p, python_state *s, const aq_rng *rng)
{
    aq_rng ahead = *rng;
    s->generation = p->worker->generation;
    s->next_seed = draw_seed(&ahead);
    s->unforeseen -= s->unforeseen > 0;
}

/* ---- reset ---------------------------------------------------------------------------------- */

/* Whether the next episode has begun in the batch of the lane's last step, with that seed. */
static bool has_begun(const python_params *p, python_state *s, uint64_t seed)
{
    if (s->batch == 0 || s->batch != p->batch->number || !p->batch->sent ||
        s->generation != p->worker->generation ||
        *(uint8_t *)aq_python_worker_row(p->worker, AQ_PYTHON_READIES, 1, s->slot) == 0) {
        return false;
    }
    if (s->next_seed != seed) {
        s->unforeseen = UNFORESEEN_EPISODES;
        return false;
    }
    return true;
}

static bool reset_now(const python_params *p, python_state *s, uint64_t seed, void *obs)
{
    if (!work_alone(p, s, AQ_PYTHON_RESET, seed)) {
        return false;
    }
    if (*(uint8_t *)aq_python_worker_row(p->worker, AQ_PYTHON_ENDS, 1, s->slot) !=
        AQ_STEP_GOES_ON) {
        aq_python_worker_note(p->worker, s->slot);
        return false;
    }
    return fetch_row(p, s, AQ_PYTHON_OBSERVATIONS, obs);
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    const python_params *p = params;
    python_state *s = state;
    aq_rng drawn = *rng;
    const uint64_t seed = draw_seed(&drawn);
    if (!aq_python_worker_is_ready(p->worker)) {
        return false;
    }
    const bool begun = has_begun(p, s, seed) ? fetch_row(p, s, AQ_PYTHON_FIRST_OBSERVATIONS, obs)
                                             : reset_now(p, s, seed, obs);
    s->batch = 0;
    s->generation = 0;
    *rng = drawn; /* also where it failed, which it may do again with the same seed */
    if (begun) {
        note_begun(p, s, rng);
    }
    return begun;
}

static void await(const void *params)
{
    aq_python_worker_await(((const python_params *)params)->worker);
}

/* ---- step ----------------------------------------------------------------------------------- */

static void announce(const void *params, void *state, const void *action)
{
    const python_params *p = params;
    python_state *s = state;
    aq_python_worker *w = p->worker;
    if (!is_known(p, s)) {
        return;
    }
    if (p->batch->sent || p->batch->generation != w->generation) {
        *p->batch = (batch){.number = p->batch->number + 1, .generation = w->generation};
    }
    if (!is_announced(p, s)) {
        s->slot = p->batch->count++;
        s->batch = p->batch->number;
        s->is_taken = false;
    }
    aq_python_worker_put(w, s->slot, s->lane,
                         s->unforeseen == 0 ? AQ_PYTHON_STEP_ON : AQ_PYTHON_STEP, s->next_seed);
    memcpy(aq_python_worker_row(w, AQ_PYTHON_ACTIONS, w->action_bytes, s->slot), action,
           w->action_bytes);
}

/* Has the step done, in its batch or alone: a batch does one, and who repeats an action takes
 * more. */
static bool work_step(const python_params *p, python_state *s, const void *action)
{
    aq_python_worker *w = p->worker;
    if (s->batch == 0 || s->batch != p->batch->number || s->is_taken) {
        memcpy(aq_python_worker_row(w, AQ_PYTHON_ACTIONS, w->action_bytes, w->lanes_max), action,
               w->action_bytes);
        return work_alone(p, s, AQ_PYTHON_STEP, s->next_seed);
    }
    s->is_taken = true;
    if (!p->batch->sent) {
        p->batch->sent = true;
        return aq_python_worker_work(w, 0, p->batch->count);
    }
    return true;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    const python_params *p = params;
    python_state *s = state;
    aq_python_worker *w = p->worker;
    (void)rng;
    if (!is_known(p, s) || !work_step(p, s, action)) {
        s->generation = 0;
        return AQ_STEP_FAILED; /* the worker that knew this episode is gone: it is noted why */
    }
    const uint8_t how = *(uint8_t *)aq_python_worker_row(w, AQ_PYTHON_ENDS, 1, s->slot);
    *reward = *(float *)aq_python_worker_row(w, AQ_PYTHON_REWARDS, sizeof(float), s->slot);
    bool sound = how <= AQ_STEP_TRUNCATED;
    if (!sound) {
        aq_python_worker_note(w, s->slot);
    } else if (!isfinite(*reward)) {
        aq_python_worker_note_text(w, "a reward of %g", (double)*reward);
        give_up(p, s);
        sound = false;
    } else {
        sound = fetch_row(p, s, AQ_PYTHON_OBSERVATIONS, obs);
    }
    if (!sound) {
        s->generation = 0;
        return AQ_STEP_FAILED;
    }
    return (enum aq_step_end)how;
}

static bool frame(const void *params, void *state, aq_env_frame *ret_frame)
{
    const python_params *p = params;
    python_state *s = state;
    if (!is_known(p, s) || !work_alone(p, s, AQ_PYTHON_DRAW, 0)) {
        return false;
    }
    if (*(uint8_t *)aq_python_worker_row(p->worker, AQ_PYTHON_ENDS, 1, s->slot) !=
        AQ_STEP_GOES_ON) {
        aq_python_worker_note(p->worker, s->slot);
        s->generation = 0; /* the worker has given the environment up */
        return false;
    }
    aq_python_picture *picture = aq_python_worker_row(p->worker, AQ_PYTHON_PICTURE, 0, 0);
    const uint32_t rows = picture->rows, columns = picture->columns;
    /* The memory is Python's, too. */
    if (rows == 0) {
        picture->bytes[AQ_PYTHON_PICTURE_MAX - 1] = 0;
        *ret_frame = (aq_env_frame){.text = (const char *)picture->bytes};
        return true;
    }
    if (columns == 0 || rows > AQ_PYTHON_PICTURE_MAX / 3 / columns) {
        aq_python_worker_note_text(p->worker, "a picture of %" PRIu32 " x %" PRIu32, rows, columns);
        return false;
    }
    *ret_frame = (aq_env_frame){.rows = rows, .columns = columns, .pixels = picture->bytes};
    return true;
}

static const char *failure(const void *params, const void *state)
{
    (void)state;
    return ((const python_params *)params)->worker->failure;
}

static void observe(const void *params, const void *state, void *obs)
{
    memcpy(obs, ((const python_state *)state)->row,
           ((const python_params *)params)->worker->obs_bytes);
}

const aq_env_class aq_python_env = {
    .name = "py:",
    .summary = "A Gymnasium environment in Python: py:gymnasium:CartPole-v1, py:my_module:MyEnv.",
    .options = "timeout_s (30: the longest that a round of steps may take)",
    .reward_threshold = NAN,
    .runs_code = true,
    .works_elsewhere = true,
    .params_bytes = sizeof(python_params),
    .state_bytes = sizeof(python_state),
    .open = open_env,
    .close = close_env,
    .schema = schema,
    .begin = begin,
    .end = end,
    .reset = reset,
    .await = await,
    .announce = announce,
    .step = step,
    .frame = frame,
    .failure = failure,
    .observe = observe,
};
