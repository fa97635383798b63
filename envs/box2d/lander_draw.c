/*
 * A picture of the lander: its world is 20 m wide, and as high as the picture shows of it.
 */
#include <math.h>

#include "envs/box2d/lander.h"

static const aq_colour sky = {14, 18, 40}, earth = {205, 205, 215}, purple = {128, 102, 230},
                       flag = {220, 200, 40}, flame = {250, 150, 50};

static aq_point place_of(const aq_canvas *canvas, double x, double y)
{
    const uint32_t side = aq_canvas_unit(canvas);
    const double metre = (double)canvas->width / side / AQ_LANDER_WIDTH;
    const double bottom = 0.5 * (double)canvas->height / side;
    return (aq_point){(x - AQ_LANDER_WIDTH / 2) * metre, bottom - y * metre};
}

/* A point of a body, in metres from its origin. */
static aq_point point_of(const aq_canvas *canvas, const aq_plane_body *body, double x, double y)
{
    const double sine = sin((double)body->angle), cosine = cos((double)body->angle);
    return place_of(canvas, (double)body->place.x + x * cosine - y * sine,
                    (double)body->place.y + x * sine + y * cosine);
}

static void draw_body(aq_canvas *canvas, const aq_plane_body *body, const aq_plane_shape *shape)
{
    aq_point corners[AQ_PLANE_CORNERS_MAX];
    for (uint32_t i = 0; i < shape->corner_count; i++) {
        corners[i] =
            point_of(canvas, body, (double)shape->corners[i].x, (double)shape->corners[i].y);
    }
    aq_canvas_polygon(canvas, corners, shape->corner_count, purple);
}

static void draw_ground(aq_canvas *canvas, const double *heights)
{
    const double apart = AQ_LANDER_WIDTH / (AQ_LANDER_POINTS - 1);
    for (int i = 0; i < AQ_LANDER_POINTS - 1; i++) { /* each a little over the next */
        const double left = apart * i, right = left + 1.01 * apart;
        const aq_point piece[] = {
            place_of(canvas, left, heights[i]), place_of(canvas, right, heights[i + 1]),
            place_of(canvas, right, -AQ_LANDER_HEIGHT), place_of(canvas, left, -AQ_LANDER_HEIGHT)};
        aq_canvas_polygon(canvas, piece, 4, earth);
    }
    for (int side = -1; side <= 1; side += 2) {
        const double x = AQ_LANDER_WIDTH / 2 + side * apart;
        const aq_point foot = place_of(canvas, x, AQ_LANDER_PAD_Y);
        const aq_point top = place_of(canvas, x, AQ_LANDER_PAD_Y + 1.6);
        const aq_point cloth[] = {top, place_of(canvas, x, AQ_LANDER_PAD_Y + 1.0),
                                  place_of(canvas, x + 0.9, AQ_LANDER_PAD_Y + 1.3)};
        aq_canvas_stroke(canvas, foot, top, 0.006, earth);
        aq_canvas_polygon(canvas, cloth, 3, flag);
    }
}

static void draw_flames(aq_canvas *canvas, const aq_plane_body *hull, aq_lander_engines engines)
{
    if (engines.main > 0.0f) {
        aq_canvas_stroke(canvas, point_of(canvas, hull, 0.0, -0.5),
                         point_of(canvas, hull, 0.0, -0.5 - (double)engines.main), 0.02, flame);
    }
    if (engines.side != 0.0f) { /* opposite to where it pushes */
        const double out = copysign(0.6, -(double)engines.side);
        aq_canvas_stroke(canvas, point_of(canvas, hull, out, 0.45),
                         point_of(canvas, hull, out * 1.6, 0.45), 0.01, flame);
    }
}

void aq_lander_draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_lander_state *s = state;
    aq_plane_body bodies[3];
    (void)params;
    for (uint32_t i = 0; i < 3; i++) {
        aq_plane_world_read(s->world, i, &bodies[i]);
    }
    aq_canvas_fill(canvas, sky);
    draw_ground(canvas, s->ground);
    draw_flames(canvas, &bodies[AQ_LANDER_HULL], s->engines);
    draw_body(canvas, &bodies[AQ_LANDER_LEG_1], &aq_lander_leg);
    draw_body(canvas, &bodies[AQ_LANDER_LEG_2], &aq_lander_leg);
    draw_body(canvas, &bodies[AQ_LANDER_HULL], &aq_lander_hull);
}
