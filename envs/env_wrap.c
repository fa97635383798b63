/*
 * A state of a wrapped environment is
 *
 *   wrap_state | the inner state | frame_stack observation rows, the newest last | the last action
 *
 * in one block, so that it is as plain as the inner one. The class is part of the parameters, since
 * its sizes are those of the environment inside.
 */
#include "envs/env_wrap.h"

#include <math.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/experience/frames.h"
#include "envs/frame_stack.h"
#include "envs/shown_state.h"

enum { ACTION_REPEAT_MAX = 64, TIME_LIMIT_MAX = 1 << 30, SLEEP_US_MAX = 1000000 };
#define SCALE_MIN 1e-6
#define SCALE_MAX 1e6

/* Each part of a state may hold anything that malloc may. */
enum { PART_ALIGNMENT = _Alignof(max_align_t) };

typedef struct wrap_options {
    uint32_t action_repeat, frame_stack, sleep_us;
    double obs_scale, reward_scale, sticky;
    bool clip_reward;
    uint32_t shown; /* enum aq_shown_state */
    uint32_t mask;  /* of the names below */
} wrap_options;

static const char *const mask_names[] = {"none", "velocity", NULL};

typedef struct wrap_params {
    aq_env_class class; /* of the outer environment */
    const aq_env_class *inner;
    void *inner_params;
    uint32_t inner_limit; /* single steps of an episode; 0: none */
    wrap_options options;
    aq_schema schema; /* of the outer environment */
    aq_frames frames; /* of what is seen */
    size_t frame_bytes;
    uint32_t states; /* of one that is shown by one of many; else 0 */
    size_t action_bytes;
    size_t inner_at, frames_at, action_at;
} wrap_params;

typedef struct wrap_state {
    uint32_t inner_steps; /* of the episode */
    uint32_t has_action;  /* a bool, without a gap behind it */
} wrap_state;

static uint8_t *part(const void *state, size_t at)
{
    return (uint8_t *)state + at;
}

static uint8_t *newest_frame(const wrap_params *p, const void *state)
{
    return part(state, p->frames_at + (p->options.frame_stack - 1) * p->frame_bytes);
}

/* ---- what is seen --------------------------------------------------------------------------- */

/* The number of the state, where it is shown by one of many. */
static uint32_t counted_state(const wrap_params *p, const void *state)
{
    return (uint32_t) * (const int32_t *)(const void *)newest_frame(p, state);
}

static void observe(const void *params, const void *state, void *obs)
{
    const wrap_params *p = params;
    if (p->states > 0) {
        aq_shown_state_write(p->options.shown, p->states, counted_state(p, state), obs);
        return;
    }
    if (p->frames.count == 0) {
        memcpy(obs, newest_frame(p, state), p->frame_bytes);
    } else {
        aq_frames_join(&p->frames, part(state, p->frames_at), obs);
    }
}

/* ---- playing -------------------------------------------------------------------------------- */

static void schema(const void *params, aq_schema *ret_schema)
{
    *ret_schema = ((const wrap_params *)params)->schema;
}

static int begin(const void *params, void *state, aq_error *error)
{
    const wrap_params *p = params;
    return p->inner->begin(p->inner_params, part(state, p->inner_at), error);
}

static void end(const void *params, void *state)
{
    const wrap_params *p = params;
    p->inner->end(p->inner_params, part(state, p->inner_at));
}

/* The newest frame as it is to be seen; what is hidden or scaled is of floats. */
static void retouch(const wrap_params *p, void *state)
{
    float *values = (float *)(void *)newest_frame(p, state);
    uint32_t hidden = p->options.mask > 0 ? p->inner->velocities : 0;
    for (size_t i = 0; hidden != 0; i++, hidden >>= 1) {
        values[i] = (hidden & 1) != 0 ? 0.0f : values[i];
    }
    const float scale = (float)p->options.obs_scale;
    for (size_t i = 0; scale != 1.0f && i < p->frame_bytes / sizeof(*values); i++) {
        values[i] *= scale;
    }
}

/* After a failure: what is in the newest frame need not be of its space. */
static void forget(const wrap_params *p, void *state)
{
    memset(newest_frame(p, state), 0, p->frame_bytes);
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    const wrap_params *p = params;
    uint8_t *newest = newest_frame(p, state);
    *(wrap_state *)state = (wrap_state){0};
    if (!p->inner->reset(p->inner_params, part(state, p->inner_at), rng, newest)) {
        forget(p, state);
        return false;
    }
    retouch(p, state);
    for (size_t i = 0; i + 1 < p->options.frame_stack; i++) {
        memcpy(part(state, p->frames_at + i * p->frame_bytes), newest, p->frame_bytes);
    }
    observe(p, state, obs);
    return true;
}

static void await(const void *params)
{
    const wrap_params *p = params;
    p->inner->await(p->inner_params);
}

