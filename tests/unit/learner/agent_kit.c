/*
 * See agent_kit.h.
 */
#include "tests/unit/learner/agent_kit.h"

#include <string.h>

#include "tests/support/test.h"

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
    aq_error error = {0};
    assert_succeeds(agent_try(class, config, schema, seed, &agent, &error), &error);
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
    const aq_named_array *statistics = aq_named_arrays_find(&arrays, "statistics");
    return (kept_state){
        .count = aq_named_arrays_find(&arrays, "parameters")->count,
        .parameters = values_of(&arrays, "parameters"),
        .target = values_of(&arrays, "target"),
        .adam_m = values_of(&arrays, "adam_m"),
        .adam_v = values_of(&arrays, "adam_v"),
        .adam_step = *(uint64_t *)values_of(&arrays, "adam_step"),
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
    *(uint64_t *)values_of(&kept, "adam_step") = adam_step;
    assert_int_equal(aq_agent_restore(agent, &kept, NULL), 0);
    aq_named_arrays_fini(&kept);
}
