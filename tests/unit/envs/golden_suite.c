/*
 * Numbers between commas, and the tasks of one recording side by side.
 */
#include "tests/unit/envs/golden_suite.h"
#include "envs/env_golden.h"
#include "envs/env_open.h"
#include "tests/support/test.h"

enum { TASKS_MAX = 4 };

/* -- reading ---------------------------------------------------------------------------------- */

bool suite_golden_next(FILE *file, suite_line *ret_line)
{
    if (!golden_line(file, ret_line->text, sizeof(ret_line->text))) {
        return false;
    }
    char *comma = strchr(ret_line->text, ',');
    assert_non_null(comma);
    *comma = '\0';
    ret_line->kind = ret_line->text;
    ret_line->rest = comma + 1;
    return true;
}

size_t suite_golden_numbers(const suite_line *line, double *out)
{
    size_t count = 0;
    const char *field = line->rest;
    while (true) {
        char *end;
        assert_true(count < SUITE_NUMBERS_MAX);
        out[count++] = strtod(field, &end);
        assert_true(end != field && (*end == ',' || *end == '\0'));
        if (*end == '\0') {
            return count;
        }
        field = end + 1;
    }
}

double suite_golden_error(double ours, double theirs)
{
    return fabs(ours - theirs) / fmax(1, fabs(theirs));
}

/* -- playing ---------------------------------------------------------------------------------- */

typedef struct player {
    const char *file_name;
    double limit;
    size_t task_count;
    struct {
        aq_env *env;
        void *state;
        double obs[SUITE_NUMBERS_MAX];
        double reward;
    } tasks[TASKS_MAX];
    size_t set_count; /* values that wait to be put into the tasks */
    struct {
        char name[32];
        size_t count;
        double numbers[SUITE_NUMBERS_MAX];
    } set[AQ_GOLDEN_VALUES_MAX];
    size_t compared;
} player;

static void add_task(player *self, const char *name)
{
    assert_true(self->task_count < TASKS_MAX);
    aq_env **env = &self->tasks[self->task_count].env;
    void **state = &self->tasks[self->task_count].state;
    assert_succeeds(aq_env_open(name, env, &refusal));
    *state = aq_alloc(1, (*env)->class->state_bytes);
    assert_non_null(*state);
    assert_succeeds((*env)->class->begin((*env)->params, *state, &refusal));
    self->task_count++;
}

static void finish(player *self)
{
    for (size_t i = 0; i < self->task_count; i++) {
        aq_env *env = self->tasks[i].env;
        env->class->end(env->params, self->tasks[i].state);
        aq_free(self->tasks[i].state);
        aq_env_unref(env);
    }
}

static void keep_value(player *self, const suite_line *line)
{
    assert_true(self->set_count < AQ_GOLDEN_VALUES_MAX);
    assert_true(strlen(line->kind) < sizeof(self->set[0].name));
    memcpy(self->set[self->set_count].name, line->kind, strlen(line->kind) + 1);
    self->set[self->set_count].count =
        suite_golden_numbers(line, self->set[self->set_count].numbers);
    self->set_count++;
}

static void put_values(player *self)
{
    aq_golden_values values = {.count = self->set_count};
    if (self->set_count == 0) {
        return;
    }
    for (size_t i = 0; i < self->set_count; i++) {
        values.rows[i] =
            (aq_golden_value){self->set[i].name, self->set[i].count, self->set[i].numbers};
    }
    for (size_t i = 0; i < self->task_count; i++) {
        const aq_env *env = self->tasks[i].env;
        assert_succeeds(
            env->class->golden->set(env->params, self->tasks[i].state, &values, &refusal));
        env->class->golden->observe(env->params, self->tasks[i].state, self->tasks[i].obs,
                                    &self->tasks[i].reward);
    }
    self->set_count = 0;
}

static void act(player *self, const suite_line *line)
{
    double action[SUITE_NUMBERS_MAX];
    const size_t count = suite_golden_numbers(line, action);
    for (size_t i = 0; i < self->task_count; i++) {
        aq_rng rng = {{0}};
        const aq_env *env = self->tasks[i].env;
        assert_int_equal(count, aq_space_elements(&env->schema.action));
        assert_int_equal(env->class->golden->step(env->params, self->tasks[i].state, &rng, action,
                                                  self->tasks[i].obs, &self->tasks[i].reward),
                         AQ_STEP_GOES_ON);
    }
}

static void compare(player *self, const char *what, double ours, double theirs)
{
    const double error = suite_golden_error(ours, theirs);
    if (!(error <= self->limit)) {
        fail_msg("%s: %s is %.17g and not %.17g (comparison %zu)", self->file_name, what, ours,
                 theirs, self->compared);
    }
    self->compared++;
}

static void compare_obs(player *self, const suite_line *line)
{
    double theirs[SUITE_NUMBERS_MAX];
    const size_t count = suite_golden_numbers(line, theirs);
    for (size_t i = 0; i < self->task_count; i++) {
        assert_int_equal(count, aq_space_elements(&self->tasks[i].env->schema.obs));
        for (size_t k = 0; k < count; k++) {
            compare(self, "an observation", self->tasks[i].obs[k], theirs[k]);
        }
    }
}

static void compare_rewards(player *self, const suite_line *line)
{
    double theirs[SUITE_NUMBERS_MAX];
    assert_int_equal(suite_golden_numbers(line, theirs), self->task_count);
    for (size_t i = 0; i < self->task_count; i++) {
        compare(self, "a reward", self->tasks[i].reward, theirs[i]);
    }
}

static void play_line(player *self, const suite_line *line)
{
    if (strcmp(line->kind, "task") == 0) {
        add_task(self, line->rest);
    } else if (strcmp(line->kind, "action") == 0) {
        put_values(self);
        act(self, line);
    } else if (strcmp(line->kind, "obs") == 0) {
        put_values(self);
        compare_obs(self, line);
    } else if (strcmp(line->kind, "reward") == 0) {
        put_values(self);
        compare_rewards(self, line);
    } else {
        keep_value(self, line);
    }
}

void suite_golden_play(const char *name, double limit)
{
    player self = {.file_name = name, .limit = limit};
    suite_line line;
    FILE *file = golden_open(name);
    while (suite_golden_next(file, &line)) {
        play_line(&self, &line);
    }
    (void)fclose(file);
    finish(&self);
    assert_true(self.compared > 0);
}
