/*
 * Networks of others as policies: sizes, and what their outputs are.
 */
#include "common/policy/gaussian.h"
#include "interchange/import/policy_import.h"
#include "tests/support/test.h"

static const float ramp[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f};

typedef struct import_kit {
    aq_foreign_net net;
    aq_schema schema;
    aq_snapshot *policy;
} import_kit;

/* 4 -> 2, from which an action of -1 to 3 and one of 0 to 1 are made, or one of two choices. */
static void import_kit_setup(import_kit *kit)
{
    static const float zeros[4], low[] = {-1.0f, 0.0f}, high[] = {3.0f, 1.0f};
    aq_space_init_box(&kit->schema.obs, 4, zeros, ramp);
    aq_space_init_box(&kit->schema.action, 2, low, high);
    assert_succeeds(aq_foreign_linear(&kit->net, ramp, NULL, 2, 4, &refusal));
}

static void import_kit_teardown(import_kit *kit)
{
    aq_foreign_net_fini(&kit->net);
    aq_snapshot_unref(kit->policy);
}

static int import_as(import_kit *kit, enum aq_import_end end)
{
    return aq_policy_import(&kit->net, "a:b", &kit->schema, end, &kit->policy, &refusal);
}

TEST_IN(import_kit, kit, outputs_of_choices_choose)
{
    aq_space_init_discrete(&kit->schema.action, 2);
    assert_succeeds(import_as(kit, AQ_IMPORT_END_FOUND));
    assert_int_equal(kit->policy->head, AQ_HEAD_ARGMAX);
    assert_int_equal(kit->policy->version, 1);
    assert_string_equal(kit->policy->task, "a:b");
    assert_memory_equal(kit->policy->layers[0].weights, ramp, sizeof(ramp));
}

TEST_IN(import_kit, kit, logits_can_be_drawn_by)
{
    aq_space_init_discrete(&kit->schema.action, 2);
    assert_succeeds(import_as(kit, AQ_IMPORT_END_LOGITS));
    assert_int_equal(kit->policy->head, AQ_HEAD_CATEGORICAL);
}

TEST_IN(import_kit, kit, a_tanh_is_added_once)
{
    assert_succeeds(aq_foreign_activate(&kit->net, AQ_ACTIVATION_TANH, &refusal));
    assert_succeeds(import_as(kit, AQ_IMPORT_END_FOUND));
    assert_int_equal(kit->policy->head, AQ_HEAD_TANH_BOX);
    aq_snapshot_unref(kit->policy);
    kit->policy = NULL;
    kit->net.spec.layers[0].activation = AQ_ACTIVATION_NONE;
    assert_succeeds(import_as(kit, AQ_IMPORT_END_TANH));
    assert_int_equal(kit->policy->spec.layers[0].activation, AQ_ACTIVATION_TANH);
}

/* An action keeps its units, and its deviation, when outputs become means from -1 to 1. */
TEST_IN(import_kit, kit, actions_become_means_between_the_bounds)
{
    static const float obs[] = {1.0f, 0.5f, -0.25f, 2.0f}, deviation[] = {0.0f, 0.5f};
    const float *w = ramp;
    float outputs[2], action[2];
    assert_succeeds(aq_foreign_deviate(&kit->net, deviation, 2, &refusal));
    assert_succeeds(import_as(kit, AQ_IMPORT_END_ACTIONS));
    assert_int_equal(kit->policy->head, AQ_HEAD_GAUSSIAN);
    const float *made = kit->policy->layers[0].weights;
    for (int row = 0; row < 2; row++) {
        outputs[row] = kit->policy->layers[0].bias[row];
        for (int i = 0; i < 4; i++) {
            outputs[row] += made[row * 4 + i] * obs[i];
        }
    }
    const aq_head_terms terms = aq_snapshot_terms(kit->policy);
    terms.head->act(&terms, outputs, 1, action);
    assert_float_equal(action[0], w[0] + w[1] * 0.5f - w[2] * 0.25f + w[3] * 2.0f, 1e-6f);
    assert_float_equal(action[1], 1.0f, 0.0f); /* more, and held */
    assert_float_equal(kit->policy->arrays[0], -logf(2.0f), 1e-6f);
    assert_float_equal(kit->policy->arrays[1], 0.5f - logf(0.5f), 1e-6f);
}

