/*
 * Wrappers around an environment that counts: what each option does to what is seen, to rewards and
 * to lengths. That wrapped environments keep the rules of all is in test_env_contract.c.
 */
#include "envs/env.h"
#include "tests/support/test.h"
#include "tests/unit/envs/count_env.h"
#include "tests/unit/envs/env_lane.h"

enum { ROW_MAX = 64 };

/* A lane that is told what to do. */
typedef struct player {
    aq_env *env;
    uint8_t state[1024] __attribute__((aligned(16)));
    union {
        float numbers[ROW_MAX];
        uint8_t bytes[4 * ROW_MAX];
    } obs;
    float reward;
    aq_rng rng;
} player;

static void start(player *one, const aq_env_class *class, const char *name)
{
    memset(one, 0, sizeof(*one));
    assert_int_equal(aq_env_open_class(class, name, &one->env, NULL), 0);
    assert_true(one->env->class->state_bytes <= sizeof(one->state));
    assert_true(aq_space_bytes(&one->env->schema.obs) <= sizeof(one->obs));
    aq_rng_init(&one->rng, 1, 0);
    assert_true(one->env->class->reset(one->env->params, one->state, &one->rng, &one->obs));
}

static enum aq_step_end act(player *one, int32_t action)
{
    return one->env->class->step(one->env->params, one->state, &one->rng, &action, &one->obs,
                                 &one->reward);
}

static void finish(player *one)
{
    aq_env_unref(one->env);
}

static player *start_count(const char *name)
{
    static player one;
    start(&one, &count_env, name);
    return &one;
}

#define TEST_OF_COUNT(name, options)                                                               \
    TEST_OF(name, player *one, start_count("test:Count" options), finish)

static void refused(const aq_env_class *class, const char *name, int code, const char *words)
{
    aq_env *env = NULL;
    assert_refused(aq_env_open_class(class, name, &env, &refusal), code, words);
    assert_null(env);
}

TEST(numbers_are_not_shown_as_one_of_many)
{
    refused(&count_env, "test:Count?one_hot=yes", AQ_E_UNSUPPORTED, "states that can be counted");
}

TEST_OF_COUNT(numbers_are_stacked_behind_each_other, "?frame_stack=3")
{
    const aq_space *obs = &one->env->schema.obs;
    assert_int_equal(obs->rank, 1);
    assert_int_equal(obs->shape[0], 6);
    assert_int_equal(obs->bound_count, 6);
    assert_true(obs->high[4] == 100.0f && obs->high[5] == 3.0f);
    for (int i = 0; i < 6; i++) {
        assert_true(one->obs.numbers[i] == 0.0f);
    }
    (void)act(one, 3);
    (void)act(one, 2);
    const float two_steps[] = {0, 0, 1, 3, 2, 2};
    assert_memory_equal(one->obs.numbers, two_steps, sizeof(two_steps));
    (void)act(one, 1);
    const float three_steps[] = {1, 3, 2, 2, 3, 1};
    assert_memory_equal(one->obs.numbers, three_steps, sizeof(three_steps));
}

TEST(images_are_stacked_along_their_last_axis)
{
    player one;
    start(&one, &count_env_image, "test:CountImage?frame_stack=2");
    const aq_space *obs = &one.env->schema.obs;
    assert_int_equal(obs->rank, 3);
    assert_int_equal(obs->shape[0], 2);
    assert_int_equal(obs->shape[1], 2);
    assert_int_equal(obs->shape[2], 4);
    assert_int_equal(obs->frames, 2);
    assert_true(obs->high[0] == 255.0f);
    const uint8_t first[] = {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7};
    assert_memory_equal(one.obs.bytes, first, sizeof(first));
    (void)act(&one, 0);
    const uint8_t second[] = {0, 1, 10, 11, 2, 3, 12, 13, 4, 5, 14, 15, 6, 7, 16, 17};
    assert_memory_equal(one.obs.bytes, second, sizeof(second));
    finish(&one);
}

static void schema_grey(const void *params, aq_schema *ret_schema)
{
    count_env_image.schema(params, ret_schema);
    ret_schema->obs.rank = 2;
    ret_schema->obs.shape[1] = 4;
}

static void schema_grey_floats(const void *params, aq_schema *ret_schema)
{
    schema_grey(params, ret_schema);
    ret_schema->obs.dtype = AQ_DTYPE_F32;
}

