/*
 * Pictures of the suite: every geom's outline, the farthest first. Projection is along parallels,
 * so that a sphere is a disc and a capsule a stroke; of the other shapes the outline is the polygon
 * of the points that reach farthest in sixteen directions of the picture.
 *
 * A domain whose joints all move in one plane is seen at a right angle to that plane: from the side
 * or from above. The others are seen from the front and a little above. What walks about stays in
 * the middle, and squares on the floor show that it moves.
 */
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "envs/mujoco/suite.h"

enum {
    PARTS_MAX = 128,
    CORNERS = 16,
    SITE_GROUPS_SHOWN = 3,
    TARGET_GROUP = 3,
    FLOATING_JOINTS = 3
};

/* Of what the model calls its extent, this much is seen of the smaller side. */
#define VIEW_EXTENTS 1.4

/* Of the smaller side: the dark border of a body, and the least that a body is wide. */
#define OUTLINE  0.008
#define THINNEST 0.03

#define TWO_PI 6.283185307179586

typedef enum view_kind { VIEW_SIDE, VIEW_TOP, VIEW_ROUND } view_kind;

typedef struct view {
    view_kind kind;
    mjtNum right[3], up[3], near[3]; /* of the picture, in the world; near: towards the eye */
    mjtNum centre[3];                /* what is in the middle */
    double side;                     /* metres of the smaller side */
} view;

/* Something to be drawn: a geom or a site. */
typedef struct part {
    int type; /* mjtGeom */
    const mjtNum *size, *centre, *orientation;
    aq_colour colour;
    double nearness;
} part;

typedef struct part_list {
    size_t count;
    part parts[PARTS_MAX];
} part_list;

static const aq_colour sky = {250, 250, 246}, outline = {40, 44, 52}, floor_light = {226, 224, 216},
                       floor_dark = {208, 206, 198}, fixed = {150, 154, 160},
                       target_red = {222, 84, 72}, string_grey = {90, 90, 96};

/* -- the view --------------------------------------------------------------------------------- */

/* Whether all joints move in the plane at a right angle to that axis of the world. */
static bool is_planar(const mjModel *model, const mjData *data, int axis)
{
    for (int i = 0; i < model->njnt; i++) {
        const double along = fabs(data->xaxis[3 * i + axis]);
        const int type = model->jnt_type[i];
        if ((type != mjJNT_HINGE || along < 0.999) && (type != mjJNT_SLIDE || along > 0.001)) {
            return false;
        }
    }
    return true;
}

static void set_axes(view *v, double turn, double tilt)
{
    const double right[3] = {cos(turn), sin(turn), 0};
    const double near[3] = {sin(turn) * cos(tilt), -cos(turn) * cos(tilt), sin(tilt)};
    mju_copy3(v->right, right);
    mju_copy3(v->near, near);
    mju_cross(v->up, near, right);
}

/* A body that nothing holds: by a free joint, or by the three of a plane. */
static bool is_floating(const mjModel *model)
{
    return model->njnt > 0 && (model->jnt_type[0] == mjJNT_FREE ||
                               model->body_jntnum[model->jnt_bodyid[0]] == FLOATING_JOINTS);
}

static view make_view(const mjModel *model, const mjData *data)
{
    view v = {.kind = VIEW_ROUND, .side = VIEW_EXTENTS * model->stat.extent};
    mju_copy3(v.centre, model->stat.center);
    if (is_planar(model, data, 1)) {
        v.kind = VIEW_SIDE;
        set_axes(&v, 0, 0);
    } else if (is_planar(model, data, 2)) {
        v.kind = VIEW_TOP;
        set_axes(&v, 0, TWO_PI / 4);
    } else {
        set_axes(&v, TWO_PI / 5, TWO_PI / 24);
    }
    if (is_floating(model)) {
        const mjtNum *mass_centre = data->subtree_com + (ptrdiff_t)3 * model->jnt_bodyid[0];
        v.centre[0] = mass_centre[0];
        v.centre[1] = mass_centre[1];
    }
    return v;
}

static aq_point project(const view *v, const mjtNum *point)
{
    mjtNum from_centre[3];
    mju_sub3(from_centre, point, v->centre);
    return (aq_point){mju_dot3(from_centre, v->right) / v->side,
                      -mju_dot3(from_centre, v->up) / v->side};
}

static aq_colour shaded(aq_colour colour, double light)
{
    return (aq_colour){(uint8_t)(colour.red * light), (uint8_t)(colour.green * light),
                       (uint8_t)(colour.blue * light)};
}

/* -- the floor -------------------------------------------------------------------------------- */

static void draw_rectangle(const view *v, const mjtNum *middle, double width, double depth,
                           aq_colour colour, aq_canvas *canvas)
{
    aq_point corners[4];
    for (int i = 0; i < 4; i++) {
        const mjtNum corner[3] = {middle[0] + (i == 0 || i == 3 ? -width : width) / 2,
                                  middle[1] + (i < 2 ? -depth : depth) / 2, middle[2]};
        corners[i] = project(v, corner);
    }
    aq_canvas_polygon(canvas, corners, 4, colour);
}

