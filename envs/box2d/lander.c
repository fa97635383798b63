/*
 * The rules of the lander, in the order in which a step follows them: wind, engines, physics, what
 * is seen, reward. Lengths that the original counts in pixels of its picture are in metres here,
 * PIXEL each.
 */
#include "envs/box2d/lander.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

#define PI     3.14159265358979323846
#define PIXEL  (1.0 / 30.0)
#define PIXELF (1.0f / 30.0f)

#define STEPS_PER_SECOND 50.0
#define START_PUSH       1000.0 /* N in each direction, the most */

/* Ns of an engine at full power for each metre from the craft's middle to where it acts. */
#define MAIN_POWER  13.0
#define SIDE_POWER  0.6
#define MAIN_Y      (4 * PIXEL)
#define SIDE_AWAY   (12 * PIXEL)
#define SIDE_HEIGHT (14 * PIXEL)
#define SIDE_SHIFT  (17 * PIXEL)

#define MAIN_COST 0.3 /* reward for a step of full power */
#define SIDE_COST 0.03

#define LEG_AWAY (20 * PIXEL)
#define LEG_DOWN (18 * PIXEL)

static const aq_lander_params discrete = {.gravity = -10.0, .wind = 15.0, .turbulence = 1.5};
static const aq_lander_params continuous = {
    .continuous = true, .gravity = -10.0, .wind = 15.0, .turbulence = 1.5};

#define CORNER(x, y)                                                                               \
    {                                                                                              \
        (x) * PIXELF, (y)*PIXELF                                                                   \
    }

const aq_plane_shape aq_lander_hull = {
    .corner_count = AQ_LANDER_HULL_CORNERS,
    .corners = {CORNER(-14, 17), CORNER(-17, 0), CORNER(-17, -10), CORNER(17, -10), CORNER(17, 0),
                CORNER(14, 17)},
    .density = 5.0f,
    .friction = 0.1f,
};
const aq_plane_shape aq_lander_leg = {
    .corner_count = 4,
    .corners = {CORNER(-2, -8), CORNER(2, -8), CORNER(2, 8), CORNER(-2, 8)},
    .density = 1.0f,
    .friction = 0.2f,
};

/* ---- opening -------------------------------------------------------------------------------- */

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_lander_params *p = params;
    aq_env_options *options = opening->options;
    int rc = aq_env_option_f64(options, "gravity", -12.0, -0.01, &p->gravity, error);
    rc = rc != 0 ? rc : aq_env_option_bool(options, "wind", &p->has_wind, error);
    rc = rc != 0 ? rc : aq_env_option_f64(options, "wind_power", 0.0, 20.0, &p->wind, error);
    return rc != 0
               ? rc
               : aq_env_option_f64(options, "turbulence_power", 0.0, 2.0, &p->turbulence, error);
}

static void schema(const void *params, aq_schema *ret_schema)
{
    const aq_lander_params *p = params;
    float low[AQ_LANDER_OBS], high[AQ_LANDER_OBS];
    for (int i = 0; i < AQ_LANDER_OBS; i++) {
        const bool is_leg = i >= 6;
        low[i] = is_leg ? 0.0f : -INFINITY;
        high[i] = is_leg ? 1.0f : INFINITY;
    }
    aq_space_init_box(&ret_schema->obs, AQ_LANDER_OBS, low, high);
    if (p->continuous) {
        const float least[] = {-1.0f, -1.0f}, most[] = {1.0f, 1.0f};
        aq_space_init_box(&ret_schema->action, 2, least, most);
    } else {
        aq_space_init_discrete(&ret_schema->action, AQ_LANDER_ACTIONS);
    }
}

/* ---- the world ------------------------------------------------------------------------------ */

/* Hills, and five points in the middle at the pad's height; all are smoothed over three points, so
 * the middle three stay level: a pad of two pieces. Beyond the last point stands the one before the
 * first. */