TEST_IN(import_kit, kit, without_deviations_they_are_the_least)
{
    assert_succeeds(import_as(kit, AQ_IMPORT_END_ACTIONS));
    assert_float_equal(kit->policy->arrays[1], (float)AQ_LOG_DEVIATION_MIN, 0.0f);
}

static void refuse(import_kit *kit, enum aq_import_end end, int code, const char *words)
{
    assert_int_equal(import_as(kit, end), code);
    assert_says(refusal.text, words);
}

TEST_IN(import_kit, kit, what_does_not_fit_the_task_is_refused)
{
    static const float values[3];
    refuse(kit, AQ_IMPORT_END_FOUND, AQ_E_INVALID, "--end tanh");
    refuse(kit, AQ_IMPORT_END_LOGITS, AQ_E_SCHEMA,
           "for actions that are choices, and the task's are numbers");
    aq_space_init_discrete(&kit->schema.action, 2);
    refuse(kit, AQ_IMPORT_END_ACTIONS, AQ_E_SCHEMA,
           "outputs that are actions are for actions that are numbers");
    aq_space_init_discrete(&kit->schema.action, 3);
    refuse(kit, AQ_IMPORT_END_FOUND, AQ_E_SCHEMA, "gives 2 values, and the task asks for 3");
    aq_space_init_box(&kit->schema.obs, 3, values, ramp);
    refuse(kit, AQ_IMPORT_END_FOUND, AQ_E_SCHEMA, "takes 4 values, and an observation");
}

TEST_IN(import_kit, kit, ends_that_cannot_be_are_refused)
{
    assert_succeeds(aq_foreign_deviate(&kit->net, ramp, 3, &refusal));
    refuse(kit, AQ_IMPORT_END_ACTIONS, AQ_E_INVALID, "3 log-deviations for 2 outputs");
    assert_succeeds(aq_foreign_activate(&kit->net, AQ_ACTIVATION_RELU, &refusal));
    refuse(kit, AQ_IMPORT_END_ACTIONS, AQ_E_INVALID, "end in relu");
    refuse(kit, AQ_IMPORT_END_TANH, AQ_E_UNSUPPORTED, "tanh right behind relu");
    assert_succeeds(aq_foreign_scale(&kit->net, ramp, NULL, 2, &refusal));
    refuse(kit, AQ_IMPORT_END_TANH, AQ_E_UNSUPPORTED, "scaled or shifted before the end");
}

/* tanh(x) * scale + bias, as CleanRL's actors end. */
TEST_IN(import_kit, kit, a_tanh_that_is_spread_between_the_bounds_is_the_heads)
{
    static const float half[] = {2.0f, 0.5f}, middle[] = {1.0f, 0.5f}, other[] = {1.0f, 0.6f};
    assert_succeeds(aq_foreign_activate(&kit->net, AQ_ACTIVATION_TANH, &refusal));
    assert_succeeds(aq_foreign_scale(&kit->net, half, NULL, 2, &refusal));
    assert_succeeds(aq_foreign_scale(&kit->net, NULL, middle, 2, &refusal));
    assert_succeeds(aq_foreign_clip(&kit->net, -1.0f, 3.0f, &refusal)); /* changes nothing */
    assert_succeeds(import_as(kit, AQ_IMPORT_END_FOUND));
    assert_int_equal(kit->policy->head, AQ_HEAD_TANH_BOX);
    assert_memory_equal(kit->policy->layers[0].weights, ramp, sizeof(ramp));
    assert_succeeds(aq_foreign_scale(&kit->net, half, other, 2, &refusal));
    refuse(kit, AQ_IMPORT_END_FOUND, AQ_E_INVALID,
           "the model spreads output 1 between 0.1 and 1.1, and an action of the task goes from 0 "
           "to 1");
}

