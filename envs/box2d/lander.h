/*
 * Lander: bring a small craft down on a pad between two flags, softly and upright, with a main
 * engine and two that turn it. The rules are those of Gymnasium's LunarLander as its pages describe
 * them, and stand in docs/lander.md. The physics is Box2D's, of another version than theirs.
 *
 * All of an episode's chance comes from a generator of its own, seeded at its reset.
 *
 * The structs are public for the drawing and for tests.
 */
#ifndef AQ_ENVS_BOX2D_LANDER_H
#define AQ_ENVS_BOX2D_LANDER_H

#include "envs/box2d/plane_world.h"
#include "envs/env.h"

enum {
    AQ_LANDER_OBS = 8,
    AQ_LANDER_POINTS = 11, /* of the ground's line */
    AQ_LANDER_HULL_CORNERS = 6,
};

enum { AQ_LANDER_HULL, AQ_LANDER_LEG_1, AQ_LANDER_LEG_2 }; /* bodies of its world */

enum { AQ_LANDER_NOTHING, AQ_LANDER_LEFT, AQ_LANDER_MAIN, AQ_LANDER_RIGHT, AQ_LANDER_ACTIONS };

/* Metres. */
#define AQ_LANDER_WIDTH  20.0
#define AQ_LANDER_HEIGHT (400.0 / 30.0)
#define AQ_LANDER_PAD_Y  (AQ_LANDER_HEIGHT / 4)

typedef struct aq_lander_params {
    bool continuous;
    bool has_wind;
    double gravity;    /* m/s^2, below 0 */
    double wind;       /* N, the most */
    double turbulence; /* N m, the most */
} aq_lander_params;

/* Shares of full power; of the side engines negative for the left one's. */
typedef struct aq_lander_engines {
    float main, side;
} aq_lander_engines;

typedef struct aq_lander_state {
    aq_plane_world *world;
    bool is_world_up;
    aq_rng rng;
    double ground[AQ_LANDER_POINTS]; /* heights, evenly apart */
    double wind_time, turbulence_time;
    double shaping;
    aq_lander_engines engines; /* in the last step */
    float obs[AQ_LANDER_OBS];
} aq_lander_state;

extern const aq_plane_shape aq_lander_hull, aq_lander_leg;

void aq_lander_draw(const void *params, const void *state, aq_canvas *canvas);

extern const aq_env_class aq_lunar_lander_v3;
extern const aq_env_class aq_lunar_lander_continuous_v3;

#endif