static void build_ground(aq_lander_state *s)
{
    enum { DRAWN = AQ_LANDER_POINTS + 1, MIDDLE = AQ_LANDER_POINTS / 2 };
    double heights[DRAWN];
    for (int i = 0; i < DRAWN; i++) {
        heights[i] = aq_rng_range(&s->rng, 0.0, AQ_LANDER_HEIGHT / 2);
    }
    for (int i = MIDDLE - 2; i <= MIDDLE + 2; i++) {
        heights[i] = AQ_LANDER_PAD_Y;
    }
    for (int i = 0; i < AQ_LANDER_POINTS; i++) {
        const double before = heights[(i + DRAWN - 1) % DRAWN];
        s->ground[i] = 0.33 * (before + heights[i] + heights[i + 1]);
    }
    const double apart = AQ_LANDER_WIDTH / (AQ_LANDER_POINTS - 1);
    aq_plane_world_add_ground(s->world, (aq_plane_vector){0.0f, 0.0f},
                              (aq_plane_vector){(float)AQ_LANDER_WIDTH, 0.0f}, 0.2f);
    for (int i = 0; i < AQ_LANDER_POINTS - 1; i++) {
        const aq_plane_vector from = {(float)(apart * i), (float)s->ground[i]};
        const aq_plane_vector to = {(float)(apart * (i + 1)), (float)s->ground[i + 1]};
        aq_plane_world_add_ground(s->world, from, to, 0.1f);
    }
}

/* `side` is 1 for the leg that hangs on the right, -1 for the other. */
static void add_leg(aq_lander_state *s, float side)
{
    const aq_plane_vector place = {
        (float)(AQ_LANDER_WIDTH / 2 + (double)side * LEG_AWAY),
        (float)AQ_LANDER_HEIGHT,
    };
    const aq_plane_hinge hinge = {
        .body = AQ_LANDER_HULL,
        .leg = aq_plane_world_add_body(s->world, &aq_lander_leg, place, -0.05f * side),
        .leg_anchor = {-side * (float)LEG_AWAY, (float)LEG_DOWN},
        .low = side > 0.0f ? 0.4f : -0.9f,
        .high = side > 0.0f ? 0.9f : -0.4f,
        .speed = -0.3f * side,
        .torque = 40.0f,
    };
    aq_plane_world_add_hinge(s->world, &hinge);
}

static void build_world(const aq_lander_params *p, aq_lander_state *s)
{
    const aq_plane_vector start = {(float)(AQ_LANDER_WIDTH / 2), (float)AQ_LANDER_HEIGHT};
    if (s->is_world_up) {
        aq_plane_world_fini(s->world);
    }
    aq_plane_world_init(s->world, (float)p->gravity);
    s->is_world_up = true;
    build_ground(s);
    const uint32_t hull = aq_plane_world_add_body(s->world, &aq_lander_hull, start, 0.0f);
    AQ_ASSERT(hull == AQ_LANDER_HULL);
    const double x = aq_rng_range(&s->rng, -START_PUSH, START_PUSH);
    const double y = aq_rng_range(&s->rng, -START_PUSH, START_PUSH);
    aq_plane_world_force(s->world, hull, (aq_plane_vector){(float)x, (float)y}, 0.0f);
    add_leg(s, 1.0f);
    add_leg(s, -1.0f);
    s->wind_time = (double)aq_rng_below(&s->rng, 19998) - 9999.0;
    s->turbulence_time = (double)aq_rng_below(&s->rng, 19998) - 9999.0;
}

/* ---- a step --------------------------------------------------------------------------------- */

/* From -1 to 1, smooth and without a period. */
static double gust(double *time)
{
    const double t = (*time)++;
    return tanh(sin(0.02 * t) + sin(PI * 0.01 * t));
}

static void blow(const aq_lander_params *p, aq_lander_state *s)
{
    const bool touches = s->obs[6] > 0.0f || s->obs[7] > 0.0f;
    if (p->has_wind && !touches) {
        const float wind = (float)(gust(&s->wind_time) * p->wind);
        const float turn = (float)(gust(&s->turbulence_time) * p->turbulence);
        aq_plane_world_force(s->world, AQ_LANDER_HULL, (aq_plane_vector){wind, 0.0f}, turn);
    }
}

/* An engine that acts at `offset` from the craft's middle, and `shift` besides, pushes away from
 * the offset, and the harder the further away it is. */
static void fire(aq_lander_state *s, const aq_plane_body *hull, const double offset[2],
                 const double shift[2], double power)
{
    const aq_plane_vector impulse = {(float)(-offset[0] * power), (float)(-offset[1] * power)};
    const aq_plane_vector at = {(float)((double)hull->place.x + offset[0] + shift[0]),
                                (float)((double)hull->place.y + offset[1] + shift[1])};
    aq_plane_world_push(s->world, AQ_LANDER_HULL, impulse, at);
}

