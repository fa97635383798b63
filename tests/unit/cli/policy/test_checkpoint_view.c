/*
 * What is shown of a checkpoint.
 */
#include "cli/policy/checkpoint_view.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { HIDDEN = 8, ACTING = 5 * HIDDEN + (HIDDEN + 1) * 2, TRAINED = 100 };

/* Of a network 4-8r-2, behind whose parameters a critic's are. */
static void init_checkpoint(aq_checkpoint *ret_checkpoint)
{
    static const uint32_t hidden[] = {HIDDEN};
    static float trained[TRAINED];
    *ret_checkpoint = (aq_checkpoint){
        .task = "gym:CartPole-v1",
        .algorithm = "ppo",
        .schema = cli_env("gym:CartPole-v1")->schema,
        .best_return = NAN,
        .config = "task: gym:CartPole-v1\n",
    };
    assert_succeeds(
        aq_net_spec_init_mlp(4, hidden, 1, 2, AQ_ACTIVATION_RELU, &ret_checkpoint->spec, &refusal));
    aq_named_arrays_add(&ret_checkpoint->arrays, "parameters", AQ_ARRAY_F32, TRAINED, trained);
}

TEST(parameters_are_those_of_the_network_that_is_named)
{
    aq_checkpoint checkpoint;
    init_checkpoint(&checkpoint);
    assert_succeeds(aq_checkpoint_view_print(cli_print_begin(), "step.aqc", &checkpoint, 1));
    assert_says(cli_print_end(), "4-8r-2, 58 parameters, by ppo");
    const json_t *view = cli_json(aq_checkpoint_view_json(&checkpoint, 1));
    assert_int_equal(json_integer_value(json_object_get(view, "parameters")), ACTING);
}
