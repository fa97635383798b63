/*
 * See agent_ranks.h.
 */
#include "learner/algorithms/agent_ranks.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/fnv1a.h"
#include "common/config/pacing.h"

int aq_agent_check_model(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                         aq_error *error)
{
    const aq_run_config *config = setup->config;
    if (setup->model == NULL) {
        return 0;
    }
    if (class->slices == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "the networks of %s cannot be shared by ranks: learner.model_ranks has to "
                       "be 1",
                       class->name);
    }
    if (class->has_own_threads && config->learner.threads > 1) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "ranks that share networks (learner.model_ranks) have one thread each: "
                       "learner.threads has to be 1");
    }
    if (aq_pacing_versions_max(config) > 0) { /* those that draw no rows have none that are fresh */
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.lag_max is not for networks that ranks share "
                       "(learner.model_ranks): learner.lag_max=none works");
    }
    if (config->learner.qat_bits > 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.qat_bits is not for networks that ranks share "
                       "(learner.model_ranks): no rank sees all that has one scale");
    }
    if (aq_gradient_exchange_ranks(setup->exchange) > 1 &&
        config->learner.gradient_format == AQ_GRADIENT_INT8) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.gradient_format int8 is not for networks that ranks share "
                       "(learner.model_ranks), whose scales would differ; fp32 and bf16 are");
    }
    return 0;
}

int aq_agent_check_shared(aq_agent *agent, aq_error *error)
{
    const uint32_t ranks = aq_model_group_ranks(aq_agent_model(agent));
    size_t all, own;
    char text[128];
    aq_agent_count(agent, &all, &own);
    return own < all ? 0
                     : aq_fail(error, AQ_E_UNSUPPORTED,
                               "learner.model_ranks is %" PRIu32
                               ", but nothing of %s can be shared: that takes two linear layers "
                               "one right after the other, and between them a multiple of %" PRIu32
                               " values, %" PRIu32 " or more",
                               ranks, aq_net_spec_text(aq_agent_spec(agent), text, sizeof(text)),
                               ranks, AQ_SPLIT_WIDTH_MIN);
}

const aq_params *aq_agent_gather_policy(aq_agent *agent, const aq_params *own, aq_params *whole)
{
    const aq_named_array parameters = {.name = "parameters", .type = AQ_ARRAY_F32};
    aq_slices policy = aq_agent_slices(agent, &parameters);
    policy.count = 1; /* it comes first */
    policy.rest = 0;
    int rc = aq_model_group_gather(aq_agent_model(agent), &policy, own->block, whole->block);
    return rc == 0 && whole->block != NULL ? whole : NULL;
}

void aq_agent_whole(aq_agent *agent, aq_named_arrays *ret_arrays)
{
    aq_agent_arrays(agent, ret_arrays);
    for (size_t i = 0; i < ret_arrays->count; i++) {
        aq_named_array *array = &ret_arrays->arrays[i];
        const aq_slices slices = aq_agent_slices(agent, array);
        array->values = NULL;
        array->count = slices.count > 0 ? aq_slices_whole(&slices) : array->count;
    }
}

int aq_agent_keep(aq_agent *agent, const aq_named_arrays *to)
{
    aq_named_arrays own;
    int rc = 0;
    aq_agent_arrays(agent, &own);
    for (size_t i = 0; rc == 0 && i < own.count; i++) {
        const aq_named_array *array = &own.arrays[i];
        const aq_slices slices = aq_agent_slices(agent, array);
        const bool is_first = aq_model_group_rank(aq_agent_model(agent)) == 0;
        void *values = is_first ? aq_named_arrays_find(to, array->name)->values : NULL;
        if (slices.count > 0) {
            rc = aq_model_group_gather(aq_agent_model(agent), &slices, array->values, values);
        } else if (is_first) {
            memcpy(values, array->values, aq_array_bytes(array));
        }
    }
    return rc;
}

void aq_agent_take(aq_agent *agent, const aq_named_arrays *from)
{
    aq_named_arrays own;
    aq_agent_arrays(agent, &own);
    for (size_t i = 0; i < own.count; i++) {
        aq_named_array *array = &own.arrays[i];
        const aq_slices slices = aq_agent_slices(agent, array);
        const void *values = aq_named_arrays_find(from, array->name)->values;
        if (slices.count > 0) {
            aq_slices_take(&slices, aq_model_group_rank(aq_agent_model(agent)), values,
                           array->values);
        } else {
            memcpy(array->values, values, aq_array_bytes(array));
        }
    }
}

/* Of a part of an array. */
static uint64_t hash_of(uint64_t hash, const float *values, size_t count)
{
    const aq_named_arrays part = {
        .count = 1,
        .arrays = {{.type = AQ_ARRAY_F32, .count = count, .values = (void *)(uintptr_t)values}}};
    return (hash ^ aq_named_arrays_hash(&part)) * AQ_FNV1A_PRIME;
}

static uint64_t hash_slices(aq_agent *agent, const aq_named_arrays *own)
{
    aq_slice_piece pieces[AQ_SLICE_PIECES_MAX];
    aq_named_arrays same = {.count = 0};
    uint64_t of_slice = AQ_FNV1A_START, of_all = AQ_FNV1A_START;
    for (size_t i = 0; i < own->count; i++) {
        const aq_named_array *array = &own->arrays[i];
        const aq_slices slices = aq_agent_slices(agent, array);
        const size_t count = slices.count > 0 ? aq_slices_pieces(&slices, pieces) : 0;
        for (size_t p = 0; p < count; p++) {
            const float *values = (const float *)array->values + pieces[p].own;
            uint64_t *hash = pieces[p].step > 0 ? &of_slice : &of_all;
            *hash = hash_of(*hash, values, pieces[p].count);
        }
        if (count == 0) {
            same.arrays[same.count++] = *array;
        }
    }
    of_all = (of_all ^ aq_named_arrays_hash(&same)) * AQ_FNV1A_PRIME;
    return aq_model_group_hash(aq_agent_model(agent), of_slice, of_all);
}

uint64_t aq_agent_hash(aq_agent *agent)
{
    aq_named_arrays own;
    aq_agent_arrays(agent, &own);
    return aq_agent_model(agent) != NULL ? hash_slices(agent, &own) : aq_named_arrays_hash(&own);
}

void aq_agent_count(aq_agent *agent, size_t *ret_all, size_t *ret_own)
{
    aq_named_arrays own, whole;
    aq_agent_arrays(agent, &own);
    aq_agent_whole(agent, &whole);
    *ret_own = aq_named_arrays_find(&own, "parameters")->count;
    *ret_all = aq_named_arrays_find(&whole, "parameters")->count;
}
