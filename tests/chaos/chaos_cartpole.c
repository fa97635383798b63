/*
 * Numbers as the environment has them, written down again.
 */
#include "tests/chaos/chaos_cartpole.h"

#include <math.h>
#include <string.h>

#define TIME_STEP   0.02
#define GRAVITY     9.8
#define MASS        1.1  /* of cart and pole */
#define POLE        0.05 /* its mass by half its length */
#define HALF_LENGTH 0.5
#define FORCE       10.0
#define X_LIMIT     2.4
#define ANGLE_LIMIT 0.20943951023931953 /* 12 degrees */
#define ROUNDING    2e-6

static void read_row(const uint8_t *row, double ret_numbers[CHAOS_OBS])
{
    for (int i = 0; i < CHAOS_OBS; i++) {
        float number;
        memcpy(&number, row + (size_t)i * sizeof(number), sizeof(number));
        ret_numbers[i] = (double)number;
    }
}

bool chaos_cartpole_follows(const uint8_t *obs, int32_t action, const uint8_t *next)
{
    double s[CHAOS_OBS], real[CHAOS_OBS];
    read_row(obs, s);
    read_row(next, real);
    if (action != 0 && action != 1) {
        return false;
    }
    const double force = action == 1 ? FORCE : -FORCE;
    const double sine = sin(s[2]), cosine = cos(s[2]);
    const double push = (force + POLE * s[3] * s[3] * sine) / MASS;
    const double turn = (GRAVITY * sine - cosine * push) /
                        (HALF_LENGTH * (4.0 / 3.0 - 0.1 * cosine * cosine / MASS));
    const double pull = push - POLE * turn * cosine / MASS;
    const double expected[CHAOS_OBS] = {s[0] + TIME_STEP * s[1], s[1] + TIME_STEP * pull,
                                        s[2] + TIME_STEP * s[3], s[3] + TIME_STEP * turn};
    for (int i = 0; i < CHAOS_OBS; i++) {
        if (!(fabs(real[i] - expected[i]) <= ROUNDING * (1.0 + fabs(expected[i])))) {
            return false;
        }
    }
    return true;
}

bool chaos_cartpole_is_out(const uint8_t *obs, double margin)
{
    double s[CHAOS_OBS];
    read_row(obs, s);
    return fabs(s[0]) > X_LIMIT + margin || fabs(s[2]) > ANGLE_LIMIT + margin;
}
