/*
 * Our descriptions of the suite's bodies compile to the numbers of the original ones, array by
 * array.
 *
 * Element-wise and relative: a hundredth of the error that would show in a recording.
 */
#include <mujoco/mjxmacro.h>
#include <mujoco/mujoco.h>

#include "envs/mujoco/models.h"
#include "envs/mujoco/physics.h"
#include "tests/support/test.h"
#include "tests/unit/envs/golden_suite.h"

#define TOLERANCE 1e-12

/* -- what a model holds, by name -------------------------------------------------------------- */

enum element { ELEMENT_OTHER, ELEMENT_NUMBER, ELEMENT_INT, ELEMENT_BYTE };

typedef struct model_array {
    const char *name;
    enum element element;
    const void *start;
    size_t count;
} model_array;

#define ELEMENT_OF(type)                                                                           \
    _Generic((type)0, mjtNum                                                                       \
             : ELEMENT_NUMBER, int                                                                 \
             : ELEMENT_INT, mjtByte                                                                \
             : ELEMENT_BYTE, default                                                               \
             : ELEMENT_OTHER)

static bool find_in(const model_array *arrays, size_t count, const char *name,
                    model_array *ret_array)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(arrays[i].name, name) == 0) {
            *ret_array = arrays[i];
            return true;
        }
    }
    return false;
}

static bool find_option(const mjModel *model, const char *name, model_array *ret_array)
{
#define X(type, name) {"opt." #name, ELEMENT_OF(type), &model->opt.name, 1},
    const model_array scalars[] = {MJOPTION_SCALARS};
#undef X
#define X(name, size) {"opt." #name, ELEMENT_NUMBER, model->opt.name, size},
    const model_array vectors[] = {MJOPTION_VECTORS};
#undef X
    const model_array statistics[] = {
        {"stat.meaninertia", ELEMENT_NUMBER, &model->stat.meaninertia, 1},
        {"stat.meanmass", ELEMENT_NUMBER, &model->stat.meanmass, 1},
        {"stat.meansize", ELEMENT_NUMBER, &model->stat.meansize, 1},
        {"stat.extent", ELEMENT_NUMBER, &model->stat.extent, 1},
        {"stat.center", ELEMENT_NUMBER, model->stat.center, 3},
    };
    return find_in(scalars, sizeof(scalars) / sizeof(scalars[0]), name, ret_array) ||
           find_in(vectors, sizeof(vectors) / sizeof(vectors[0]), name, ret_array) ||
           find_in(statistics, sizeof(statistics) / sizeof(statistics[0]), name, ret_array);
}

static bool find_size(const mjModel *model, const char *name, model_array *ret_array)
{
#define X(name) {"sizes." #name, ELEMENT_INT, &model->name, 1},
    const model_array sizes[] = {MJMODEL_INTS};
#undef X
    return find_in(sizes, sizeof(sizes) / sizeof(sizes[0]), name, ret_array);
}

static bool find_array(const mjModel *model, const char *name, model_array *ret_array)
{
#undef MJ_M
#define MJ_M(size) model->size
#define X(type, name, rows, columns)                                                               \
    {#name, ELEMENT_OF(type), model->name, (size_t)model->rows * (size_t)(columns)},
    const model_array arrays[] = {MJMODEL_POINTERS};
#undef X
    return find_in(arrays, sizeof(arrays) / sizeof(arrays[0]), name, ret_array);
}

static double element_at(const model_array *array, size_t index)
{
    switch (array->element) {
    case ELEMENT_NUMBER:
        return ((const mjtNum *)array->start)[index];
    case ELEMENT_INT:
        return ((const int *)array->start)[index];
    case ELEMENT_BYTE:
        return ((const mjtByte *)array->start)[index];
    case ELEMENT_OTHER:
    default:
        fail_msg("%s holds no numbers", array->name);
        return 0;
    }
}

/* -- comparing -------------------------------------------------------------------------------- */

static void compare_numbers(const model_array *array, const double *theirs, size_t count,
                            size_t repeat_every)
{
    assert_int_equal(array->count, count);
    for (size_t i = 0; i < count; i++) {
        const double ours = element_at(array, i);
        const double expected = theirs[i % repeat_every];
        if (!(fabs(ours - expected) <= TOLERANCE * fabs(expected))) {
            fail_msg("%s[%zu] is %.17g and not %.17g", array->name, i, ours, expected);
        }
    }
}

/* Of "names.body,world,torso" the n-th is the name of the n-th body. */
static void compare_names(const mjModel *model, const suite_line *line)
{
    const char *kind = line->kind + strlen("names.");
    const int object = mju_str2Type(kind);
    assert_int_not_equal(object, mjOBJ_UNKNOWN);
    char *rest = NULL;
    int id = 0;
    for (char *name = strtok_r(line->rest, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        if (mj_name2id(model, object, name) != id) {
            fail_msg("the %s %d is not '%s'", kind, id, name);
        }
        id++;
    }
}

/* "<array>,<columns>,…", or "<array>@<rows>,<columns>,…" of one row for all. */
static void compare_array(const mjModel *model, const suite_line *line)
{
    double numbers[SUITE_NUMBERS_MAX];
    char name[64];
    model_array array;
    const size_t count = suite_golden_numbers(line, numbers);
    const char *at = strchr(line->kind, '@');
    const size_t name_length = at != NULL ? (size_t)(at - line->kind) : strlen(line->kind);
    assert_true(name_length < sizeof(name));
    memcpy(name, line->kind, name_length);
    name[name_length] = '\0';

    if (find_option(model, name, &array) || find_size(model, name, &array)) {
        compare_numbers(&array, numbers, count, count);
        return;
    }
    if (!find_array(model, name, &array)) {
        fail_msg("a model has no '%s'", name);
    }
    const size_t rows = at != NULL ? strtoul(at + 1, NULL, 10) : 1;
    compare_numbers(&array, numbers + 1, (count - 1) * rows, count - 1);
}

static void compare_model(const char *domain, const char *description)
{
    char file_name[64];
    suite_line line;
    mjModel *model;
    size_t lines = 0;
    assert_succeeds(aq_physics_compile(domain, description, &model, &refusal));
    (void)snprintf(file_name, sizeof(file_name), "dmc/%s_model.csv", domain);
    FILE *file = suite_golden_open(file_name);
    while (suite_golden_next(file, &line)) {
        if (strncmp(line.kind, "names.", strlen("names.")) == 0) {
            compare_names(model, &line);
        } else {
            compare_array(model, &line);
        }
        lines++;
    }
    (void)fclose(file);
    mj_deleteModel(model);
    assert_true(lines > 100);
}

TEST(every_body_compiles_to_the_originals_numbers)
{
    const struct {
        const char *domain, *description;
    } bodies[] = {
        {"acrobot", aq_mjcf_acrobot},       {"ball_in_cup", aq_mjcf_ball_in_cup},
        {"cartpole", aq_mjcf_cartpole},     {"cheetah", aq_mjcf_cheetah},
        {"finger", aq_mjcf_finger},         {"hopper", aq_mjcf_hopper},
        {"humanoid", aq_mjcf_humanoid},     {"pendulum", aq_mjcf_pendulum},
        {"point_mass", aq_mjcf_point_mass}, {"reacher", aq_mjcf_reacher},
        {"walker", aq_mjcf_walker},
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        print_message("%s\n", bodies[i].domain);
        compare_model(bodies[i].domain, bodies[i].description);
    }
}
