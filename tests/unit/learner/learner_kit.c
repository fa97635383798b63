/*
 * See learner_kit.h.
 */
#include "tests/unit/learner/learner_kit.h"

#include "common/sys/cpu.h"
#include "tests/support/test.h"

enum { ERROR_ROWS = 64 };

void learner_kit_init(learner_kit *kit, uint64_t seed)
{
    static const uint32_t hidden[] = {16};
    static const float low[] = {-1, -1, -1, -1}, high[] = {1, 1, 1, 1};
    memset(kit, 0, sizeof(*kit));
    aq_rng_init(&kit->rng, seed, 0);
    aq_space_init_box(&kit->schema.obs, KIT_INPUTS, low, high);
    aq_space_init_discrete(&kit->schema.action, KIT_ACTIONS);
    assert_int_equal(aq_layout_init(&kit->schema, 1, 2, &kit->layout, NULL), 0);
    assert_succeeds(aq_net_spec_init_mlp(KIT_INPUTS, hidden, 1, KIT_ACTIONS, AQ_ACTIVATION_RELU,
                                         &kit->spec, NULL));
    assert_int_equal(aq_params_init(&kit->spec, &kit->params), 0);
    aq_params_randomize(&kit->spec, &kit->params, &kit->rng);
    kit->meta = (aq_quantize_meta){.run_id = KIT_RUN_ID,
                                   .version = 1,
                                   .task = "gym:CartPole-v1",
                                   .schema = &kit->schema,
                                   .head = AQ_HEAD_ARGMAX};
}

void learner_kit_fini(learner_kit *kit)
{
    aq_params_fini(&kit->params);
}

void learner_kit_take_network(learner_kit *kit, const uint32_t *hidden, uint32_t hidden_count)
{
    aq_params_fini(&kit->params);
    assert_succeeds(aq_net_spec_init_mlp(KIT_INPUTS, hidden, hidden_count, KIT_ACTIONS,
                                         AQ_ACTIVATION_TANH, &kit->spec, NULL));
    assert_int_equal(aq_params_init(&kit->spec, &kit->params), 0);
    aq_params_randomize(&kit->spec, &kit->params, &kit->rng);
}

float *learner_kit_observations(learner_kit *kit, size_t rows)
{
    float *observations = aq_alloc(rows * KIT_INPUTS, sizeof(*observations));
    assert_non_null(observations);
    fill_range(observations, rows * KIT_INPUTS, -1, 1, &kit->rng);
    return observations;
}

aq_snapshot *learner_kit_exact(const aq_net_spec *spec, const aq_params *params)
{
    aq_snapshot *exact = NULL;
    assert_succeeds(aq_snapshot_create_exact(spec, &exact));
    aq_params_put(params, exact);
    return exact;
}

aq_batch *learner_kit_group(learner_kit *kit, uint32_t rows)
{
    aq_batch *group = NULL;
    float *obs = learner_kit_observations(kit, rows);
    float *next_obs = learner_kit_observations(kit, rows);
    assert_int_equal(aq_batch_create(&kit->layout, 0, rows, &group), 0);
    group->rows = rows;
    memcpy(group->obs, obs, (size_t)rows * group->obs_bytes);
    memcpy(group->next_obs, next_obs, (size_t)rows * group->obs_bytes);
    for (uint32_t i = 0; i < rows; i++) {
        int32_t action = (int32_t)(i % KIT_ACTIONS);
        memcpy(group->action + i * sizeof(action), &action, sizeof(action));
        group->reward[i] = (float)i;
        group->bootstrap[i] = 0.5f;
        group->weight[i] = 1;
        group->item[i] = i;
        group->version[i] = i; /* row 0 acted at random */
    }
    aq_free(obs);
    aq_free(next_obs);
    return group;
}

void learner_kit_publication(learner_kit *kit, uint64_t version, uint32_t format,
                             aq_publication *ret_publication)
{
    aq_publication_config config = {.plan = {.format = format},
                                    .full_period = 1,
                                    .error_budget = 1,
                                    .error_rows = ERROR_ROWS,
                                    .cpu_flags = aq_cpu_flags()};
    aq_publication_history history;
    aq_publication_history_init(&history, &config);
    float *observations = learner_kit_observations(kit, ERROR_ROWS);
    kit->meta.version = version;
    assert_succeeds(aq_publication_make(&config, &history, &kit->meta,
                                        learner_kit_exact(&kit->spec, &kit->params), observations,
                                        ERROR_ROWS, ret_publication, NULL));
    aq_publication_history_fini(&history);
    aq_free(observations);
}