static void announce(const void *params, void *state, const void *action)
{
    const wrap_params *p = params;
    p->inner->announce(p->inner_params, part(state, p->inner_at), action);
}

/* The action that is really taken; it becomes the last one. */
static const void *stick(const wrap_params *p, void *state, aq_rng *rng, const void *action)
{
    wrap_state *s = state;
    uint8_t *last = part(state, p->action_at);
    const bool sticks = p->options.sticky > 0.0 && aq_rng_uniform(rng) < p->options.sticky;
    if (!sticks || !s->has_action) {
        memcpy(last, action, p->action_bytes);
        s->has_action = true;
    }
    return last;
}

static float shape_reward(const wrap_options *options, double sum)
{
    const double reward = sum * options->reward_scale;
    return (float)(options->clip_reward && isfinite(reward) ? fmin(fmax(reward, -1.0), 1.0)
                                                            : reward);
}

static void sleep_for(uint32_t us)
{
    if (us > 0) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + us * AQ_NS_PER_US);
    }
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    const wrap_params *p = params;
    wrap_state *s = state;
    const void *taken = stick(p, state, rng, action);
    enum aq_step_end ended = AQ_STEP_GOES_ON;
    double sum = 0.0;
    memmove(part(state, p->frames_at), part(state, p->frames_at + p->frame_bytes),
            (p->options.frame_stack - 1) * p->frame_bytes);
    for (uint32_t i = 0; i < p->options.action_repeat && ended == AQ_STEP_GOES_ON; i++) {
        float one = 0.0f;
        sleep_for(p->options.sleep_us);
        ended = p->inner->step(p->inner_params, part(state, p->inner_at), rng, taken,
                               newest_frame(p, state), &one);
        sum += (double)one;
        if (++s->inner_steps == p->inner_limit) {
            break; /* whoever counts the outer steps truncates */
        }
    }
    if (ended == AQ_STEP_FAILED) {
        forget(p, state);
        *reward = 0.0f;
        return ended;
    }
    retouch(p, state);
    *reward = shape_reward(&p->options, sum);
    observe(p, state, obs);
    return ended;
}

static const char *failure(const void *params, const void *state)
{
    const wrap_params *p = params;
    return p->inner->failure(p->inner_params, part(state, p->inner_at));
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const wrap_params *p = params;
    p->inner->draw(p->inner_params, part(state, p->inner_at), canvas);
}

/* Only where what is seen is what the inner one shows. */
static void script(const void *params, const void *obs, void *action)
{
    const wrap_params *p = params;
    p->inner->script(p->inner_params, obs, action);
}

static bool frame(const void *params, void *state, aq_env_frame *ret_frame)
{
    const wrap_params *p = params;
    return p->inner->frame(p->inner_params, part(state, p->inner_at), ret_frame);
}

/* ---- making one ----------------------------------------------------------------------------- */

static void close_task(void *params)
{
    wrap_params *p = params;
    if (p->inner->close != NULL) {
        p->inner->close(p->inner_params);
    }
    aq_free(p->inner_params);
}

/* What is announced must be what is done; an action that sticks is known in its step only. */
static void fill_class(const aq_env_class *inner, const wrap_options *options, size_t state_bytes,
                       aq_env_class *ret_class)
{
    const bool is_sticky = options->sticky > 0.0;
    const bool is_seen_alike =
        options->frame_stack == 1 && options->obs_scale == 1.0 && options->shown == AQ_SHOWN_CHOICE;
    *ret_class = (aq_env_class){
        .name = inner->name,
        .params_bytes = sizeof(wrap_params),
        .state_bytes = state_bytes,
        .close = close_task,
        .schema = schema,
        .begin = inner->begin != NULL ? begin : NULL,
        .end = inner->end != NULL ? end : NULL,
        .works_elsewhere = inner->works_elsewhere || options->sleep_us > 0,
        .reset = reset,
        .await = inner->await != NULL ? await : NULL,
        .announce = inner->announce != NULL && !is_sticky ? announce : NULL,
        .step = step,
        .failure = inner->failure != NULL ? failure : NULL,
        .observe = observe,
        .script = inner->script != NULL && is_seen_alike ? script : NULL,
        .draw = inner->draw != NULL ? draw : NULL,
        .frame = inner->frame != NULL ? frame : NULL,
    };
}

static size_t aligned(size_t bytes)
{
    return aq_round_up(bytes, PART_ALIGNMENT);
}