/* Else a convolution would see two pictures beside each other, whatever it is told of channels. */
TEST(grey_images_are_stacked_as_channels)
{
    player one;
    aq_env_class grey = count_env_image;
    aq_picture_shape shape;
    grey.schema = schema_grey;
    start(&one, &grey, "test:CountImage?frame_stack=2");
    assert_true(aq_space_is_picture(&one.env->schema.obs, &shape));
    assert_true(shape.height == 2 && shape.width == 4 && shape.channels == 2);
    assert_int_equal(one.env->schema.obs.frames, 2);
    (void)act(&one, 0);
    const uint8_t both[] = {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 7, 17};
    assert_memory_equal(one.obs.bytes, both, sizeof(both));
    finish(&one);
    grey.schema = schema_grey_floats;
    start(&one, &grey, "test:CountImage?frame_stack=2");
    assert_true(aq_space_is_picture(&one.env->schema.obs, &shape));
    assert_true(shape.height == 2 && shape.width == 4 && shape.channels == 2);
    finish(&one);
    grey.schema = schema_grey;
    start(&one, &grey, "test:CountImage?action_repeat=2");
    assert_int_equal(one.env->schema.obs.rank, 2);
    finish(&one);
}

TEST_OF_COUNT(many_bounds_become_one_when_there_is_no_room, "?frame_stack=16")
{
    assert_int_equal(one->env->schema.obs.bound_count, 32);
    aq_env *env = env_lane_open("gym:CartPole-v1?frame_stack=16");
    assert_int_equal(env->schema.obs.bound_count, 64);
    assert_int_equal(aq_schema_validate(&env->schema, NULL), 0);
}

/* A masked environment beside the same one in full. */
TEST(velocities_that_are_masked_are_seen_as_0)
{
    static const struct {
        const char *name;
        uint32_t velocities;
    } rows[] = {{"gym:CartPole-v1", 0xa}, {"gym:Acrobot-v1", 0x30}, {"gym:MountainCar-v0", 0x2}};
    EACH_ROW(i, rows) {
        char masked[64];
        player full, one;
        (void)snprintf(masked, sizeof(masked), "%s?mask=velocity", rows[i].name);
        start(&full, aq_env_find(rows[i].name), rows[i].name);
        start(&one, aq_env_find(rows[i].name), masked);
        for (int step = 0; step < 5; step++) {
            for (uint32_t k = 0; k < aq_space_elements(&one.env->schema.obs); k++) {
                const bool is_hidden = (rows[i].velocities >> k & 1) != 0;
                assert_true(one.obs.numbers[k] == (is_hidden ? 0.0f : full.obs.numbers[k]));
                assert_true(!is_hidden || step == 0 || full.obs.numbers[k] != 0.0f);
            }
            (void)act(&full, 1 - step % 2);
            (void)act(&one, 1 - step % 2);
        }
        finish(&full);
        finish(&one);
    }
}

TEST_OF_COUNT(a_repeated_action_adds_rewards_up, "?action_repeat=3")
{
    assert_int_equal(act(one, 2), AQ_STEP_GOES_ON);
    assert_true(one->reward == 1.0f + 2.0f + 3.0f);
    assert_true(one->obs.numbers[0] == 3.0f);
    assert_int_equal(act(one, 1), AQ_STEP_GOES_ON);
    assert_true(one->reward == 4.0f + 5.0f + 6.0f);
}

TEST_OF_COUNT(repeating_stops_where_the_episode_ends, "?length=4&action_repeat=3")
{
    assert_int_equal(act(one, 0), AQ_STEP_GOES_ON);
    assert_int_equal(act(one, 0), AQ_STEP_TERMINATED);
    assert_true(one->reward == 4.0f);
    assert_true(one->obs.numbers[0] == 4.0f);
}

/* Ten single steps: three, three, three and one. */
TEST(the_tasks_own_limit_counts_single_steps)
{
    player one;
    start(&one, &count_env, "test:Count?action_repeat=3");
    assert_int_equal(one.env->step_limit, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(act(&one, 0), AQ_STEP_GOES_ON);
    }
    assert_true(one.reward == 10.0f);
    finish(&one);
    start(&one, &count_env, "test:Count?action_repeat=5");
    assert_int_equal(one.env->step_limit, 2);
    finish(&one);
}

TEST(a_time_limit_replaces_the_tasks_own)
{
    player one;
    start(&one, &count_env, "test:Count?time_limit=30");
    assert_int_equal(one.env->step_limit, 30);
    finish(&one);
    start(&one, &count_env, "test:Count?time_limit=30&action_repeat=3");
    assert_int_equal(one.env->step_limit, 30);
    for (int i = 0; i < 4; i++) {
        (void)act(&one, 0);
    }
    assert_true(one.obs.numbers[0] == 12.0f);
    finish(&one);
}

TEST_OF_COUNT(observations_are_scaled_with_their_bounds, "?obs_scale=0.25&frame_stack=2")
{
    assert_true(one->env->schema.obs.high[0] == 25.0f);
    assert_true(one->env->schema.obs.high[3] == 0.75f);
    (void)act(one, 2);
    const float expected[] = {0.0f, 0.0f, 0.25f, 0.5f};
    assert_memory_equal(one->obs.numbers, expected, sizeof(expected));
    refused(&count_env_image, "test:CountImage?obs_scale=2", AQ_E_UNSUPPORTED, "divided by 255");
}

TEST_OF_COUNT(rewards_are_scaled_with_the_threshold, "?reward_scale=0.5&action_repeat=2")
{
    assert_true(one->env->reward_threshold == 10.0);
    (void)act(one, 0);
    assert_true(one->reward == 1.5f);
}