/* Where engines act spreads by chance, a little along the craft and across it. */
static void fire_engines(aq_lander_state *s, aq_lander_engines engines)
{
    aq_plane_body hull;
    aq_plane_world_read(s->world, AQ_LANDER_HULL, &hull);
    const double sine = sin((double)hull.angle), cosine = cos((double)hull.angle);
    const double along = aq_rng_range(&s->rng, -PIXEL, PIXEL);
    const double across = aq_rng_range(&s->rng, -PIXEL, PIXEL);
    if (engines.main > 0.0f) {
        const double down = MAIN_Y + 2 * along;
        const double offset[] = {sine * down - cosine * across, -cosine * down - sine * across};
        const double none[] = {0.0, 0.0};
        fire(s, &hull, offset, none, MAIN_POWER * (double)engines.main);
    }
    if (engines.side != 0.0f) {
        const double out = 3 * across + copysign(SIDE_AWAY, (double)engines.side);
        const double offset[] = {sine * along - cosine * out, -cosine * along - sine * out};
        const double shift[] = {-sine * SIDE_SHIFT, cosine * SIDE_HEIGHT};
        fire(s, &hull, offset, shift, SIDE_POWER * fabs((double)engines.side));
    }
}

static void look(aq_lander_state *s)
{
    const double half_width = AQ_LANDER_WIDTH / 2, half_height = AQ_LANDER_HEIGHT / 2;
    aq_plane_body hull, legs[2];
    aq_plane_world_read(s->world, AQ_LANDER_HULL, &hull);
    aq_plane_world_read(s->world, AQ_LANDER_LEG_1, &legs[0]);
    aq_plane_world_read(s->world, AQ_LANDER_LEG_2, &legs[1]);
    s->obs[0] = (float)(((double)hull.place.x - half_width) / half_width);
    s->obs[1] = (float)(((double)hull.place.y - (AQ_LANDER_PAD_Y + LEG_DOWN)) / half_height);
    s->obs[2] = (float)((double)hull.velocity.x * half_width / STEPS_PER_SECOND);
    s->obs[3] = (float)((double)hull.velocity.y * half_height / STEPS_PER_SECOND);
    s->obs[4] = hull.angle;
    s->obs[5] = (float)(20.0 * (double)hull.spin / STEPS_PER_SECOND);
    s->obs[6] = legs[0].touches ? 1.0f : 0.0f;
    s->obs[7] = legs[1].touches ? 1.0f : 0.0f;
}

/* What a state is worth: less by 100 for each unit away, of speed and of tilt, and more by ten for
 * each leg on the ground. Rewards are what is gained of it. */
static double worth(const float *obs)
{
    return -100 * hypot((double)obs[0], (double)obs[1]) -
           100 * hypot((double)obs[2], (double)obs[3]) - 100 * fabs((double)obs[4]) +
           10 * (double)obs[6] + 10 * (double)obs[7];
}

/* The reward of a step that goes on. */
static double fly(const aq_lander_params *p, aq_lander_state *s, aq_lander_engines engines)
{
    s->engines = engines;
    blow(p, s);
    fire_engines(s, engines);
    aq_plane_world_step(s->world, (float)(1.0 / STEPS_PER_SECOND));
    look(s);
    const double before = s->shaping;
    s->shaping = worth(s->obs);
    return s->shaping - before - MAIN_COST * (double)engines.main -
           SIDE_COST * fabs((double)engines.side);
}

/* ---- lanes ---------------------------------------------------------------------------------- */

static int begin(const void *params, void *state, aq_error *error)
{
    aq_lander_state *s = state;
    (void)params;
    s->world = aq_alloc(1, aq_plane_world_bytes());
    return s->world != NULL ? 0 : aq_fail(error, AQ_E_NOMEM, "no memory for a world of Box2D");
}

static void end(const void *params, void *state)
{
    aq_lander_state *s = state;
    (void)params;
    if (s->is_world_up) {
        aq_plane_world_fini(s->world);
        s->is_world_up = false;
    }
    aq_free(s->world);
    s->world = NULL;
}

static void observe(const void *params, const void *state, void *obs)
{
    const aq_lander_state *s = state;
    (void)params;
    memcpy(obs, s->obs, sizeof(s->obs));
}

