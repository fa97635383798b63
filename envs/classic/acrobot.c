/*
 * The equations of motion as in Sutton and Barto's book, with m, l, c, I of either link (mass,
 * length, distance of the centre of mass, inertia), angles a1, a2, velocities w1, w2, torque t:
 *
 *   d1   = m c^2 + m (l^2 + c^2 + 2 l c cos a2) + 2 I
 *   d2   = m (c^2 + l c cos a2) + I
 *   phi2 = m c g cos(a1 + a2 - pi/2)
 *   phi1 = -m l c w2^2 sin a2 - 2 m l c w2 w1 sin a2 + (m c + m l) g cos(a1 - pi/2) + phi2
 *   w2'  = (t + d2/d1 phi1 - m l c w1^2 sin a2 - phi2) / (m c^2 + I - d2^2/d1)
 *   w1'  = -(d2 w2' + phi1) / d1
 *
 * One Runge-Kutta step of fourth order per control step. Operands stand in an order that rounds as
 * the original does.
 */
#include "envs/classic/acrobot.h"

#include <math.h>

#include "common/base/assert.h"
#include "envs/classic/plain_state.h"
#include "envs/classic/sincos.h"

#define PI 3.141592653589793

/* Each number of the state starts an episode uniform in +-RESET_SPREAD. */
#define RESET_SPREAD 0.1

/* Angles, then velocities: what is integrated. */
enum { NUMBERS = 4 };

static const aq_acrobot_params defaults = {
    .gravity = 9.8,
    .link_length = 1.0,
    .link_mass = 1.0,
    .link_centre = 0.5,
    .link_inertia = 1.0,
    .torque = 1.0,
    .time_step = 0.2,
    .spin_limit = {4 * PI, 9 * PI},
};

static void schema(const void *params, aq_schema *ret_schema)
{
    const aq_acrobot_params *p = params;
    const float spin[2] = {(float)p->spin_limit[0], (float)p->spin_limit[1]};
    const float high[AQ_ACROBOT_OBS] = {1.0f, 1.0f, 1.0f, 1.0f, spin[0], spin[1]};
    const float low[AQ_ACROBOT_OBS] = {-1.0f, -1.0f, -1.0f, -1.0f, -spin[0], -spin[1]};
    aq_space_init_box(&ret_schema->obs, AQ_ACROBOT_OBS, low, high);
    aq_space_init_discrete(&ret_schema->action, AQ_ACROBOT_ACTIONS);
}

static void observe(const void *params, const void *state, void *obs)
{
    const aq_acrobot_state *s = state;
    float *row = obs;
    (void)params;
    for (int i = 0; i < 2; i++) {
        double sine, cosine;
        aq_sincos(s->angle[i], &sine, &cosine);
        row[2 * i] = (float)cosine;
        row[2 * i + 1] = (float)sine;
        row[4 + i] = (float)s->spin[i];
    }
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    aq_acrobot_state *s = state;
    for (int i = 0; i < 2; i++) {
        s->angle[i] = (float)aq_rng_range(rng, -RESET_SPREAD, RESET_SPREAD);
    }
    for (int i = 0; i < 2; i++) {
        s->spin[i] = (float)aq_rng_range(rng, -RESET_SPREAD, RESET_SPREAD);
    }
    observe(params, s, obs);
    return true;
}

static double cosine_of(double angle)
{
    double sine, cosine;
    aq_sincos(angle, &sine, &cosine);
    return cosine;
}

/* The derivative of y = (a1, a2, w1, w2) by time. */
static void differentiate(const aq_acrobot_params *p, double torque, const double *y, double *ret_d)
{
    const double m = p->link_mass, l = p->link_length, c = p->link_centre, g = p->gravity;
    const double inertia = p->link_inertia, w1 = y[2], w2 = y[3];
    double sine, cosine;
    aq_sincos(y[1], &sine, &cosine);
    const double d1 = m * (c * c) + m * (l * l + c * c + 2 * l * c * cosine) + inertia + inertia;
    const double d2 = m * (c * c + l * c * cosine) + inertia;
    const double phi2 = m * c * g * cosine_of(y[0] + y[1] - PI / 2);
    const double phi1 = -m * l * c * (w2 * w2) * sine - 2 * m * l * c * w2 * w1 * sine +
                        (m * c + m * l) * g * cosine_of(y[0] - PI / 2) + phi2;
    const double w2_dot = (torque + d2 / d1 * phi1 - m * l * c * (w1 * w1) * sine - phi2) /
                          (m * (c * c) + inertia - d2 * d2 / d1);
    ret_d[0] = w1;
    ret_d[1] = w2;
    ret_d[2] = -(d2 * w2_dot + phi1) / d1;
    ret_d[3] = w2_dot;
}

