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

static kept_state state_in(const aq_named_arrays *arrays)
{
    const uint64_t *step = values_of(arrays, "adam_step");
    const aq_named_array *statistics = aq_named_arrays_find(arrays, "statistics");
    const aq_named_array *target = aq_named_arrays_find(arrays, "target");
    const aq_named_array *moments = aq_named_arrays_find(arrays, "adam_m");
    return (kept_state){
        .count = aq_named_arrays_find(arrays, "parameters")->count,
        .target_count = target != NULL ? target->count : 0,
        .adam_count = moments != NULL ? moments->count : 0,
        .parameters = values_of(arrays, "parameters"),
        .target = target != NULL ? target->values : NULL,
        .adam_m = values_of(arrays, "adam_m"),
        .adam_v = values_of(arrays, "adam_v"),
        .adam_step = step != NULL ? *step : 0,
        .statistics_count = statistics != NULL ? statistics->count : 0,
        .statistics = statistics != NULL ? statistics->values : NULL,
    };
}

kept_state agent_state(aq_agent *agent)
{
    aq_named_arrays arrays;
    aq_agent_arrays(agent, &arrays);
    return state_in(&arrays);
}

kept_copy agent_copy(aq_agent *agent)
{
    aq_named_arrays own;
    kept_copy copy;
    aq_agent_arrays(agent, &own);
    assert_int_equal(aq_named_arrays_like(&own, &copy.arrays), 0);
    at_end(aq_free, copy.arrays.arrays[0].values); /* which begins the block of all */
    aq_named_arrays_copy(&own, &copy.arrays);
    copy.state = state_in(&copy.arrays);
    return copy;
}

void agent_take_up(aq_agent *agent, const kept_copy *copy)
{
    assert_succeeds(aq_agent_restore(agent, &copy->arrays, &refusal));
}

void agent_resume_at(aq_agent *agent, uint64_t adam_step)
{
    const kept_copy copy = agent_copy(agent);
    uint64_t *step = values_of(&copy.arrays, "adam_step");
    if (step != NULL) {
        *step = adam_step;
    }
    agent_take_up(agent, &copy);
}

void agent_assert_as(aq_agent *agent, const kept_copy *copy)
{
    aq_named_arrays now;
    aq_agent_arrays(agent, &now);
    assert_succeeds(aq_named_arrays_check_same(&copy->arrays, &now, &refusal));
    for (size_t i = 0; i < now.count; i++) {
        const size_t bytes = aq_array_bytes(&now.arrays[i]);
        const void *before = values_of(&copy->arrays, now.arrays[i].name);
        if (bytes > 0 && memcmp(now.arrays[i].values, before, bytes) != 0) {
            fail_msg("%s is another", now.arrays[i].name);
        }
    }
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
