/*
 * A point robot: a puck on a square table with a goal somewhere. Push it so that it comes to the
 * goal, where the episode ends; sooner is better, as each step costs its distance.
 *
 *   so:./point_robot.so:reach    pushes of one strength: none, left, right, down, up
 *   so:./point_robot.so:steer    pushes of any strength up to that, in both directions at once
 *
 * Option `friction`: the share of its speed that the puck loses in a second.
 *
 * The table goes from -1 to 1 both ways; the puck stops at its edges. Times in seconds.
 */
#include <actorq_env.h>

#include <math.h>
#include <string.h>

#define TIME_STEP   0.05
#define PUSH        4.0 /* acceleration; distance per square second */
#define GOAL_RADIUS 0.1
#define ARRIVAL     1.0  /* reward */
#define STEP_COST   0.05 /* for each unit of distance to the goal */

enum { OBS = 6, PUSHES = 5 };

typedef struct params {
    double friction;
} params;

typedef struct state {
    double x, y;
    double speed_x, speed_y;
    double goal_x, goal_y;
} state;

/* Steps differ between the two environments in what an action is. */
typedef struct push {
    double x, y; /* -1 to 1 */
} push;

static int open_params(void *into, const actorq_options *options, char *problem,
                       size_t problem_bytes)
{
    params *p = into;
    (void)problem; /* `number` has its own words */
    (void)problem_bytes;
    p->friction = 0.5;
    return options->number(options->host, "friction", 0.0, 10.0, &p->friction);
}

static void spaces(actorq_space *observation)
{
    actorq_space_floats(observation, OBS, -INFINITY, INFINITY);
}

static void reach_spaces(const void *p, actorq_space *observation, actorq_space *action)
{
    (void)p;
    spaces(observation);
    actorq_space_choices(action, PUSHES);
}

static void steer_spaces(const void *p, actorq_space *observation, actorq_space *action)
{
    (void)p;
    spaces(observation);
    actorq_space_floats(action, 2, -1.0f, 1.0f);
}

static void observe(const void *p, const void *from, void *observation)
{
    const state *s = from;
    float *row = observation;
    (void)p;
    row[0] = (float)s->x;
    row[1] = (float)s->y;
    row[2] = (float)s->speed_x;
    row[3] = (float)s->speed_y;
    row[4] = (float)(s->goal_x - s->x);
    row[5] = (float)(s->goal_y - s->y);
}

static double distance_to_goal(const state *s)
{
    return hypot(s->goal_x - s->x, s->goal_y - s->y);
}

static enum actorq_end reset(const void *p, void *into, actorq_rng *rng, void *observation)
{
    state *s = into;
    memset(s, 0, sizeof(*s));
    do {
        s->x = actorq_between(rng, -0.9, 0.9);
        s->y = actorq_between(rng, -0.9, 0.9);
        s->goal_x = actorq_between(rng, -0.9, 0.9);
        s->goal_y = actorq_between(rng, -0.9, 0.9);
    } while (distance_to_goal(s) < 4 * GOAL_RADIUS);
    observe(p, s, observation);
    return ACTORQ_GOES_ON;
}

/* One direction of the motion. */
static void move(double push, double friction, double *place, double *speed)
{
    *speed += TIME_STEP * (PUSH * push - friction * *speed);
    *place += TIME_STEP * *speed;
    if (fabs(*place) > 1.0) {
        *place = copysign(1.0, *place);
        *speed = 0.0;
    }
}

static enum actorq_end take_step(const params *p, state *s, push pushed, void *observation,
                                 float *reward)
{
    move(pushed.x, p->friction, &s->x, &s->speed_x);
    move(pushed.y, p->friction, &s->y, &s->speed_y);
    const double distance = distance_to_goal(s);
    const int arrived = distance < GOAL_RADIUS;
    *reward = (float)((arrived ? ARRIVAL : 0.0) - STEP_COST * distance);
    observe(p, s, observation);
    return arrived ? ACTORQ_TERMINATED : ACTORQ_GOES_ON;
}

static enum actorq_end reach_step(const void *p, void *s, actorq_rng *rng, const void *action,
                                  void *observation, float *reward)
{
    static const push pushes[PUSHES] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    (void)rng;
    return take_step(p, s, pushes[*(const int32_t *)action], observation, reward);
}

static enum actorq_end steer_step(const void *p, void *s, actorq_rng *rng, const void *action,
                                  void *observation, float *reward)
{
    const float *pushed = action;
    (void)rng;
    return take_step(p, s, (push){pushed[0], pushed[1]}, observation, reward);
}

/* A blue puck and a green goal on grey. */
static void draw(const void *p, const void *from, uint32_t width, uint32_t height, uint8_t *pixels)
{
    const state *s = from;
    (void)p;
    for (uint32_t row = 0; row < height; row++) {
        for (uint32_t column = 0; column < width; column++) {
            const double x = 2.0 * (column + 0.5) / width - 1.0;
            const double y = 1.0 - 2.0 * (row + 0.5) / height;
            const int at_goal = hypot(x - s->goal_x, y - s->goal_y) < GOAL_RADIUS;
            const int at_puck = hypot(x - s->x, y - s->y) < GOAL_RADIUS / 2;
            uint8_t *pixel = pixels + 3 * ((size_t)row * width + column);
            pixel[0] = at_puck ? 30 : at_goal ? 60 : 225;
            pixel[1] = at_puck ? 60 : at_goal ? 170 : 225;
            pixel[2] = at_puck ? 200 : at_goal ? 80 : 225;
        }
    }
}

static const actorq_env envs[] = {
    {
        .name = "reach",
        .summary = "Push a puck to a goal with pushes of one strength.",
        .options = "friction",
        .reward_threshold = 0.35,
        .params_bytes = sizeof(params),
        .state_bytes = sizeof(state),
        .step_limit = 200,
        .open = open_params,
        .spaces = reach_spaces,
        .reset = reset,
        .step = reach_step,
        .observe = observe,
        .draw = draw,
    },
    {
        .name = "steer",
        .summary = "Push a puck to a goal with pushes of any strength.",
        .options = "friction",
        .reward_threshold = 0.35,
        .params_bytes = sizeof(params),
        .state_bytes = sizeof(state),
        .step_limit = 200,
        .open = open_params,
        .spaces = steer_spaces,
        .reset = reset,
        .step = steer_step,
        .observe = observe,
        .draw = draw,
    },
};

const actorq_plugin actorq_plugin_table = {
    ACTORQ_PLUGIN_HEAD,
    .env_count = sizeof(envs) / sizeof(envs[0]),
    .envs = envs,
};
