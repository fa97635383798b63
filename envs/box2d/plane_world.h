/*
 * Plane world: what of Box2D (0044) is used here, as C. One world of ground, bodies that touch the
 * ground but not each other, and hinges between them. Lengths are metres, angles radians.
 *
 * The file behind it is the only C++ of the project. Box2D takes its memory from malloc. The same
 * calls on a new world give the same bits; a world can't be copied.
 *
 * One thread at a time for one world.
 */
#ifndef AQ_ENVS_BOX2D_PLANE_WORLD_H
#define AQ_ENVS_BOX2D_PLANE_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { AQ_PLANE_BODIES_MAX = 4, AQ_PLANE_CORNERS_MAX = 8 };

typedef struct aq_plane_world aq_plane_world;

typedef struct aq_plane_vector {
    float x, y;
} aq_plane_vector;

/* A convex body, about its own origin. */
typedef struct aq_plane_shape {
    uint32_t corner_count;
    aq_plane_vector corners[AQ_PLANE_CORNERS_MAX];
    float density, friction;
} aq_plane_shape;

/* Where the origin of `leg` hangs from that of `body`: a motor turns it at `speed` with up to
 * `torque` as far as the angle between them stays within the limits. */
typedef struct aq_plane_hinge {
    uint32_t body, leg;
    aq_plane_vector leg_anchor; /* in the leg's frame */
    float low, high;
    float speed, torque;
} aq_plane_hinge;

typedef struct aq_plane_body {
    aq_plane_vector place, velocity; /* of its origin, of its centre of mass */
    float angle, spin;
    bool is_awake;
    bool touches;     /* the ground, as the last contact to begin or to end left it */
    bool has_touched; /* ever */
} aq_plane_body;

/* A world lies in that many bytes of the caller's, aligned as aq_alloc does. */
size_t aq_plane_world_bytes(void);
void aq_plane_world_init(aq_plane_world *world, float gravity);
void aq_plane_world_fini(aq_plane_world *world);

void aq_plane_world_add_ground(aq_plane_world *world, aq_plane_vector from, aq_plane_vector to,
                               float friction);
/* Its number, from 0 on; no more than AQ_PLANE_BODIES_MAX. */
uint32_t aq_plane_world_add_body(aq_plane_world *world, const aq_plane_shape *shape,
                                 aq_plane_vector place, float angle);
void aq_plane_world_add_hinge(aq_plane_world *world, const aq_plane_hinge *hinge);

/* Both wake the body. A force acts in its centre during the next step, an impulse at once. */
void aq_plane_world_force(aq_plane_world *world, uint32_t body, aq_plane_vector force,
                          float torque);
void aq_plane_world_push(aq_plane_world *world, uint32_t body, aq_plane_vector impulse,
                         aq_plane_vector at);

void aq_plane_world_step(aq_plane_world *world, float seconds);
void aq_plane_world_read(const aq_plane_world *world, uint32_t body, aq_plane_body *ret_body);

#ifdef __cplusplus
}
#endif

#endif
