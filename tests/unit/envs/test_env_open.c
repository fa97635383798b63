/*
 * Opening environments by name: what the full name is, what is refused, and who owns what.
 */
#include "common/base/parse.h"
#include "tests/support/test.h"
#include "tests/unit/envs/count_env.h"

static void refused(const char *name, int code, const char *words)
{
    aq_env *env = NULL;
    assert_refused(aq_env_open(name, &env, &refusal), code, words);
    assert_null(env);
}

TEST(a_task_is_opened_with_what_it_says)
{
    aq_env *env = NULL;
    assert_int_equal(aq_env_open("gym:CartPole-v1", &env, NULL), 0);
    assert_string_equal(env->name, "gym:CartPole-v1");
    assert_int_equal(env->step_limit, 500);
    assert_true(env->reward_threshold == 475.0);
    assert_int_equal(aq_space_elements(&env->schema.obs), 4);
    aq_env_unref(env);
}

TEST(the_full_name_has_suite_and_options)
{
    char name[AQ_TASK_NAME_MAX];
    aq_env *env = NULL;
    assert_int_equal(aq_env_open("CartPole-v1?time_limit=7", &env, NULL), 0);
    assert_string_equal(env->name, "gym:CartPole-v1?time_limit=7");
    assert_int_equal(env->step_limit, 7);
    aq_env_unref(env);
    assert_int_equal(aq_env_full_name("CartPole-v1?time_limit=7", name), 0);
    assert_string_equal(name, "gym:CartPole-v1?time_limit=7");
    assert_int_equal(aq_env_full_name("cartpole?time_limit=7", name), 0);
    assert_string_equal(name, "gym:CartPole-v1?time_limit=7");
    assert_int_equal(aq_env_full_name("py:some.module:Env-v0?x=1", name), 0);
    assert_string_equal(name, "py:some.module:Env-v0?x=1");
}

/* Who acts takes a row of numbers; a name that says how it is shown stands. */
TEST(states_that_are_counted_are_opened_to_act_in_as_one_of_many)
{
    static const struct {
        const char *name, *opened;
    } rows[] = {
        {"FrozenLake-v1", "gym:FrozenLake-v1?one_hot=bytes"},
        {"gym:FrozenLake-v1?map=8x8", "gym:FrozenLake-v1?map=8x8&one_hot=bytes"},
        {"gym:FrozenLake-v1?one_hot=yes", "gym:FrozenLake-v1?one_hot=yes"},
        {"gym:FrozenLake-v1?one_hot=no", "gym:FrozenLake-v1?one_hot=no"},
        {"gym:CartPole-v1", "gym:CartPole-v1"},
    };
    EACH_ROW(i, rows) {
        aq_env *env = NULL;
        assert_succeeds(aq_env_open_to_act(rows[i].name, &env, &refusal));
        assert_string_equal(env->name, rows[i].opened);
        aq_env_unref(env);
    }
}

TEST(an_unknown_task_is_answered_with_the_nearest)
{
    refused("gym:CartPoel-v1", AQ_E_NOT_FOUND, "did you mean 'gym:CartPole-v1'?");
    refused("gym:CartPoel-v1?time_limit=3", AQ_E_NOT_FOUND, "did you mean 'gym:CartPole-v1'?");
    refused("gym:CartPoel", AQ_E_NOT_FOUND, "did you mean 'gym:CartPole'?");
    refused("gym:CartPole-v2", AQ_E_NOT_FOUND, "did you mean 'gym:CartPole-v1'?"); /* v0 is near */
    refused("MOUNTAIN", AQ_E_NOT_FOUND, "there are gym:MountainCar-v0, gym:MountainCarCont");
    refused("nothing like any of them", AQ_E_NOT_FOUND, "actorq envs");
}

