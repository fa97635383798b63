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
 */
#include "envs/cartpole.h"

#include <math.h>

#include "common/base/assert.h"

#define PI 3.141592653589793

/* Each number of the state starts an episode uniform in +-RESET_SPREAD. */
#define RESET_SPREAD 0.05

static int open_task(void *params, const char *argument, aq_env_options *options,
                     uint32_t *step_limit, double *reward_threshold, aq_error *error)
{
    (void)argument;
    (void)options;
    (void)step_limit;
    (void)reward_threshold;
    (void)error;
    *(aq_cartpole_params *)params = (aq_cartpole_params){
        .gravity = 9.8,
        .cart_mass = 1.0,
        .pole_mass = 0.1,
        .pole_half_length = 0.5,
        .force = 10.0,
        .time_step = 0.02,
        .x_limit = 2.4,
        .theta_limit = 12 * 2 * PI / 360, /* 12 degrees */
    };
    return 0;
}

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

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    (void)rng;
    const aq_cartpole_params *p = params;
    aq_cartpole_state *s = state;
    int32_t choice = *(const int32_t *)action;
    AQ_ASSERT(choice >= 0);
    AQ_ASSERT(choice < AQ_CARTPOLE_ACTIONS);

    double force = choice == 1 ? p->force : -p->force;
    double mass = p->pole_mass + p->cart_mass;
    double pole_mass_length = p->pole_mass * p->pole_half_length;
    double cosine = cos(s->theta);
    double sine = sin(s->theta);
    double a = (force + pole_mass_length * (s->theta_dot * s->theta_dot) * sine) / mass;
    double theta_acc =
        (p->gravity * sine - cosine * a) /
        (p->pole_half_length * (4.0 / 3.0 - p->pole_mass * (cosine * cosine) / mass));
    double x_acc = a - pole_mass_length * theta_acc * cosine / mass;

    s->x += p->time_step * s->x_dot;
    s->x_dot += p->time_step * x_acc;
    s->theta += p->time_step * s->theta_dot;
    s->theta_dot += p->time_step * theta_acc;

    observe(p, s, obs);
    *reward = 1.0f;
    bool fell = s->x < -p->x_limit || s->x > p->x_limit || s->theta < -p->theta_limit ||
                s->theta > p->theta_limit;
    return fell ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

const aq_env_class aq_cartpole_v0 = {
    .name = "gym:CartPole-v0",
    .summary = "Balance a pole on a cart for 200 steps; Gymnasium's first, shorter form.",
    .step_limit = 200,
    .reward_threshold = 195.0,
    .params_bytes = sizeof(aq_cartpole_params),
    .state_bytes = sizeof(aq_cartpole_state),
    .open = open_task,
    .schema = schema,
    .reset = reset,
    .step = step,
    .observe = observe,
};

const aq_env_class aq_cartpole_v1 = {
    .name = "gym:CartPole-v1",
    .summary = "Balance a pole on a cart for 500 steps.",
    .step_limit = 500,
    .reward_threshold = 475.0,
    .params_bytes = sizeof(aq_cartpole_params),
    .state_bytes = sizeof(aq_cartpole_state),
    .open = open_task,
    .schema = schema,
    .reset = reset,
    .step = step,
    .observe = observe,
};
