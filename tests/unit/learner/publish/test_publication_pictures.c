/*
 * The broadcast of Nature's network on pictures: what a version takes in full and as a change,
 * beside fp32 in full. Parameters and updates are random, not trained: between two versions lie
 * four updates of all parameters by the whole learning rate, in directions drawn anew. Adam's are
 * mostly smaller, and so is what changes.
 */
#include "learner/publish/publication.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ACTIONS = 6, UPDATES = 4, VERSIONS = 2 };
#define STEP 6.25e-5f /* the rate of DQN on Atari with Adam */

static aq_net_spec nature(void)
{
    static const aq_conv_shape shapes[] = {
        {84, 84, 4, 32, 8, 4, 0}, {20, 20, 32, 64, 4, 2, 0}, {9, 9, 64, 64, 3, 1, 0}};
    aq_net_spec spec = {.layer_count = 5};
    for (uint32_t i = 0; i < 3; i++) {
        spec.layers[i] = aq_layer_conv2d(&shapes[i], AQ_ACTIVATION_RELU);
    }
    spec.layers[3] = aq_layer_linear(spec.layers[2].outputs, 512, AQ_ACTIVATION_RELU);
    spec.layers[4] = aq_layer_linear(512, ACTIONS, AQ_ACTIVATION_NONE);
    return spec;
}

static void move(const aq_net_spec *spec, aq_params *params, aq_rng *rng)
{
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        const size_t weights = (size_t)matrix.rows * matrix.columns;
        for (size_t k = 0; k < weights; k++) {
            const int ups = __builtin_popcount((unsigned)aq_rng_below(rng, 1 << UPDATES));
            params->weight[i][k] += STEP * (float)(2 * ups - UPDATES);
        }
    }
}

TEST(natures_network_takes_a_quarter_in_full_and_half_of_that_as_a_change)
{
    const aq_net_spec spec = nature();
    aq_schema schema = {.obs = {.kind = AQ_SPACE_BOX,
                                .dtype = AQ_DTYPE_U8,
                                .rank = 3,
                                .shape = {84, 84, 4},
                                .frames = 4,
                                .bound_count = 1,
                                .high = {255}}};
    aq_space_init_discrete(&schema.action, ACTIONS);
    const aq_publication_config config = {
        .plan = {.format = AQ_FORMAT_INT8_CHANNEL}, .full_period = 32, .error_budget = 1.0};
    aq_quantize_meta meta = {
        .run_id = 1, .task = "pictures", .schema = &schema, .head = AQ_HEAD_ARGMAX};
    aq_publication_history history;
    aq_params params;
    aq_rng rng = rng_of(test_seed(), 1);
    assert_int_equal(aq_params_init(&spec, &params), 0);
    aq_params_randomize(&spec, &params, &rng);
    aq_publication_history_init(&history, &config);
    for (meta.version = 1; meta.version <= VERSIONS; meta.version++) {
        aq_publication made;
        assert_succeeds(aq_publication_make(
            &config, &history, &meta, learner_kit_exact(&spec, &params), NULL, 0, &made, &refusal));
        const double sent = (double)aq_publication_broadcast(&made)->size;
        const double share = sent / (double)made.frame_bytes_fp32;
        print_message("version %d: %.0f bytes, %.4f of fp32\n", (int)meta.version, sent, share);
        assert_false(made.fell_back);
        assert_true(share <= (meta.version == 1 ? 0.26 : 0.14));
        aq_publication_fini(&made);
        move(&spec, &params, &rng);
    }
    aq_publication_history_fini(&history);
    aq_params_fini(&params);
}