TEST(clipped_rewards_leave_no_threshold)
{
    player one;
    start(&one, &count_env, "test:Count?reward_scale=0.4&clip_reward=yes");
    assert_true(isnan(one.env->reward_threshold));
    (void)act(&one, 0);
    assert_true(one.reward == 0.4f);
    (void)act(&one, 0);
    (void)act(&one, 0);
    assert_true(one.reward == 1.0f);
    finish(&one);
    start(&one, &count_env, "test:Count?clip_reward=no");
    assert_true(one.env->reward_threshold == 20.0);
    finish(&one);
}

/* With actions that stick none is announced; it takes its time elsewhere still. */
TEST(what_works_in_another_process_says_so_however_it_is_wrapped)
{
    static const char *const names[] = {"test:Count?sticky=0.25", "test:Count?action_repeat=2"};
    aq_env_class elsewhere = count_env;
    elsewhere.works_elsewhere = true;
    EACH_ROW(i, names) {
        aq_env *env = NULL;
        assert_succeeds(aq_env_open_class(&elsewhere, names[i], &env, &refusal));
        assert_true(env->class->works_elsewhere && env->class->announce == NULL);
        aq_env_unref(env);
    }
}

TEST_OF_COUNT(an_action_sticks_as_often_as_asked_for, "?sticky=0.25")
{
    enum { STEPS = 4000 };
    int stuck = 0;
    int32_t last = 0;
    for (int i = 0; i < STEPS; i++) {
        const int32_t wanted = i % 2; /* never the one before, had nothing stuck */
        (void)act(one, wanted);
        const int32_t taken = (int32_t)one->obs.numbers[1];
        assert_true(taken == wanted || taken == last);
        stuck += i > 0 && taken != wanted;
        last = taken;
    }
    /* An action that sticks and is the wanted one is not seen: p / (1 + p) of them are. */
    const double share = 0.25 / 1.25, spread = sqrt(share * (1 - share) / STEPS);
    assert_true(fabs((double)stuck / STEPS - share) < 5 * spread);
}

TEST_OF_COUNT(the_first_action_of_an_episode_cannot_stick, "?sticky=1")
{
    (void)act(one, 2);
    assert_true(one->obs.numbers[1] == 2.0f);
    (void)act(one, 1);
    assert_true(one->obs.numbers[1] == 2.0f);
    assert_true(one->env->class->reset(one->env->params, one->state, &one->rng, &one->obs));
    (void)act(one, 3);
    assert_true(one->obs.numbers[1] == 3.0f);
}

TEST_OF_COUNT(a_failure_inside_is_a_failure, "?fail=2&action_repeat=4")
{
    assert_int_equal(act(one, 0), AQ_STEP_FAILED);
    assert_string_equal(one->env->class->failure(one->env->params, one->state), "it lost count");
}

TEST(options_out_of_bounds_are_refused)
{
    refused(&count_env, "test:Count?frame_stack=17", AQ_E_INVALID, "from 1 to 16");
    refused(&count_env, "test:Count?action_repeat=0", AQ_E_INVALID, "from 1 to 64");
    refused(&count_env, "test:Count?time_limit=0", AQ_E_INVALID, "time_limit=0");
    refused(&count_env, "test:Count?sticky=1.5", AQ_E_INVALID, "sticky=1.5");
    refused(&count_env, "test:Count?reward_scale=-1", AQ_E_INVALID, "reward_scale=-1");
    refused(&count_env, "test:Count?obs_scale=nan", AQ_E_INVALID, "obs_scale=nan");
    refused(&count_env, "test:Count?clip_reward=1", AQ_E_INVALID, "clip_reward=1");
    refused(&count_env, "test:Count?mask=speed", AQ_E_INVALID, "none of none, velocity");
    refused(&count_env, "test:Count?mask=velocity", AQ_E_UNSUPPORTED, "does not say which");
}

TEST(closing_the_wrapper_closes_what_is_inside)
{
    const int closed = count_env_closed();
    finish(start_count("test:Count?frame_stack=2"));
    assert_int_equal(count_env_closed(), closed + 1);
}

TEST_OF_COUNT(a_sleeping_environment_takes_time_but_no_processor, "?sleep_us=20000&action_repeat=2")
{
    const int64_t begun_ns = aq_clock_monotonic_ns();
    const int64_t spent_ns = aq_clock_cpu_ns();
    (void)act(one, 0);
    assert_true(aq_clock_monotonic_ns() - begun_ns >= 40 * AQ_NS_PER_MS); /* each single step */
    assert_true(aq_clock_cpu_ns() - spent_ns < 10 * AQ_NS_PER_MS);
    assert_true(one->env->class->works_elsewhere); /* or a bench would count processor time */
    refused(&count_env, "test:Count?sleep_us=1000001", AQ_E_INVALID, "sleep_us");
}