/* The first observation is what a step without engines leads to. */
static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_lander_state *s = state;
    memset(s->obs, 0, sizeof(s->obs));
    aq_rng_init(&s->rng, aq_rng_next(rng), 0);
    build_world(params, s);
    (void)fly(params, s, (aq_lander_engines){0.0f, 0.0f});
    observe(params, s, obs);
    return true;
}

static aq_lander_engines engines_of(const aq_lander_params *p, const void *action)
{
    aq_lander_engines engines = {0.0f, 0.0f};
    if (p->continuous) {
        const float *row = action;
        const float size = fabsf(row[1]) < 1.0f ? fabsf(row[1]) : 1.0f;
        engines.main = row[0] > 0.0f ? 0.5f + 0.5f * fminf(row[0], 1.0f) : 0.0f;
        engines.side = size > 0.5f ? copysignf(size, row[1]) : 0.0f;
    } else {
        const int32_t choice = *(const int32_t *)action;
        engines.main = choice == AQ_LANDER_MAIN ? 1.0f : 0.0f;
        engines.side = choice == AQ_LANDER_LEFT ? -1.0f : choice == AQ_LANDER_RIGHT ? 1.0f : 0.0f;
    }
    return engines;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    const aq_lander_params *p = params;
    aq_lander_state *s = state;
    aq_plane_body hull;
    (void)rng;
    *reward = (float)fly(p, s, engines_of(p, action));
    observe(p, s, obs);
    aq_plane_world_read(s->world, AQ_LANDER_HULL, &hull);
    if (!hull.is_awake) {
        *reward = 100.0f;
        return AQ_STEP_TERMINATED;
    }
    if (hull.has_touched || fabsf(s->obs[0]) >= 1.0f) {
        *reward = -100.0f;
        return AQ_STEP_TERMINATED;
    }
    return AQ_STEP_GOES_ON;
}

/* ---- a script ------------------------------------------------------------------------------- */

/* Sinks the slower the lower it is, and leans against what it drifts too fast towards or away from
 * the pad. `lift` is how much more it should rise, `turn` how much more it should turn left. */
static void wish(const float *obs, float *lift, float *turn)
{
    const float drift = fmaxf(-0.4f, fminf(0.4f, 0.6f * obs[0]));
    const float lean = fmaxf(-0.35f, fminf(0.35f, 1.2f * (obs[2] + drift)));
    const bool touches = obs[6] + obs[7] > 0.0f;
    *lift = -0.05f - 0.35f * fmaxf(obs[1], 0.0f) - obs[3];
    *turn = touches ? 0.0f : lean - obs[4] - 0.8f * obs[5];
}

static void script_discrete(const void *params, const void *obs, void *action)
{
    int32_t *choice = action;
    float lift, turn;
    (void)params;
    wish(obs, &lift, &turn);
    *choice = AQ_LANDER_NOTHING;
    if (lift > 0.05f) {
        *choice = AQ_LANDER_MAIN;
    } else if (fabsf(turn) > 0.05f) {
        *choice = turn > 0.0f ? AQ_LANDER_LEFT : AQ_LANDER_RIGHT;
    }
}

static void script_continuous(const void *params, const void *obs, void *action)
{
    float *row = action;
    float lift, turn;
    (void)params;
    wish(obs, &lift, &turn);
    row[0] = fmaxf(-1.0f, fminf(1.0f, 10.0f * lift));
    row[1] = fmaxf(-1.0f, fminf(1.0f, -10.0f * turn));
}

#define LANDER_MEMBERS                                                                             \
    .options = "gravity, wind, wind_power, turbulence_power", .step_limit = 1000,                  \
    .reward_threshold = 200.0, .params_bytes = sizeof(aq_lander_params),                           \
    .state_bytes = sizeof(aq_lander_state), .open = open_task, .schema = schema, .begin = begin,   \
    .end = end, .reset = reset, .step = step, .observe = observe, .draw = aq_lander_draw

const aq_env_class aq_lunar_lander_v3 = {
    .name = "gym:LunarLander-v3",
    .summary = "Land a craft on a pad; four choices: nothing, left, main and right engine.",
    .defaults = &discrete,
    .script = script_discrete,
    LANDER_MEMBERS,
};

const aq_env_class aq_lunar_lander_continuous_v3 = {
    .name = "gym:LunarLanderContinuous-v3",
    .summary = "Land a craft on a pad; the main engine's power and that of those at the sides.",
    .defaults = &continuous,
    .script = script_continuous,
    LANDER_MEMBERS,
};