/* What lies below the floor, in upright stripes a metre wide. */
static void draw_floor_from_the_side(const view *v, double height, aq_canvas *canvas)
{
    const double half = 2 * v->side; /* more than any picture shows */
    const double first = floor(v->centre[0] - half);
    for (int i = 0; i <= 2 * half + 1; i++) { /* far out, x + 1 is x */
        const double x = first + i;
        const mjtNum ends[2][3] = {{x, 0, height}, {x + 1, 0, height - 2 * half}};
        const aq_point a = project(v, ends[0]), b = project(v, ends[1]);
        const aq_point corners[4] = {a, {b.x, a.y}, b, {a.x, b.y}};
        const bool is_dark = fmod(fabs(x), 2) != 0;
        aq_canvas_polygon(canvas, corners, 4, is_dark ? floor_dark : floor_light);
    }
}

/* The floor around the middle, and squares of a metre on it. */
static void draw_floor_from_above(const view *v, double height, aq_canvas *canvas)
{
    enum { REACH = 8 };
    const double x0 = floor(v->centre[0]), y0 = floor(v->centre[1]);
    const mjtNum middle[3] = {x0, y0, height};
    draw_rectangle(v, middle, 2 * REACH, 2 * REACH, floor_light, canvas);
    for (int i = -REACH; i < REACH; i++) {
        for (int k = -REACH; k < REACH; k++) {
            const mjtNum square[3] = {x0 + i + 0.5, y0 + k + 0.5, height};
            if (fmod(fabs(x0 + y0 + i + k), 2) != 0) {
                draw_rectangle(v, square, 1, 1, floor_dark, canvas);
            }
        }
    }
}

/* A plane that lies, as wide as it is described when seen from above. Walls are left out: they
 * would hide what is between them. */
static void draw_plane(const view *v, const mjtNum *size, const mjtNum *centre,
                       const mjtNum *orientation, aq_canvas *canvas)
{
    if (orientation[AQ_SUITE_ZZ] < 0.999) {
        return;
    }
    if (v->kind == VIEW_SIDE) {
        draw_floor_from_the_side(v, centre[2], canvas);
    } else if (v->kind == VIEW_ROUND) {
        draw_floor_from_above(v, centre[2], canvas);
    } else {
        draw_rectangle(v, centre, 2 * size[0], 2 * size[1], floor_light, canvas);
    }
}

/* -- bodies ----------------------------------------------------------------------------------- */

/* The point of a box, cylinder or ellipsoid that reaches farthest in a direction. */
static void find_support(const part *p, const mjtNum *direction, mjtNum *ret_point)
{
    mjtNum d[3], local[3];
    mju_rotVecMatT(d, direction, p->orientation);
    const double across = hypot(d[0], d[1]);
    if (p->type == mjGEOM_BOX) {
        for (int i = 0; i < 3; i++) {
            local[i] = copysign(p->size[i], d[i]);
        }
    } else if (p->type == mjGEOM_CYLINDER) {
        local[0] = across > 0 ? p->size[0] * d[0] / across : 0;
        local[1] = across > 0 ? p->size[0] * d[1] / across : 0;
        local[2] = copysign(p->size[1], d[2]);
    } else {
        const double length = hypot(hypot(p->size[0] * d[0], p->size[1] * d[1]), p->size[2] * d[2]);
        for (int i = 0; i < 3; i++) {
            local[i] = p->size[i] * p->size[i] * d[i] / length;
        }
    }
    mju_rotVecMat(ret_point, local, p->orientation);
    mju_addTo3(ret_point, p->centre);
}

static void draw_outline(const view *v, const part *p, aq_canvas *canvas)
{
    aq_point corners[CORNERS];
    for (int i = 0; i < CORNERS; i++) {
        const double angle = (i + 0.5) * TWO_PI / CORNERS;
        mjtNum direction[3], point[3];
        mju_scl3(direction, v->right, cos(angle));
        mju_addToScl3(direction, v->up, sin(angle));
        find_support(p, direction, point);
        corners[i] = project(v, point);
    }
    aq_canvas_polygon(canvas, corners, CORNERS, p->colour);
    for (int i = 0; i < CORNERS; i++) {
        aq_canvas_stroke(canvas, corners[i], corners[(i + 1) % CORNERS], OUTLINE / 2, outline);
    }
}

static void draw_round(const view *v, const part *p, aq_canvas *canvas)
{
    const double half = p->type == mjGEOM_CAPSULE ? p->size[1] : 0;
    const double thickness = fmax(2 * p->size[0] / v->side, THINNEST);
    const mjtNum axis[3] = {p->orientation[AQ_SUITE_XZ], p->orientation[AQ_SUITE_YZ],
                            p->orientation[AQ_SUITE_ZZ]};
    mjtNum ends[2][3];
    mju_addScl3(ends[0], p->centre, axis, half);
    mju_addScl3(ends[1], p->centre, axis, -half);
    const aq_point from = project(v, ends[0]), to = project(v, ends[1]);
    aq_canvas_stroke(canvas, from, to, thickness, outline);
    aq_canvas_stroke(canvas, from, to, thickness - OUTLINE, p->colour);
}