TEST(an_unknown_option_is_answered_with_those_there_are)
{
    aq_env *env = NULL;
    refused("gym:CartPole-v1?gravity=3", AQ_E_INVALID, "there is no option gravity");
    refused("gym:CartPole-v1?gravity=3", AQ_E_INVALID, "frame_stack");
    assert_refused(aq_env_open_class(&count_env, "test:Count?size=3", &env, &refusal), AQ_E_INVALID,
                   "there are length, fail, time_limit");
}

TEST(a_name_that_grows_too_long_is_refused)
{
    char name[AQ_TASK_NAME_MAX + 1];
    (void)snprintf(name, sizeof(name), "CartPole-v1?time_limit=%0*d", AQ_TASK_NAME_MAX - 1 - 23, 7);
    assert_int_equal(strlen(name), AQ_TASK_NAME_MAX - 1);
    refused(name, AQ_E_INVALID, "longer than");
}

TEST(a_schema_that_cannot_be_is_refused)
{
    aq_env *env = NULL;
    const int closed = count_env_closed();
    assert_refused(aq_env_open_class(&count_env_wrong, "test:CountWrong", &env, &refusal),
                   AQ_E_SCHEMA, "test:CountWrong");
    assert_int_equal(count_env_closed(), closed + 1);
}

TEST(the_last_owner_closes_it)
{
    aq_env *env = NULL;
    const int closed = count_env_closed();
    assert_int_equal(aq_env_open_class(&count_env, "test:Count", &env, NULL), 0);
    assert_ptr_equal(aq_env_ref(env), env);
    aq_env_unref(env);
    assert_int_equal(count_env_closed(), closed);
    aq_env_unref(env);
    assert_int_equal(count_env_closed(), closed + 1);
    aq_env_unref(NULL);
}

/* As who passes it on has it, behind the longest name there is. */
static const char *told(const char *said)
{
    char name[AQ_TASK_NAME_MAX] = "";
    memset(name, 'n', sizeof(name) - 1);
    (void)aq_fail(&refusal, AQ_E_PEER, "%s could not be drawn: %s", name, aq_env_said_last(said));
    return refusal.text;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

TEST(what_an_error_has_room_for_is_told_whole)
{
    const char *said = "Traceback:\n  in step\nValueError: jammed";
    assert_ptr_equal(aq_env_said_last(said), said);
    assert_true(ends_with(told(said), said));
}

TEST(of_a_long_traceback_the_last_lines_are_told)
{
    const char *row = "  File \"gears.py\", line 12, in turn\n", *raised = "ValueError: jammed";
    char said[2048] = "Traceback:\n";
    for (int i = 0; i < 40; i++) {
        aq_text_append(said, sizeof(said), "%s", row);
    }
    aq_text_append(said, sizeof(said), "%s", raised);
    const char *last = aq_env_said_last(said);
    assert_int_equal(strncmp(last, row, strlen(row)), 0);
    assert_true(strlen(last) > 4 * strlen(row));
    assert_true(ends_with(last, raised) && ends_with(told(said), last));
}

/* Of two texts that differ in length by one, one would be cut within a character of two bytes. */
TEST(a_long_line_is_told_from_a_whole_character_on)
{
    char said[2048] = "";
    for (int i = 0; i < 600; i++) {
        aq_text_append(said, sizeof(said), "é");
    }
    for (int i = 0; i < 2; i++) {
        aq_text_append(said, sizeof(said), "!");
        const char *last = aq_env_said_last(said);
        assert_int_equal(strncmp(last, "é", strlen("é")), 0);
        assert_true(ends_with(told(said), last));
    }
}

TEST(without_memory_it_is_not_open)
{
    aq_env *env = NULL;
    const uint64_t before = aq_memory_allocation_count();
    assert_int_equal(aq_env_open_class(&count_env, "test:Count?frame_stack=2", &env, NULL), 0);
    assert_int_equal(aq_memory_allocation_count() - before,
                     3); /* itself, its parameters, the wrapper's */
    aq_env_unref(env);
    assert_made_despite_failures(
        env, aq_env_open_class(&count_env, "test:Count?frame_stack=2", &env, NULL));
    aq_env_unref(env);
}
