/*
 * CartPole, computed once more from its equations, in the plainest way: what the next observation
 * must be after an observation and an action. Observations are rounded to single precision, so the
 * comparison allows for that, and for nothing that a fault could hide in.
 */
#ifndef AQ_TESTS_CHAOS_CHAOS_CARTPOLE_H
#define AQ_TESTS_CHAOS_CHAOS_CARTPOLE_H

#include <stdbool.h>
#include <stdint.h>

enum { CHAOS_OBS = 4 };

/* `obs` and `next` are rows of four floats, unaligned; `action` is 0 or 1. */
bool chaos_cartpole_follows(const uint8_t *obs, int32_t action, const uint8_t *next);

/* Whether the cart or the pole is beyond its limit, where an episode terminates; `margin` beyond,
 * if positive. */
bool chaos_cartpole_is_out(const uint8_t *obs, double margin);

#endif