/* In the list the farther ones come first, and of equals those that were first. */
static void add_part(const view *v, part_list *list, part p)
{
    AQ_ASSERT(list->count < PARTS_MAX);
    size_t place = list->count++;
    p.nearness = mju_dot3(p.centre, v->near);
    while (place > 0 && list->parts[place - 1].nearness > p.nearness) {
        list->parts[place] = list->parts[place - 1];
        place--;
    }
    list->parts[place] = p;
}

/* -- models ----------------------------------------------------------------------------------- */

static aq_colour body_colour(int body)
{
    static const aq_colour colours[] = {{70, 130, 190}, {104, 160, 208}, {56, 104, 160}};
    return body == 0 ? fixed : colours[body % (int)(sizeof(colours) / sizeof(colours[0]))];
}

static bool is_target(const mjModel *model, mjtObj kind, int number)
{
    const char *name = mj_id2name(model, (int)kind, number);
    return name != NULL && strcmp(name, "target") == 0;
}

static void add_geoms(const aq_suite *suite, const aq_suite_lane *lane, const view *v,
                      part_list *list)
{
    const mjModel *model = suite->model;
    const mjData *data = lane->physics.data;
    for (int i = 0; i < model->ngeom; i++) {
        if (model->geom_type[i] == mjGEOM_PLANE) {
            continue;
        }
        const bool target = is_target(model, mjOBJ_GEOM, i);
        const bool placed = target && suite->task->placed != NULL;
        add_part(v, list,
                 (part){.type = model->geom_type[i],
                        .size = model->geom_size + (ptrdiff_t)3 * i,
                        .centre = placed ? lane->target : data->geom_xpos + (ptrdiff_t)3 * i,
                        .orientation = data->geom_xmat + (ptrdiff_t)9 * i,
                        .colour = target ? target_red : body_colour(model->geom_bodyid[i])});
    }
}

/* Sites are marks: of those, targets are shown, and what is in a group that is shown by custom. Not
 * so a target that belongs to other tasks of the domain, or one that fills a body. */
static void add_sites(const aq_suite *suite, const aq_suite_lane *lane, const view *v,
                      part_list *list)
{
    const mjModel *model = suite->model;
    const mjData *data = lane->physics.data;
    for (int i = 0; i < model->nsite; i++) {
        const bool target = is_target(model, mjOBJ_SITE, i);
        const bool placed = target && suite->task->placed != NULL;
        const int group = model->site_group[i];
        if (target ? !placed && group != TARGET_GROUP : group >= SITE_GROUPS_SHOWN) {
            continue;
        }
        add_part(v, list,
                 (part){.type = model->site_type[i],
                        .size = model->site_size + (ptrdiff_t)3 * i,
                        .centre = placed ? lane->target : data->site_xpos + (ptrdiff_t)3 * i,
                        .orientation = data->site_xmat + (ptrdiff_t)9 * i,
                        .colour = target_red});
    }
}

/* Strings between bodies. */
static void draw_strings(const mjModel *model, const mjData *data, const view *v, aq_canvas *canvas)
{
    for (int i = 0; i < model->ntendon; i++) {
        const mjtNum *point = data->wrap_xpos + (ptrdiff_t)3 * data->ten_wrapadr[i];
        for (int k = 1; k < data->ten_wrapnum[i]; k++, point += 3) {
            aq_canvas_stroke(canvas, project(v, point), project(v, point + 3), OUTLINE,
                             string_grey);
        }
    }
}

void aq_suite_draw(const void *params, const void *state, aq_canvas *canvas)
{
    const aq_suite *suite = params;
    const aq_suite_lane *lane = state;
    const mjModel *model = suite->model;
    const mjData *data = lane->physics.data;
    aq_physics_place_geoms(&lane->physics, model);
    const view v = make_view(model, data);
    part_list list = {0};
    aq_canvas_fill(canvas, sky);
    for (int i = 0; i < model->ngeom; i++) {
        if (model->geom_type[i] == mjGEOM_PLANE) {
            draw_plane(&v, model->geom_size + (ptrdiff_t)3 * i, data->geom_xpos + (ptrdiff_t)3 * i,
                       data->geom_xmat + (ptrdiff_t)9 * i, canvas);
        }
    }
    draw_strings(model, data, &v, canvas);
    add_geoms(suite, lane, &v, &list);
    add_sites(suite, lane, &v, &list);
    for (size_t i = 0; i < list.count; i++) {
        part *p = &list.parts[i];
        p->colour = shaded(p->colour, 0.75 + 0.25 * (double)(i + 1) / (double)list.count);
        if (p->type == mjGEOM_SPHERE || p->type == mjGEOM_CAPSULE) {
            draw_round(&v, p, canvas);
        } else {
            draw_outline(&v, p, canvas);
        }
    }
}
