/*
 * What is said of a task.
 */
#include "cli/env/env_view.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

/* Seen as a picture of this many cells a side, which it does not draw itself. */
static aq_env seen_env(aq_env_class *class, uint32_t dtype)
{
    *class = (aq_env_class){.name = "test:Seen"};
    aq_env env = {.class = class, .name = "test:Seen", .summary = "Look.", .reward_threshold = NAN};
    env.schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                .dtype = dtype,
                                .rank = 3,
                                .shape = {2, 2, 3},
                                .bound_count = 1,
                                .high = {255.0f}};
    aq_space_init_discrete(&env.schema.action, 2);
    return env;
}

/* `play` and the library show the cells of images of bytes. */
TEST(what_can_be_looked_at_has_a_picture_whoever_draws_it)
{
    static const struct {
        uint32_t dtype;
        bool has_picture;
        const char *words;
    } rows[] = {{AQ_DTYPE_U8, true, "  picture         yes\n"},
                {AQ_DTYPE_F32, false, "  picture         no\n"}};
    EACH_ROW(i, rows) {
        aq_env_class class;
        const aq_env env = seen_env(&class, rows[i].dtype);
        const json_t *view = cli_json(aq_env_view_json(&env));
        assert_int_equal(json_is_true(json_object_get(view, "can_be_drawn")), rows[i].has_picture);
        aq_env_view_print(cli_print_begin(), &env);
        assert_says(cli_print_end(), rows[i].words);
    }
}

TEST(a_task_that_draws_itself_has_a_picture)
{
    const json_t *view = cli_json(aq_env_view_json(cli_env("gym:CartPole-v1")));
    assert_true(json_is_true(json_object_get(view, "can_be_drawn")));
}
