/*
 * From observations, floats or bytes, to actions.
 */
#include "common/policy/snapshot.h"
#include "envs/env_open.h"
#include "rollout/act.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

enum { ROWS = 6, PIXELS = 4, ELEMENTS = 3 };

static const float low[ELEMENTS] = {-2.0f, 0.0f, -0.1f};
static const float high[ELEMENTS] = {2.0f, 1.0f, 0.3f};

/* An environment that is a schema and nothing else. */
static aq_env box_env = {.name = "test:Box", .references = 1};
static aq_env image_env = {.name = "test:Image", .references = 1};

static int set_up(void **state)
{
    (void)state;
    const float obs_low[ELEMENTS] = {-10.0f, -10.0f, -10.0f};
    const float obs_high[ELEMENTS] = {10.0f, 10.0f, 10.0f};
    aq_space_init_box(&box_env.schema.obs, ELEMENTS, obs_low, obs_high);
    aq_space_init_box(&box_env.schema.action, ELEMENTS, low, high);
    image_env.schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                      .dtype = AQ_DTYPE_U8,
                                      .rank = 3,
                                      .shape = {2, 2, 1},
                                      .bound_count = 1,
                                      .low = {0.0f},
                                      .high = {255.0f}};
    aq_space_init_discrete(&image_env.schema.action, PIXELS);
    return 0;
}

/* Its outputs are its inputs; of a box, their hyperbolic tangents. */
static aq_engine *mirror(aq_env *env, uint32_t width)
{
    const bool is_box = env->schema.action.kind == AQ_SPACE_BOX;
    const aq_net_spec spec = net_of((aq_layer_spec[]){
        aq_layer_linear(width, width, is_box ? AQ_ACTIVATION_TANH : AQ_ACTIVATION_NONE)});
    aq_snapshot *snapshot =
        policy_of(&spec, is_box ? AQ_HEAD_TANH_BOX : AQ_HEAD_ARGMAX, env->name, &env->schema);
    aq_snapshot_layer_data layer;
    aq_engine *engine = NULL;
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    for (uint32_t i = 0; i < width; i++) {
        ((float *)layer.weights)[i * width + i] = 1.0f;
    }
    assert_int_equal(aq_engine_create(snapshot, ROWS, 0, &engine, NULL), 0);
    return engine;
}

static aq_act *act_of(aq_env *env)
{
    aq_act *act = NULL;
    assert_int_equal(aq_act_create(&env->schema, ROWS, &act), 0);
    return act;
}

TEST(bytes_are_seen_as_shares_of_255)
{
    const uint8_t obs[2][PIXELS] = {{0, 255, 128, 1}, {3, 2, 1, 200}};
    int32_t actions[2] = {-1, -1};
    aq_act *act = act_of(&image_env);
    aq_engine *engine = mirror(&image_env, PIXELS);
    const float *inputs = aq_act_inputs(act, obs, 2);
    for (int i = 0; i < 2 * PIXELS; i++) {
        assert_true(inputs[i] == (float)(&obs[0][0])[i] / 255.0f);
    }
    aq_act_greedy(act, engine, obs, 2, actions);
    assert_int_equal(actions[0], 1);
    assert_int_equal(actions[1], 3);
    aq_engine_destroy(engine);
    aq_act_destroy(act);
}

TEST(a_box_is_acted_in_as_the_engine_says)
{
    const float obs[2][ELEMENTS] = {{-9, 0, 9}, {9, 0, -9}};
    float actions[2][ELEMENTS];
    aq_act *act = act_of(&box_env);
    aq_engine *engine = mirror(&box_env, ELEMENTS);
    aq_act_greedy(act, engine, obs, 2, actions);
    assert_true(actions[0][0] == low[0] && actions[0][1] == 0.5f && actions[0][2] == high[2]);
    assert_true(actions[1][0] == high[0] && actions[1][1] == 0.5f && actions[1][2] == low[2]);
    aq_engine_destroy(engine);
    aq_act_destroy(act);
}

/* What lies in its state decides what it gives; the rest is the engine's. */
static aq_engine *rememberer(void)
{
    const aq_layer_spec layers[] = {
        aq_layer_linear(ELEMENTS, AQ_GRU_GATES * ELEMENTS, AQ_ACTIVATION_NONE),
        aq_layer_gru(ELEMENTS), aq_layer_linear(ELEMENTS, ELEMENTS, AQ_ACTIVATION_TANH)};
    aq_snapshot_layer_data layer;
    aq_engine *engine = NULL;
    const aq_net_spec spec = net_of(layers);
    aq_snapshot *snapshot = policy_of(&spec, AQ_HEAD_TANH_BOX, box_env.name, &box_env.schema);
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    for (uint32_t i = 2 * ELEMENTS; i < 3 * ELEMENTS; i++) {
        layer.bias[i] = 1.0f; /* half of tanh(1), then more */
    }
    aq_snapshot_layer_edit(snapshot, 2, &layer);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        ((float *)layer.weights)[i * ELEMENTS + i] = 1.0f;
    }
    assert_int_equal(aq_engine_create(snapshot, ROWS, 0, &engine, NULL), 0);
    return engine;
}