/* Such a clip is the head's own. */
TEST_IN(import_kit, kit, actions_that_are_held_between_the_bounds_are_actions)
{
    assert_succeeds(aq_foreign_clip(&kit->net, -1.0f, 3.0f, &refusal));
    assert_succeeds(import_as(kit, AQ_IMPORT_END_FOUND));
    assert_int_equal(kit->policy->head, AQ_HEAD_GAUSSIAN);
}

TEST_IN(import_kit, kit, other_clips_are_refused)
{
    assert_succeeds(aq_foreign_clip(&kit->net, -1.0f, 2.0f, &refusal));
    refuse(kit, AQ_IMPORT_END_ACTIONS, AQ_E_SCHEMA,
           "holds its outputs between -1 and 2, and the task's actions go from -1 to 3");
    refuse(kit, AQ_IMPORT_END_TANH, AQ_E_INVALID, "outputs that are tanh are held between");
    aq_space_init_discrete(&kit->schema.action, 2);
    refuse(kit, AQ_IMPORT_END_FOUND, AQ_E_INVALID, "outputs that are values are held between");
    assert_int_equal(aq_foreign_clip(&kit->net, 0.0f, 1.0f, &refusal), AQ_E_UNSUPPORTED);
}

/* As Stable-Baselines3 has them with use_sde. */
TEST_IN(import_kit, kit, deviations_that_depend_on_the_state_are_called_so)
{
    assert_succeeds(aq_foreign_deviate(&kit->net, ramp, 8, &refusal));
    refuse(kit, AQ_IMPORT_END_ACTIONS, AQ_E_INVALID,
           "8 log-deviations for 2 outputs: one for each input of the last layer, as of gSDE");
    assert_says(refusal.text, "leave log_std out of the arrays");
}

TEST_IN(import_kit, kit, shares_and_choices_are_of_choices)
{
    assert_succeeds(aq_foreign_end(&kit->net, AQ_FOREIGN_SHARES, &refusal));
    refuse(kit, AQ_IMPORT_END_ACTIONS, AQ_E_SCHEMA, "ends in Softmax, and the task's actions are");
    aq_space_init_discrete(&kit->schema.action, 2);
    assert_succeeds(import_as(kit, AQ_IMPORT_END_LOGITS));
    aq_snapshot_unref(kit->policy);
    kit->policy = NULL;
    assert_succeeds(aq_foreign_end(&kit->net, AQ_FOREIGN_SHARES, &refusal));
    assert_succeeds(aq_foreign_end(&kit->net, AQ_FOREIGN_CHOICE, &refusal)); /* of the shares */
    refuse(kit, AQ_IMPORT_END_LOGITS, AQ_E_SCHEMA, "gives the number of the greatest output");
    assert_succeeds(import_as(kit, AQ_IMPORT_END_FOUND));
    assert_int_equal(kit->policy->head, AQ_HEAD_ARGMAX);
}

TEST_IN(import_kit, kit, a_number_that_is_none_is_refused)
{
    static const float bad[] = {1.0f, NAN};
    assert_int_equal(aq_foreign_linear(&kit->net, bad, NULL, 1, 2, &refusal), AQ_E_CORRUPT);
    assert_int_equal(aq_foreign_linear(&kit->net, ramp, bad, 2, 2, &refusal), AQ_E_CORRUPT);
    assert_int_equal(aq_foreign_norm(&kit->net, bad, NULL, 2, &refusal), AQ_E_CORRUPT);
    assert_int_equal(aq_foreign_scale(&kit->net, bad, NULL, 2, &refusal), AQ_E_CORRUPT);
    assert_int_equal(aq_foreign_deviate(&kit->net, bad, 2, &refusal), AQ_E_CORRUPT);
}

TEST(names_of_ends_are_known)
{
    enum aq_import_end end;
    assert_succeeds(aq_import_end_from_text("actions", &end, &refusal));
    assert_int_equal(end, AQ_IMPORT_END_ACTIONS);
    assert_int_equal(aq_import_end_from_text("softmax", &end, &refusal), AQ_E_INVALID);
}