static void fill_params(const aq_env *env, const wrap_options *options, wrap_params *p)
{
    const aq_space *obs = &env->schema.obs;
    p->inner = env->class;
    p->inner_params = env->params;
    p->inner_limit = env->step_limit;
    p->options = *options;
    p->frame_bytes = aq_space_bytes(obs);
    p->action_bytes = aq_space_bytes(&env->schema.action);
    p->inner_at = aligned(sizeof(wrap_state));
    p->frames_at = p->inner_at + aligned(env->class->state_bytes);
    p->action_at = p->frames_at + aligned(options->frame_stack * p->frame_bytes);
    if (options->shown != AQ_SHOWN_CHOICE) {
        p->states = obs->choice_count;
        aq_shown_state_space(options->shown, p->states, &p->schema.obs);
    } else {
        aq_frame_stack_space(obs, options->frame_stack, (float)options->obs_scale, &p->schema.obs);
    }
    p->frames = aq_frames_of(&p->schema.obs);
    p->schema.action = env->schema.action;
    fill_class(env->class, options, p->action_at + aligned(p->action_bytes), &p->class);
}

static int put_around(aq_env *env, const wrap_options *options, aq_error *error)
{
    if (env->schema.obs.kind != AQ_SPACE_BOX && options->frame_stack > 1) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "%s: frame_stack needs observations that are boxes",
                       env->name);
    }
    if (options->obs_scale != 1.0 &&
        (env->schema.obs.kind != AQ_SPACE_BOX || env->schema.obs.dtype != AQ_DTYPE_F32)) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s: obs_scale needs observations of floats; bytes are divided by 255 as it "
                       "is",
                       env->name);
    }
    if (options->shown != AQ_SHOWN_CHOICE && env->schema.obs.kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s: one_hot needs states that can be counted; what is seen are numbers",
                       env->name);
    }
    if (options->mask > 0 && env->class->velocities == 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s: mask=velocity: the task does not say which of its numbers are "
                       "velocities",
                       env->name);
    }
    wrap_params *p = aq_alloc(1, sizeof(*p));
    if (p == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the parameters of %s", env->name);
    }
    fill_params(env, options, p);
    int rc = aq_schema_validate(&p->schema, error);
    if (rc != 0) {
        aq_free(p);
        return aq_fail_context(error, rc, "%s", env->name);
    }
    env->class = &p->class;
    env->params = p;
    env->schema = p->schema;
    if (env->step_limit != 0) {
        env->step_limit = (env->step_limit - 1) / options->action_repeat + 1;
    }
    env->reward_threshold =
        options->clip_reward ? (double)NAN : env->reward_threshold * options->reward_scale;
    return 0;
}

static int take_options(aq_env_options *options, wrap_options *wrap, uint32_t *time_limit,
                        aq_error *error)
{
    int rc = aq_env_option_u32(options, "time_limit", 1, TIME_LIMIT_MAX, time_limit, error);
    rc = rc != 0 ? rc
                 : aq_env_option_u32(options, "action_repeat", 1, ACTION_REPEAT_MAX,
                                     &wrap->action_repeat, error);
    rc = rc != 0 ? rc
                 : aq_env_option_u32(options, "frame_stack", 1, AQ_FRAMES_MAX, &wrap->frame_stack,
                                     error);
    rc = rc != 0 ? rc
                 : aq_env_option_f64(options, "obs_scale", SCALE_MIN, SCALE_MAX, &wrap->obs_scale,
                                     error);
    rc = rc != 0 ? rc
                 : aq_env_option_f64(options, "reward_scale", SCALE_MIN, SCALE_MAX,
                                     &wrap->reward_scale, error);
    rc = rc != 0 ? rc : aq_env_option_bool(options, "clip_reward", &wrap->clip_reward, error);
    rc = rc != 0 ? rc : aq_shown_state_option(options, &wrap->shown, error);
    rc = rc != 0 ? rc : aq_env_option_choice(options, "mask", mask_names, &wrap->mask, error);
    rc = rc != 0 ? rc : aq_env_option_f64(options, "sticky", 0.0, 1.0, &wrap->sticky, error);
    return rc != 0
               ? rc
               : aq_env_option_u32(options, "sleep_us", 0, SLEEP_US_MAX, &wrap->sleep_us, error);
}

int aq_env_wrap(aq_env *env, aq_env_options *options, aq_error *error)
{
    wrap_options wrap = {
        .action_repeat = 1, .frame_stack = 1, .obs_scale = 1.0, .reward_scale = 1.0};
    uint32_t time_limit = 0;
    int rc = take_options(options, &wrap, &time_limit, error);
    if (rc != 0) {
        return rc;
    }
    if (time_limit != 0) {
        env->step_limit = 0; /* nobody counts single steps any more */
    }
    if (wrap.action_repeat != 1 || wrap.frame_stack != 1 || wrap.obs_scale != 1.0 ||
        wrap.reward_scale != 1.0 || wrap.sticky > 0.0 || wrap.clip_reward ||
        wrap.shown != AQ_SHOWN_CHOICE || wrap.mask > 0 || wrap.sleep_us > 0) {
        rc = put_around(env, &wrap, error);
    }
    if (rc == 0 && time_limit != 0) {
        env->step_limit = time_limit;
    }
    return rc;
}