static void integrate(const aq_acrobot_params *p, double torque, double *y)
{
    const double step = p->time_step, half = step / 2;
    double k1[NUMBERS], k2[NUMBERS], k3[NUMBERS], k4[NUMBERS], at[NUMBERS];
    differentiate(p, torque, y, k1);
    for (int i = 0; i < NUMBERS; i++) {
        at[i] = y[i] + half * k1[i];
    }
    differentiate(p, torque, at, k2);
    for (int i = 0; i < NUMBERS; i++) {
        at[i] = y[i] + half * k2[i];
    }
    differentiate(p, torque, at, k3);
    for (int i = 0; i < NUMBERS; i++) {
        at[i] = y[i] + step * k3[i];
    }
    differentiate(p, torque, at, k4);
    for (int i = 0; i < NUMBERS; i++) {
        y[i] += step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
}

/* Into -pi .. pi by whole turns, as the original: one at a time. A step makes a few at most; only
 * a state that was put in from outside can be so far off that they are taken at once. */
static double wrapped(double angle)
{
    const double turn = 2 * PI, far = 64 * PI;
    if (!(fabs(angle) <= far)) {
        return remainder(angle, turn);
    }
    while (angle > PI) {
        angle -= turn;
    }
    while (angle < -PI) {
        angle += turn;
    }
    return angle;
}

static double limited(double value, double limit)
{
    return value < -limit ? -limit : value > limit ? limit : value;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    const aq_acrobot_params *p = params;
    aq_acrobot_state *s = state;
    const int32_t choice = *(const int32_t *)action;
    double y[NUMBERS] = {s->angle[0], s->angle[1], s->spin[0], s->spin[1]};
    (void)rng;
    AQ_ASSERT(choice >= 0);
    AQ_ASSERT(choice < AQ_ACROBOT_ACTIONS);

    integrate(p, (choice - 1) * p->torque, y);
    for (int i = 0; i < 2; i++) {
        s->angle[i] = wrapped(y[i]);
        s->spin[i] = limited(y[2 + i], p->spin_limit[i]);
    }
    observe(p, s, obs);
    const bool is_up = -cosine_of(s->angle[0]) - cosine_of(s->angle[1] + s->angle[0]) > 1.0;
    *reward = is_up ? 0.0f : -1.0f;
    return is_up ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static void draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_acrobot_state *s = state;
    const aq_colour paper = {250, 250, 246}, line = {200, 60, 60}, link = {40, 110, 160},
                    joint = {30, 40, 50};
    const double length = 0.21, first = s->angle[0], second = s->angle[0] + s->angle[1];
    const aq_point pivot = {0.0, 0.0};
    const aq_point elbow = {length * sin(first), length * cos(first)};
    const aq_point tip = {elbow.x + length * sin(second), elbow.y + length * cos(second)};
    (void)params;
    aq_canvas_fill(canvas, paper);
    aq_canvas_stroke(canvas, (aq_point){-9.0, -length}, (aq_point){9.0, -length}, 0.006, line);
    aq_canvas_stroke(canvas, pivot, elbow, 0.045, link);
    aq_canvas_stroke(canvas, elbow, tip, 0.045, link);
    aq_canvas_disc(canvas, pivot, 0.015, joint);
    aq_canvas_disc(canvas, elbow, 0.015, joint);
}

const aq_env_class aq_acrobot_v1 = {
    .name = "gym:Acrobot-v1",
    .summary = "Swing two hanging links up by turning the joint between them.",
    .step_limit = 500,
    .reward_threshold = -100.0,
    .params_bytes = sizeof(aq_acrobot_params),
    .state_bytes = sizeof(aq_acrobot_state),
    .defaults = &defaults,
    .schema = schema,
    .reset = reset,
    .step = step,
    .velocities = 1u << 4 | 1u << 5,
    .observe = observe,
    .draw = draw,
    .put = aq_plain_put_4,
};
