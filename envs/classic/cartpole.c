/*
 * The equations of motion, with M = cart_mass + pole_mass, m = pole_mass, l = pole_half_length:
 *
 *   a         = (F + m l theta_dot^2 sin(theta)) / M
 *   theta_acc = (g sin(theta) - cos(theta) a) / (l (4/3 - m cos(theta)^2 / M))
 *   x_acc     = a - m l theta_acc cos(theta) / M
 *
 * Positions move by the old velocities, velocities by these accelerations. Operands stand in an
 * order that rounds as the original does, so that whole episodes agree with it to the last bit
 * where the sine and cosine do.
 *
 * Lanes are stepped in blocks: their numbers are gathered into columns, on which the compiler makes
 * vector code of the loops. A single step is a block of one, so its bits are the same.
 */
#include "envs/classic/cartpole.h"

#include <math.h>

#include "common/base/assert.h"
#include "envs/classic/plain_state.h"
#include "envs/classic/sincos.h"

#define PI 3.141592653589793

/* Each number of the state starts an episode uniform in +-RESET_SPREAD. */
#define RESET_SPREAD 0.05

enum { BLOCK = 64 };

typedef struct columns {
    double x[BLOCK], x_dot[BLOCK], theta[BLOCK], theta_dot[BLOCK];
    double force[BLOCK], sine[BLOCK], cosine[BLOCK];
} columns;

static const aq_cartpole_params defaults = {
    .gravity = 9.8,
    .cart_mass = 1.0,
    .pole_mass = 0.1,
    .pole_half_length = 0.5,
    .force = 10.0,
    .time_step = 0.02,
    .x_limit = 2.4,
    .theta_limit = 12 * 2 * PI / 360, /* 12 degrees */
};

/* Twice the limits, so that an observation past the end of an episode is still in the box. */
static void schema(const void *params, aq_schema *ret_schema)
{
    const aq_cartpole_params *p = params;
    const float high[AQ_CARTPOLE_OBS] = {(float)(2 * p->x_limit), INFINITY,
                                         (float)(2 * p->theta_limit), INFINITY};
    const float low[AQ_CARTPOLE_OBS] = {-high[0], -high[1], -high[2], -high[3]};
    aq_space_init_box(&ret_schema->obs, AQ_CARTPOLE_OBS, low, high);
    aq_space_init_discrete(&ret_schema->action, AQ_CARTPOLE_ACTIONS);
}

static void observe(const void *params, const void *state, void *obs)
{
    const aq_cartpole_state *s = state;
    float *row = obs;
    (void)params;
    row[0] = (float)s->x;
    row[1] = (float)s->x_dot;
    row[2] = (float)s->theta;
    row[3] = (float)s->theta_dot;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_cartpole_state *s = state;
    s->x = aq_rng_range(rng, -RESET_SPREAD, RESET_SPREAD);
    s->x_dot = aq_rng_range(rng, -RESET_SPREAD, RESET_SPREAD);
    s->theta = aq_rng_range(rng, -RESET_SPREAD, RESET_SPREAD);
    s->theta_dot = aq_rng_range(rng, -RESET_SPREAD, RESET_SPREAD);
    observe(params, s, obs);
    return true;
}

/* The first `count` rows of the block. */
static void move(const aq_cartpole_params *p, columns *c, uint32_t count)
{
    const double mass = p->pole_mass + p->cart_mass;
    const double pole_mass_length = p->pole_mass * p->pole_half_length;
    aq_sincos_rows(c->theta, count, c->sine, c->cosine);
    for (uint32_t i = 0; i < count; i++) {
        const double sine = c->sine[i], cosine = c->cosine[i], spin = c->theta_dot[i];
        const double a = (c->force[i] + pole_mass_length * (spin * spin) * sine) / mass;
        const double theta_acc =
            (p->gravity * sine - cosine * a) /
            (p->pole_half_length * (4.0 / 3.0 - p->pole_mass * (cosine * cosine) / mass));
        const double x_acc = a - pole_mass_length * theta_acc * cosine / mass;
        c->x[i] += p->time_step * c->x_dot[i];
        c->x_dot[i] += p->time_step * x_acc;
        c->theta[i] += p->time_step * spin;
        c->theta_dot[i] += p->time_step * theta_acc;
    }
}

