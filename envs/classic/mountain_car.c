/*
 * Both forms move the car alike, with the hill's height sin(3 position):
 *
 *   velocity += push - gravity cos(3 position), limited; position += velocity, limited
 *
 * and the left end is a wall that takes all speed. Operands stand in an order that rounds as the
 * original does.
 */
#include "envs/classic/mountain_car.h"

#include <math.h>

#include "common/base/assert.h"
#include "envs/classic/plain_state.h"
#include "envs/classic/sincos.h"

/* Where episodes start, uniformly, standing. */
#define RESET_LOW  (-0.6)
#define RESET_HIGH (-0.4)

#define GOAL_REWARD 100.0
#define PUSH_COST   0.1

/* In common: the valley and the car in it. */
#define VALLEY .position_low = -1.2, .position_high = 0.6, .speed_limit = 0.07, .gravity = 0.0025

static const aq_mountain_car_params discrete = {VALLEY, .goal_position = 0.5, .force = 0.001};
static const aq_mountain_car_params continuous = {VALLEY, .goal_position = 0.45, .force = 0.0015};

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_mountain_car_params *p = params;
    return aq_env_option_f64(opening->options, "goal_velocity", -p->speed_limit, p->speed_limit,
                             &p->goal_velocity, error);
}

static void init_obs_space(const aq_mountain_car_params *p, aq_space *ret_space)
{
    const float low[AQ_MOUNTAIN_CAR_OBS] = {(float)p->position_low, (float)-p->speed_limit};
    const float high[AQ_MOUNTAIN_CAR_OBS] = {(float)p->position_high, (float)p->speed_limit};
    aq_space_init_box(ret_space, AQ_MOUNTAIN_CAR_OBS, low, high);
}

static void schema_discrete(const void *params, aq_schema *ret_schema)
{
    init_obs_space(params, &ret_schema->obs);
    aq_space_init_discrete(&ret_schema->action, AQ_MOUNTAIN_CAR_ACTIONS);
}

static void schema_continuous(const void *params, aq_schema *ret_schema)
{
    const float low = -1.0f, high = 1.0f;
    init_obs_space(params, &ret_schema->obs);
    aq_space_init_box(&ret_schema->action, 1, &low, &high);
}

static void observe(const void *params, const void *state, void *obs)
{
    const aq_mountain_car_state *s = state;
    float *row = obs;
    (void)params;
    row[0] = (float)s->position;
    row[1] = (float)s->velocity;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_mountain_car_state *s = state;
    s->position = aq_rng_range(rng, RESET_LOW, RESET_HIGH);
    s->velocity = 0.0;
    observe(params, s, obs);
    return true;
}