TEST(a_row_goes_on_from_its_state_until_another_episode_begins_there)
{
    const float obs[3][ELEMENTS] = {{0}};
    float first[3][ELEMENTS], second[3][ELEMENTS], third[3][ELEMENTS];
    uint32_t width = 9;
    aq_act *act = act_of(&box_env);
    aq_engine *engine = rememberer();
    assert_null(aq_act_state(act, &width));
    assert_int_equal(width, 0);
    assert_int_equal(aq_act_prepare(act, engine), 0);
    aq_act_greedy(act, engine, obs, 3, first);
    aq_act_greedy(act, engine, obs, 3, second);
    assert_true(first[0][0] == first[1][0] && second[0][0] > first[0][0]);
    aq_act_begin(act, 0);
    aq_act_move(act, 2, 1); /* they are alike */
    assert_int_equal(aq_act_prepare(act, engine), 0);
    aq_act_greedy(act, engine, obs, 3, third);
    assert_memory_equal(third[0], first[0], sizeof(first[0]));
    assert_true(third[1][0] > second[1][0]);
    assert_memory_equal(third[1], third[2], sizeof(third[1]));
    assert_non_null(aq_act_state(act, &width));
    assert_int_equal(width, ELEMENTS);
    aq_engine_destroy(engine);
    aq_act_destroy(act);
}

/* Its mean is nothing, its deviation what is seen. */
static aq_engine *explorer(void)
{
    aq_layer_spec layers[] = {aq_layer_linear(ELEMENTS, ELEMENTS, AQ_ACTIVATION_NONE),
                              aq_layer_noise(ELEMENTS, 1, 1, AQ_ACTIVATION_NONE),
                              aq_layer_linear(ELEMENTS, ELEMENTS, AQ_ACTIVATION_NONE),
                              aq_layer_noise(ELEMENTS, 2, 1, AQ_ACTIVATION_TANH)};
    aq_snapshot_layer_data layer;
    aq_engine *engine = NULL;
    layers[1].sources = (aq_layer_sources){.count = 1};
    layers[3].sources = (aq_layer_sources){.count = 2, .values = {1, 3}};
    const aq_net_spec spec = net_of(layers);
    aq_snapshot *snapshot = policy_of(&spec, AQ_HEAD_TANH_BOX, box_env.name, &box_env.schema);
    aq_snapshot_layer_edit(snapshot, 2, &layer);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        ((float *)layer.weights)[i * ELEMENTS + i] = 1.0f;
    }
    assert_succeeds(aq_engine_create(snapshot, ROWS, 0, &engine, &refusal));
    return engine;
}

TEST(each_row_explores_by_noise_of_its_own_that_is_held_for_the_period)
{
    const float obs[2][ELEMENTS] = {{1, 1, 1}, {1, 1, 1}};
    float greedy[2][ELEMENTS], held[2][2][ELEMENTS], later[2][ELEMENTS], again[2][ELEMENTS];
    aq_act *act = act_of(&box_env);
    aq_engine *engine = explorer();
    aq_act_draws draws = {.key = 5, .period = 2, .octaves = 1};
    assert_int_equal(aq_act_prepare(act, engine), 0);
    aq_act_greedy(act, engine, obs, 2, greedy);
    assert_true(greedy[0][0] == 0.0f && greedy[0][1] == 0.5f);
    for (; draws.number < 2; draws.number++) {
        aq_act_explore(act, engine, obs, 2, &draws, held[draws.number]);
    }
    aq_act_explore(act, engine, obs, 2, &draws, later);
    assert_memory_equal(held[0], held[1], sizeof(held[0]));
    assert_memory_not_equal(held[0], later, sizeof(later));
    assert_memory_not_equal(held[0][0], held[0][1], sizeof(held[0][0]));
    assert_memory_not_equal(held[0][0], greedy[0], sizeof(greedy[0]));
    draws.key = 6; /* another actor's, at the same step */
    aq_act_explore(act, engine, obs, 2, &draws, again);
    assert_memory_not_equal(again, later, sizeof(later));
    draws = (aq_act_draws){.key = 5, .number = 2, .period = 2, .octaves = 2};
    aq_act_explore(act, engine, obs, 2, &draws, again);
    assert_memory_not_equal(again, later, sizeof(later));
    aq_act_greedy(act, engine, obs, 2, again);
    assert_memory_equal(greedy, again, sizeof(greedy));
    aq_engine_destroy(engine);
    aq_act_destroy(act);
}

TEST(rows_have_the_noise_of_their_place_among_all)
{
    const float obs[4][ELEMENTS] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
    float all[4][ELEMENTS], part[2][ELEMENTS];
    aq_act *act = act_of(&box_env);
    aq_engine *engine = explorer();
    aq_act_draws draws = {.key = 5, .period = 1, .octaves = 1};
    assert_int_equal(aq_act_prepare(act, engine), 0);
    aq_act_explore(act, engine, obs, 4, &draws, all);
    for (uint32_t turn = 0; turn < 2; turn++) {
        draws.first = turn == 0 ? 2 : 0;
        aq_act_explore(act, engine, obs + draws.first, 2, &draws, part);
        assert_memory_equal(part, all + draws.first, sizeof(part));
    }
    aq_engine_destroy(engine);
    aq_act_destroy(act);
}

TEST(floats_are_seen_as_they_are)
{
    const float obs[ELEMENTS] = {1.0f, 2.0f, 3.0f};
    aq_act *act = act_of(&box_env);
    assert_ptr_equal(aq_act_inputs(act, obs, 1), obs);
    aq_act_destroy(act);
}

TEST(create_survives_every_failed_allocation)
{
    aq_act *act = NULL;
    assert_made_despite_failures(act, aq_act_create(&image_env.schema, ROWS, &act));
    aq_act_destroy(act);
    aq_act_destroy(NULL);
}

TEST_GROUP(set_up, NULL);