static void gather(const aq_cartpole_params *p, const aq_step_rows *rows, uint32_t first,
                   uint32_t count, columns *ret_columns)
{
    const int32_t *actions = rows->actions;
    for (uint32_t i = 0; i < count; i++) {
        const aq_cartpole_state *s = aq_step_rows_state(rows, first + i);
        const int32_t choice = actions[first + i];
        AQ_ASSERT(choice >= 0);
        AQ_ASSERT(choice < AQ_CARTPOLE_ACTIONS);
        ret_columns->x[i] = s->x;
        ret_columns->x_dot[i] = s->x_dot;
        ret_columns->theta[i] = s->theta;
        ret_columns->theta_dot[i] = s->theta_dot;
        ret_columns->force[i] = choice == 1 ? p->force : -p->force;
    }
}

static void scatter(const aq_cartpole_params *p, const aq_step_rows *rows, uint32_t first,
                    uint32_t count, const columns *c)
{
    float *obs = rows->obs;
    for (uint32_t i = 0; i < count; i++) {
        aq_cartpole_state *s = aq_step_rows_state(rows, first + i);
        s->x = c->x[i];
        s->x_dot = c->x_dot[i];
        s->theta = c->theta[i];
        s->theta_dot = c->theta_dot[i];
        observe(p, s, obs + (size_t)(first + i) * AQ_CARTPOLE_OBS);
        const bool has_fallen = fabs(s->x) > p->x_limit || fabs(s->theta) > p->theta_limit;
        rows->rewards[first + i] = 1.0f;
        rows->ends[first + i] = has_fallen ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
    }
}

static void step_rows(const void *params, const aq_step_rows *rows)
{
    columns c;
    for (uint32_t first = 0; first < rows->count; first += BLOCK) {
        const uint32_t left = rows->count - first, count = left < BLOCK ? left : BLOCK;
        gather(params, rows, first, count, &c);
        move(params, &c, count);
        scatter(params, rows, first, count, &c);
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
    const aq_cartpole_params *p = params;
    const aq_cartpole_state *s = state;
    const aq_colour paper = {250, 250, 246}, track = {90, 90, 90}, cart = {50, 60, 80},
                    pole = {205, 150, 95}, axle = {130, 130, 205};
    const double scale = 0.45 / p->x_limit, ground = 0.25;
    const double length = 2 * p->pole_half_length * scale * 1.6; /* longer than true, to be seen */
    const aq_point middle = {s->x * scale, ground};
    const aq_point hinge = {middle.x, ground - 0.03};
    const aq_point tip = {hinge.x + length * sin(s->theta), hinge.y - length * cos(s->theta)};
    const aq_point body[] = {{middle.x - 0.07, ground - 0.04},
                             {middle.x + 0.07, ground - 0.04},
                             {middle.x + 0.07, ground + 0.04},
                             {middle.x - 0.07, ground + 0.04}};
    aq_canvas_fill(canvas, paper);
    aq_canvas_stroke(canvas, (aq_point){-9.0, ground}, (aq_point){9.0, ground}, 0.006, track);
    aq_canvas_polygon(canvas, body, 4, cart);
    aq_canvas_stroke(canvas, hinge, tip, 0.03, pole);
    aq_canvas_disc(canvas, hinge, 0.014, axle);
}

#define CARTPOLE_MEMBERS                                                                           \
    .params_bytes = sizeof(aq_cartpole_params), .state_bytes = sizeof(aq_cartpole_state),          \
    .defaults = &defaults, .schema = schema, .reset = reset, .step = step, .step_rows = step_rows, \
    .velocities = 1u << 1 | 1u << 3, .observe = observe, .draw = draw, .put = aq_plain_put_4

const aq_env_class aq_cartpole_v0 = {
    .name = "gym:CartPole-v0",
    .summary = "Balance a pole on a cart for 200 steps; Gymnasium's first, shorter form.",
    .step_limit = 200,
    .reward_threshold = 195.0,
    CARTPOLE_MEMBERS,
};

const aq_env_class aq_cartpole_v1 = {
    .name = "gym:CartPole-v1",
    .summary = "Balance a pole on a cart for 500 steps.",
    .step_limit = 500,
    .reward_threshold = 475.0,
    CARTPOLE_MEMBERS,
};