static double limited(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* The sum that the velocity becomes differs in its order between the two forms. */
static void move(const aq_mountain_car_params *p, aq_mountain_car_state *s, double velocity)
{
    s->velocity = limited(velocity, -p->speed_limit, p->speed_limit);
    s->position = limited(s->position + s->velocity, p->position_low, p->position_high);
    if (s->position == p->position_low && s->velocity < 0.0) {
        s->velocity = 0.0;
    }
}

static bool is_at_goal(const aq_mountain_car_params *p, const aq_mountain_car_state *s)
{
    return s->position >= p->goal_position && s->velocity >= p->goal_velocity;
}

static double slope_at(double position)
{
    double sine, cosine;
    aq_sincos(3 * position, &sine, &cosine);
    return cosine;
}

static enum aq_step_end step_discrete(const void *params, void *state, aq_rng *rng,
                                      const void *action, void *obs, float *reward)
{
    const aq_mountain_car_params *p = params;
    aq_mountain_car_state *s = state;
    const int32_t choice = *(const int32_t *)action;
    (void)rng;
    AQ_ASSERT(choice >= 0);
    AQ_ASSERT(choice < AQ_MOUNTAIN_CAR_ACTIONS);
    move(p, s, s->velocity + ((choice - 1) * p->force + slope_at(s->position) * -p->gravity));
    observe(p, s, obs);
    *reward = -1.0f;
    return is_at_goal(p, s) ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static enum aq_step_end step_continuous(const void *params, void *state, aq_rng *rng,
                                        const void *action, void *obs, float *reward)
{
    const aq_mountain_car_params *p = params;
    aq_mountain_car_state *s = state;
    const double asked = (double)*(const float *)action;
    const double push = limited(asked, -1.0, 1.0);
    (void)rng;
    move(p, s, s->velocity + (push * p->force - p->gravity * slope_at(s->position)));
    const bool is_over = is_at_goal(p, s);
    s->position = (float)s->position;
    s->velocity = (float)s->velocity;
    observe(p, s, obs);
    *reward = (float)((is_over ? GOAL_REWARD : 0.0) - asked * asked * PUSH_COST);
    return is_over ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

/* The hill in a picture, which it fills from side to side. */
typedef struct view {
    double left, width; /* in positions */
    double stretch;     /* the picture's width to its smaller side */
} view;

/* Where that point of the hill is in the picture, `above` it along the upright. */
static aq_point hill(const view *v, double position, double above)
{
    const double x = (position - v->left) / v->width - 0.5;
    return (aq_point){x * v->stretch, 0.18 - 0.22 * sin(3 * position) - above};
}

static void draw_hill(const view *v, aq_canvas *canvas, aq_colour earth)
{
    enum { SLICES = 60 };
    for (int i = 0; i < SLICES; i++) { /* each a little over the next, so that no seam is seen */
        const double left = v->left + v->width * i / SLICES;
        const aq_point a = hill(v, left, 0.0), b = hill(v, left + 1.2 * v->width / SLICES, 0.0);
        const aq_point slice[] = {a, b, {b.x, 0.5}, {a.x, 0.5}};
        aq_canvas_polygon(canvas, slice, 4, earth);
    }
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_mountain_car_params *p = params;
    const aq_mountain_car_state *s = state;
    const aq_colour sky = {235, 243, 250}, earth = {120, 150, 90}, flag = {210, 60, 50},
                    body = {40, 70, 120}, wheel = {30, 30, 30};
    const view v = {
        .left = p->position_low,
        .width = p->position_high - p->position_low,
        .stretch = (double)canvas->width / aq_canvas_unit(canvas),
    };
    aq_canvas_fill(canvas, sky);
    draw_hill(&v, canvas, earth);

    const aq_point foot = hill(&v, p->goal_position, 0.0), top = {foot.x, foot.y - 0.12};
    const aq_point cloth[] = {top, {top.x + 0.05, top.y + 0.02}, {top.x, top.y + 0.04}};
    aq_canvas_stroke(canvas, foot, top, 0.008, wheel);
    aq_canvas_polygon(canvas, cloth, 3, flag);

    const double half_base = 0.05 / v.stretch; /* from the middle to a wheel, in positions */
    const aq_point rear = hill(&v, s->position - half_base, 0.018);
    const aq_point front = hill(&v, s->position + half_base, 0.018);
    aq_canvas_stroke(canvas, (aq_point){rear.x, rear.y - 0.025},
                     (aq_point){front.x, front.y - 0.025}, 0.04, body);
    aq_canvas_disc(canvas, rear, 0.018, wheel);
    aq_canvas_disc(canvas, front, 0.018, wheel);
}

#define MOUNTAIN_CAR_MEMBERS                                                                       \
    .options = "goal_velocity", .params_bytes = sizeof(aq_mountain_car_params),                    \
    .state_bytes = sizeof(aq_mountain_car_state), .open = open_task, .reset = reset,               \
    .velocities = 1u << 1, .observe = observe, .draw = draw, .put = aq_plain_put_2

const aq_env_class aq_mountain_car_v0 = {
    .name = "gym:MountainCar-v0",
    .summary = "Swing a weak car out of a valley; three choices.",
    .step_limit = 200,
    .reward_threshold = -110.0,
    .defaults = &discrete,
    .schema = schema_discrete,
    .step = step_discrete,
    MOUNTAIN_CAR_MEMBERS,
};

const aq_env_class aq_mountain_car_continuous_v0 = {
    .name = "gym:MountainCarContinuous-v0",
    .summary = "Swing a weak car out of a valley; a push from -1 to 1 that costs its square.",
    .step_limit = 999,
    .reward_threshold = 90.0,
    .defaults = &continuous,
    .schema = schema_continuous,
    .step = step_continuous,
    MOUNTAIN_CAR_MEMBERS,
};
