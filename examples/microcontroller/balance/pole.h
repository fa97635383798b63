/*
 * A pole on a cart, simulated, so that the examples need no sensors: the equations and the numbers
 * of Gym's CartPole, fifty steps a second. To balance a real one, give policy_act what your sensors
 * say in the same units, and turn the motor instead of calling pole_step.
 */
#ifndef AQ_EXAMPLES_MICROCONTROLLER_BALANCE_POLE_H
#define AQ_EXAMPLES_MICROCONTROLLER_BALANCE_POLE_H

#include <math.h>
#include <stdint.h>

#define POLE_STEP_MS 20

/* Where the cart is and how fast (m, m/s), where the pole is and how fast (rad, rad/s): what the
 * policy sees, in this order. */
typedef struct pole {
    float state[4];
} pole;

/* Pushes the cart to the left (0) or to the right (1) for one step. */
static inline void pole_step(pole *own, uint32_t push)
{
    const float gravity = 9.8f, mass = 1.1f, pole_mass = 0.1f, half_length = 0.5f, step = 0.02f;
    const float force = push == 1 ? 10.0f : -10.0f;
    const float sine = sinf(own->state[2]), cosine = cosf(own->state[2]);
    const float speed = own->state[3];
    const float pull = (force + pole_mass * half_length * speed * speed * sine) / mass;
    const float turn = (gravity * sine - cosine * pull) /
                       (half_length * (4.0f / 3.0f - pole_mass * cosine * cosine / mass));
    const float push_back = pull - pole_mass * half_length * turn * cosine / mass;
    own->state[0] += step * own->state[1];
    own->state[1] += step * push_back;
    own->state[2] += step * own->state[3];
    own->state[3] += step * turn;
}

/* Whether the pole fell, or the cart left the track. */
static inline int pole_fell(const pole *own)
{
    return fabsf(own->state[0]) > 2.4f || fabsf(own->state[2]) > 0.2095f;
}

#endif
