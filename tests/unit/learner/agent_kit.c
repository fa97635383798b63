/*
 * See agent_kit.h.
 */
#include "tests/unit/learner/agent_kit.h"

#include "tests/support/test.h"

TEST_ENDING(destroy, aq_agent_destroy);

int agent_try(const aq_algorithm_class *class, const aq_run_config *config, const aq_schema *schema,
              uint64_t seed, aq_agent **ret_agent, aq_error *error)
{
    aq_run_config own = *config;
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        own.learner.algorithm = aq_algorithm_at(i) == class ? (uint32_t)i : own.learner.algorithm;
    }
    const aq_algorithm_setup setup = {
        .config = &own,
        .schema = schema,
        .sequence_length = (uint32_t)config->replay.sequence_length,
        .seed = seed,
    };
    return aq_agent_create(class, &setup, ret_agent, error);
}

aq_agent *agent_of(const aq_algorithm_class *class, const aq_run_config *config,
                   const aq_schema *schema, uint64_t seed)
{
    aq_agent *agent = NULL;
    assert_succeeds(agent_try(class, config, schema, seed, &agent, &refusal));
    at_end(destroy, agent);
    return agent;
}

static void *values_of(const aq_named_arrays *arrays, const char *name)
{
    const aq_named_array *array = aq_named_arrays_find(arrays, name);
    return array != NULL ? array->values : NULL;
}

kept_state agent_state(aq_agent *agent)
{
    aq_named_arrays arrays;
    aq_agent_arrays(agent, &arrays);
    const uint64_t *step = values_of(&arrays, "adam_step");
    const aq_named_array *statistics = aq_named_arrays_find(&arrays, "statistics");
    const aq_named_array *target = aq_named_arrays_find(&arrays, "target");
    const aq_named_array *moments = aq_named_arrays_find(&arrays, "adam_m");
    return (kept_state){
        .count = aq_named_arrays_find(&arrays, "parameters")->count,
        .target_count = target != NULL ? target->count : 0,
        .adam_count = moments != NULL ? moments->count : 0,
        .parameters = values_of(&arrays, "parameters"),
        .target = target != NULL ? target->values : NULL,
        .adam_m = values_of(&arrays, "adam_m"),
        .adam_v = values_of(&arrays, "adam_v"),
        .adam_step = step != NULL ? *step : 0,
        .statistics_count = statistics != NULL ? statistics->count : 0,
        .statistics = statistics != NULL ? statistics->values : NULL,
    };
}

void agent_resume_at(aq_agent *agent, uint64_t adam_step)
{
    aq_named_arrays own, kept;
    aq_agent_arrays(agent, &own);
    assert_int_equal(aq_named_arrays_like(&own, &kept), 0);
    aq_named_arrays_copy(&own, &kept);
    uint64_t *step = values_of(&kept, "adam_step");
    if (step != NULL) {
        *step = adam_step;
    }
    assert_int_equal(aq_agent_restore(agent, &kept, NULL), 0);
    aq_named_arrays_fini(&kept);
}

static size_t count_of(const kept_state *state, size_t array)
{
    return array == 0 ? state->count : array == 1 ? state->target_count : state->adam_count;
}

kept_copy agent_copy(aq_agent *agent)
{
    const kept_state state = agent_state(agent);
    const float *const arrays[] = {state.parameters, state.target, state.adam_m, state.adam_v};
    kept_copy copy = {.adam_step = state.adam_step, .count = state.count};
    copy.floats = aq_alloc(4 * copy.count, sizeof(float));
    assert_non_null(copy.floats);
    at_end(aq_free, copy.floats);
    for (size_t i = 0; i < 4; i++) {
        if (arrays[i] != NULL) {
            memcpy(copy.floats + i * copy.count, arrays[i], count_of(&state, i) * sizeof(float));
        }
    }
    return copy;
}

void agent_take_up(aq_agent *agent, const kept_copy *copy)
{
    const kept_state state = agent_state(agent);
    float *const arrays[] = {state.parameters, state.target, state.adam_m, state.adam_v};
    assert_int_equal(copy->count, state.count);
    for (size_t i = 0; i < 4; i++) {
        if (arrays[i] != NULL) {
            memcpy(arrays[i], copy->floats + i * copy->count, count_of(&state, i) * sizeof(float));
        }
    }
    agent_resume_at(agent, copy->adam_step);
}

void agent_assert_as(aq_agent *agent, const kept_copy *copy)
{
    const kept_copy now = agent_copy(agent);
    assert_int_equal(now.adam_step, copy->adam_step);
    assert_int_equal(now.count, copy->count);
    assert_memory_equal(now.floats, copy->floats, 4 * now.count * sizeof(float));
}

void agent_assert_same(aq_agent *a, aq_agent *b)
{
    const kept_copy copy = agent_copy(b);
    agent_assert_as(a, &copy);
}

aq_update_report agent_train(aq_agent *agent, const aq_batch *batch)
{
    aq_update_report report;
    assert_int_equal(aq_agent_train(agent, batch, &report), 0);
    return report;
}
