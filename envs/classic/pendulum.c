/*
 * With the angle theta from upright, one half-explicit Euler step per control step:
 *
 *   theta_dot += (3 g / (2 l) sin(theta) + 3 / (m l^2) torque) dt, limited
 *   theta     += theta_dot dt
 *
 * Lanes are stepped in blocks: their numbers are gathered into columns, on which the compiler makes
 * vector code of the loops. A single step is a block of one, so its bits are the same.
 */
#include "envs/classic/pendulum.h"

#include <math.h>

#include "envs/classic/plain_state.h"
#include "envs/classic/sincos.h"

#define PI 3.141592653589793

/* An episode starts uniform in +-RESET_ANGLE and +-RESET_SPEED. */
#define RESET_ANGLE PI
#define RESET_SPEED 1.0

/* Added to a number below 2^51 and subtracted again it leaves the nearest integer. */
#define ROUNDER 0x1.8p52

enum { BLOCK = 64 };

typedef struct columns {
    double theta[BLOCK], theta_dot[BLOCK], torque[BLOCK];
    double sine[BLOCK], cosine[BLOCK];
    double cost[BLOCK];
} columns;

static const aq_pendulum_params defaults = {
    .gravity = 10.0,
    .length = 1.0,
    .mass = 1.0,
    .time_step = 0.05,
    .max_speed = 8.0,
    .max_torque = 2.0,
};

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_pendulum_params *p = params;
    return aq_env_option_f64(opening->options, "g", 0.0, 1000.0, &p->gravity, error);
}

static void schema(const void *params, aq_schema *ret_schema)
{
    const aq_pendulum_params *p = params;
    const float speed = (float)p->max_speed, torque = (float)p->max_torque, least = -torque;
    const float high[AQ_PENDULUM_OBS] = {1.0f, 1.0f, speed};
    const float low[AQ_PENDULUM_OBS] = {-1.0f, -1.0f, -speed};
    aq_space_init_box(&ret_schema->obs, AQ_PENDULUM_OBS, low, high);
    aq_space_init_box(&ret_schema->action, 1, &least, &torque);
}

static void observe(const void *params, const void *state, void *obs)
{
    const aq_pendulum_state *s = state;
    float *row = obs;
    double sine, cosine;
    (void)params;
    aq_sincos(s->theta, &sine, &cosine);
    row[0] = (float)cosine;
    row[1] = (float)sine;
    row[2] = (float)s->theta_dot;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_pendulum_state *s = state;
    s->theta = aq_rng_range(rng, -RESET_ANGLE, RESET_ANGLE);
    s->theta_dot = aq_rng_range(rng, -RESET_SPEED, RESET_SPEED);
    observe(params, s, obs);
    return true;
}

static inline double limited(double value, double limit)
{
    const double above = value > -limit ? value : -limit;
    return above < limit ? above : limit;
}

/* `theta` without its whole turns. */
static inline double turned_back(double theta)
{
    const double turns = (theta * (1.0 / (2 * PI)) + ROUNDER) - ROUNDER;
    return theta - turns * (2 * PI);
}

/* The first `count` rows of the block. */
static void swing(const aq_pendulum_params *p, columns *c, uint32_t count)
{
    const double pull = 3 * p->gravity / (2 * p->length);
    const double push = 3.0 / (p->mass * (p->length * p->length));
    aq_sincos_rows(c->theta, count, c->sine, c->cosine);
    for (uint32_t i = 0; i < count; i++) {
        const double torque = limited(c->torque[i], p->max_torque);
        const double angle = turned_back(c->theta[i]);
        c->cost[i] =
            angle * angle + 0.1 * (c->theta_dot[i] * c->theta_dot[i]) + 0.001 * (torque * torque);
        c->theta_dot[i] = limited(
            c->theta_dot[i] + (pull * c->sine[i] + push * torque) * p->time_step, p->max_speed);
        c->theta[i] += c->theta_dot[i] * p->time_step;
    }
    aq_sincos_rows(c->theta, count, c->sine, c->cosine);
}

static void step_rows(const void *params, const aq_step_rows *rows)
{
    columns c;
    const float *actions = rows->actions;
    float *obs = rows->obs;
    for (uint32_t first = 0; first < rows->count; first += BLOCK) {
        const uint32_t left = rows->count - first, count = left < BLOCK ? left : BLOCK;
        for (uint32_t i = 0; i < count; i++) {
            const aq_pendulum_state *s = aq_step_rows_state(rows, first + i);
            c.theta[i] = s->theta;
            c.theta_dot[i] = s->theta_dot;
            c.torque[i] = (double)actions[first + i];
        }
        swing(params, &c, count);
        for (uint32_t i = 0; i < count; i++) {
            aq_pendulum_state *s = aq_step_rows_state(rows, first + i);
            float *row = obs + (size_t)(first + i) * AQ_PENDULUM_OBS;
            s->theta = c.theta[i];
            s->theta_dot = c.theta_dot[i];
            row[0] = (float)c.cosine[i];
            row[1] = (float)c.sine[i];
            row[2] = (float)c.theta_dot[i];
            rows->rewards[first + i] = (float)-c.cost[i];
            rows->ends[first + i] = AQ_STEP_GOES_ON;
        }
    }
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    (void)rng;
    return aq_step_one_row(step_rows, params, state, action, obs, reward);
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_pendulum_state *s = state;
    const aq_colour paper = {250, 250, 246}, rod = {200, 80, 70}, axle = {40, 40, 40};
    const aq_point pivot = {0.0, 0.0};
    const aq_point tip = {-0.4 * sin(s->theta), -0.4 * cos(s->theta)};
    (void)params;
    aq_canvas_fill(canvas, paper);
    aq_canvas_stroke(canvas, pivot, tip, 0.07, rod);
    aq_canvas_disc(canvas, pivot, 0.02, axle);
}

const aq_env_class aq_pendulum_v1 = {
    .name = "gym:Pendulum-v1",
    .summary = "Swing a rod up with a torque from -2 to 2, and keep it there.",
    .options = "g",
    .step_limit = 200,
    .reward_threshold = NAN,
    .params_bytes = sizeof(aq_pendulum_params),
    .state_bytes = sizeof(aq_pendulum_state),
    .defaults = &defaults,
    .open = open_task,
    .schema = schema,
    .reset = reset,
    .step = step,
    .step_rows = step_rows,
    .velocities = 1u << 2,
    .observe = observe,
    .draw = draw,
    .put = aq_plain_put_2,
};
