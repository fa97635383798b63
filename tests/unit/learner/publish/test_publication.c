/*
 * From parameters to a version that goes out: what is in the frame, the gate, and what is refused.
 */
#include "common/sys/cpu.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_policy.h"
#include "learner/publish/publication.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ROWS = 256 };

typedef struct publication_desk {
    learner_kit kit;
    float *obs; /* ROWS of them */
    aq_publication made;
} publication_desk;

static void publication_desk_setup(publication_desk *desk)
{
    learner_kit_init(&desk->kit, 11);
    desk->obs = learner_kit_observations(&desk->kit, ROWS);
}

static void publication_desk_teardown(publication_desk *desk)
{
    aq_publication_fini(&desk->made);
    aq_free(desk->obs);
    learner_kit_fini(&desk->kit);
}

static aq_publication_config config_of(uint32_t format, double budget)
{
    return (aq_publication_config){.plan = {.format = format},
                                   .full_period = 1,
                                   .error_budget = budget,
                                   .error_rows = ROWS,
                                   .cpu_flags = aq_cpu_flags()};
}

static int make(learner_kit *kit, const aq_publication_config *config, const float *obs,
                size_t rows, aq_publication *ret_publication, aq_error *error)
{
    aq_publication_history history;
    aq_snapshot *exact = NULL;
    int rc = aq_snapshot_create_exact(&kit->spec, &exact);
    if (rc != 0) {
        return rc;
    }
    aq_params_put(&kit->params, exact);
    aq_publication_history_init(&history, config);
    rc =
        aq_publication_make(config, &history, &kit->meta, exact, obs, rows, ret_publication, error);
    aq_publication_history_fini(&history);
    return rc;
}

/* Anew, measured on that many rows. */
static const aq_publication *publish(publication_desk *desk, const aq_publication_config *config,
                                     size_t rows)
{
    aq_publication_fini(&desk->made);
    assert_int_equal(make(&desk->kit, config, desk->obs, rows, &desk->made, NULL), 0);
    return &desk->made;
}

/* A tensor of no bytes may be NULL. */
static void assert_same_bytes(const void *a, const void *b, size_t size)
{
    if (size > 0) {
        assert_memory_equal(a, b, size);
    }
}

static void assert_same_tensors(const aq_snapshot *a, const aq_snapshot *b)
{
    assert_int_equal(aq_net_spec_hash(&a->spec), aq_net_spec_hash(&b->spec));
    for (uint32_t i = 0; i < a->spec.layer_count; i++) {
        const aq_snapshot_layer *x = &a->layers[i], *y = &b->layers[i];
        assert_int_equal(x->format, y->format);
        assert_int_equal(x->sizes.weights_bytes, y->sizes.weights_bytes);
        assert_memory_equal(&x->sizes, &y->sizes, sizeof(x->sizes));
        assert_same_bytes(x->weights, y->weights, x->sizes.weights_bytes);
        assert_same_bytes(x->bias, y->bias, a->spec.layers[i].outputs * sizeof(float));
        assert_same_bytes(x->scale, y->scale, x->sizes.scales * sizeof(float));
        assert_same_bytes(x->sum, y->sum, x->sizes.sums * sizeof(int32_t));
        assert_same_bytes(x->mask, y->mask, x->sizes.mask_bytes);
    }
}

/* The frame is the snapshot, as a receiver reads it. */
static void assert_frame_is_the_snapshot(const aq_publication *publication)
{
    const aq_snapshot *sent = publication->snapshot;
    aq_snapshot *read = NULL;
    assert_int_equal(
        aq_wire_policy_unpack(publication->frame.data, publication->frame.size, &read, NULL), 0);
    assert_int_equal(read->run_id, sent->run_id);
    assert_int_equal(read->version, sent->version);
    assert_int_equal(read->learner_step, sent->learner_step);
    assert_string_equal(read->task, sent->task);
    assert_int_equal(read->head, sent->head);
    assert_int_equal(aq_schema_hash(&read->schema), aq_schema_hash(&sent->schema));
    assert_memory_equal(&read->quant_error, &sent->quant_error, sizeof(read->quant_error));
    assert_same_tensors(read, sent);
    aq_snapshot_unref(read);
}

/* The twin is the parameters, bit by bit. */
static void assert_twin_is(const aq_publication *publication, const aq_params *params)
{
    const aq_snapshot *twin = publication->twin;
    for (uint32_t i = 0; i < twin->spec.layer_count; i++) {
        assert_int_equal(twin->layers[i].format, AQ_FORMAT_F32);
        assert_memory_equal(twin->layers[i].weights, params->weight[i],
                            twin->layers[i].sizes.weights_bytes);
        assert_memory_equal(twin->layers[i].bias, params->bias[i],
                            twin->spec.layers[i].outputs * sizeof(float));
    }
}

/* ---- what goes out ------------------------------------------------------------------------- */

TEST_IN(publication_desk, desk, int8_within_its_budget_goes_out)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    desk->kit.meta.learner_step = 900;

    const aq_publication *made = publish(desk, &config, ROWS);
    assert_false(made->fell_back);
    assert_int_equal(made->snapshot->layers[0].format, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(made->snapshot->learner_step, 900);
    assert_in_range(made->snapshot->quant_error.rows, 1, ROWS);
    assert_true(made->snapshot->quant_error.output_rms > 0);
    assert_memory_equal(&made->measured, &made->snapshot->quant_error, sizeof(made->measured));
    assert_frame_is_the_snapshot(made);
    assert_twin_is(made, &desk->kit.params);
    assert_int_equal(made->twin->version, made->snapshot->version);
}

/* Two actions of nearly the same value everywhere, so that rounding changes some. */
static void make_undecided(learner_kit *kit)
{
    size_t row = kit->spec.layers[1].inputs;
    for (uint32_t action = 1; action < KIT_ACTIONS; action++) {
        for (size_t i = 0; i < row; i++) {
            kit->params.weight[1][action * row + i] =
                kit->params.weight[1][i] + (float)aq_rng_range(&kit->rng, -1e-3, 1e-3);
        }
        kit->params.bias[1][action] = kit->params.bias[1][0];
    }
}

TEST_IN(publication_desk, desk, int8_past_its_budget_goes_out_as_fp32)
{
    aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 0);
    make_undecided(&desk->kit);

    const aq_publication *made = publish(desk, &config, ROWS);
    assert_true(aq_publication_cost(made) > 0);
    assert_true(made->fell_back);
    assert_says(made->fallback, "quantizing costs");
    assert_says(made->fallback, "quantizer.error_budget is 0");
    assert_ptr_equal(made->snapshot, made->twin);
    assert_int_equal(made->snapshot->quant_error.rows, 0); /* nothing was lost in what goes out */
    assert_int_equal(made->measured.rows, ROWS);           /* and why is told */
    assert_true(made->frame_bytes_fp32 >= made->frame.size);
    assert_frame_is_the_snapshot(made);
    assert_twin_is(made, &desk->kit.params);

    config.error_budget = (double)made->measured.cost;
    assert_false(publish(desk, &config, ROWS)->fell_back); /* a budget that is just met is met */
}

TEST_IN(publication_desk, desk, an_output_without_weights_goes_out_as_fp32)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    memset(desk->kit.params.weight[1], 0, desk->kit.spec.layers[1].inputs * sizeof(float));

    const aq_publication *made = publish(desk, &config, 0);
    assert_true(made->fell_back);
    assert_says(made->fallback, "layer 1, row 0: all its weights are zero");
    assert_null(strstr(made->fallback, "budget"));
    assert_ptr_equal(made->snapshot, made->twin);
}

TEST_IN(publication_desk, desk, a_budget_of_nothing_is_met_where_nothing_differs)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 0);
    desk->kit.params.bias[1][2] = 1000; /* always the last action */

    const aq_publication *made = publish(desk, &config, ROWS);
    assert_false(made->fell_back);
    assert_int_equal(made->snapshot->layers[0].format, AQ_FORMAT_INT8_CHANNEL);
}

/* What is sent, beside what the same versions would take in fp32 by the same rules. */
TEST_IN(publication_desk, desk, a_run_in_fp32_takes_what_it_is_said_to_take)
{
    const aq_publication_config config = config_of(AQ_FORMAT_F32, 1);
    for (uint64_t version = 1; version <= 2; version++) {
        desk->kit.meta.version = version;
        const aq_publication *made = publish(desk, &config, 0);
        assert_int_equal(made->packed_bytes_fp32, aq_publication_broadcast(made)->size);
        desk->kit.params.block[0] += 0.25f;
    }
}

TEST_IN(publication_desk, desk, int8_takes_less_than_fp32_by_the_same_rules)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    const aq_publication *made = publish(desk, &config, 0);
    assert_true(aq_publication_broadcast(made)->size < made->packed_bytes_fp32);
    assert_true(made->packed_bytes_fp32 <= made->frame_bytes_fp32);
}

TEST_IN(publication_desk, desk, without_observations_nothing_is_measured)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 0);
    const aq_publication *made = publish(desk, &config, 0);
    assert_false(made->fell_back);
    assert_int_equal(made->measured.rows, 0);
    assert_true(isnan(aq_publication_cost(made)));
    assert_true(isnan(aq_publication_cost(NULL)));
    assert_frame_is_the_snapshot(made);
}

/* A sanitizer sees the row after. */
TEST_IN(publication_desk, desk, no_more_observations_are_read_than_are_measured_on)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 0);
    assert_int_equal(publish(desk, &config, 100 * (size_t)ROWS)->measured.rows, ROWS);
}

TEST_IN(publication_desk, desk, fp32_is_its_own_twin)
{
    const aq_publication_config config = config_of(AQ_FORMAT_F32, 0);
    const aq_publication *made = publish(desk, &config, ROWS);
    assert_ptr_equal(made->snapshot, made->twin);
    assert_false(made->fell_back);
    assert_true(made->measured.cost == 0);
    assert_true(made->frame_bytes_fp32 >= made->frame.size);
    assert_frame_is_the_snapshot(made);
    assert_twin_is(made, &desk->kit.params);
}

static void check_bytes_fp32(const uint32_t *hidden, uint32_t hidden_count)
{
    learner_kit kit;
    aq_publication made;
    aq_buffer *frame = buffer_up_to(1 << 22);
    learner_kit_init(&kit, 1);
    learner_kit_take_network(&kit, hidden, hidden_count);

    learner_kit_publication(&kit, 70000, AQ_FORMAT_INT8_CHANNEL, &made);
    assert_int_equal(aq_wire_policy_pack(made.twin, frame), 0);
    assert_int_equal(made.frame_bytes_fp32, frame->size);
    assert_true(hidden_count == 0 || made.frame.size < frame->size);
    aq_publication_fini(&made);
    learner_kit_fini(&kit);
}

TEST(the_bytes_of_fp32_are_what_it_would_really_take)
{
    static const uint32_t one[] = {32}, wide[] = {300, 300}, deep[] = {8, 8, 8, 8, 8, 8, 8};
    check_bytes_fp32(NULL, 0);
    check_bytes_fp32(one, 1);
    check_bytes_fp32(wide, 2);
    check_bytes_fp32(deep, 7);
}

/* ---- as a change of the version before ------------------------------------------------------ */

enum { FULL_PERIOD = 4 };

/* What an actor has after it heard the broadcast, starting from what it had. */
static aq_snapshot *hear(const aq_publication *made, aq_snapshot *had)
{
    const aq_buffer *frame = aq_publication_broadcast(made);
    aq_snapshot *received;
    if (made->delta.size == 0) {
        assert_int_equal(aq_wire_policy_unpack(frame->data, frame->size, &received, NULL), 0);
    } else {
        aq_wire_delta *delta;
        assert_int_equal(aq_wire_delta_open(frame->data, frame->size, &delta, NULL), 0);
        assert_int_equal(aq_wire_delta_apply(delta, had, &received, NULL), 0);
        aq_wire_delta_close(delta);
    }
    aq_snapshot_unref(had);
    return received;
}

static void move_a_little(learner_kit *kit)
{
    for (size_t i = 0; i < kit->params.count; i++) {
        kit->params.block[i] += (float)aq_rng_range(&kit->rng, -1e-4, 1e-4);
    }
}

/* The next version of the history. */
static const aq_publication *publish_next(publication_desk *desk,
                                          const aq_publication_config *config,
                                          aq_publication_history *history, uint64_t version)
{
    learner_kit *kit = &desk->kit;
    kit->meta.version = version;
    aq_publication_fini(&desk->made);
    assert_succeeds(aq_publication_make(config, history, &kit->meta,
                                        learner_kit_exact(&kit->spec, &kit->params), desk->obs,
                                        ROWS, &desk->made, NULL));
    return &desk->made;
}

static void check_chain(publication_desk *desk, const aq_publication_config *config)
{
    aq_publication_history history;
    aq_snapshot *actor = NULL;
    aq_publication_history_init(&history, config);
    for (uint64_t version = 1; version <= 3 * FULL_PERIOD; version++) {
        const aq_publication *made = publish_next(desk, config, &history, version);
        assert_int_equal(made->delta.size == 0, version % FULL_PERIOD == 1);
        assert_true(made->delta.size < made->frame.size);
        assert_frame_is_the_snapshot(made); /* whoever joins fetches that */
        actor = hear(made, actor);
        assert_same_tensors(actor, made->snapshot);
        assert_int_equal(actor->version, version);
        move_a_little(&desk->kit);
    }
    aq_snapshot_unref(actor);
    aq_publication_history_fini(&history);
}

TEST_IN(publication_desk, desk, versions_between_full_ones_are_changes)
{
    static const uint32_t formats[] = {AQ_FORMAT_F32,         AQ_FORMAT_F16,  AQ_FORMAT_BF16,
                                       AQ_FORMAT_INT8_TENSOR, AQ_FORMAT_INT4, AQ_FORMAT_INT2,
                                       AQ_FORMAT_INT8_CHANNEL};
    EACH_ROW(i, formats) {
        aq_publication_config config = config_of(formats[i], 1);
        config.full_period = FULL_PERIOD;
        check_chain(desk, &config);
    }
}

TEST_IN(publication_desk, desk, static_ranges_are_published)
{
    aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    config.range_method = AQ_RANGE_MIN_MAX;
    const aq_publication *made = publish(desk, &config, ROWS);
    assert_true(made->snapshot->layers[0].input_scale > 0);
    assert_true(made->snapshot->layers[1].input_scale > 0);
    assert_frame_is_the_snapshot(made);
    made = publish(desk, &config, 0); /* nothing was seen yet */
    assert_true(made->snapshot->layers[0].input_scale == 0);
}

TEST_IN(publication_desk, desk, a_version_in_another_format_goes_out_in_full)
{
    aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    aq_publication_history history;
    make_undecided(&desk->kit);
    config.full_period = 100;
    aq_publication_history_init(&history, &config);
    for (uint64_t version = 1; version <= 4; version++) {
        config.error_budget = version == 3 ? 0 : 1;
        const aq_publication *made = publish_next(desk, &config, &history, version);
        assert_int_equal(made->fell_back, version == 3);
        assert_int_equal(made->delta.size > 0, version == 2);
    }
    aq_publication_history_fini(&history);
}

/* Of those that are sent in fp32 all the time; where one of them falls back is none of theirs. */
TEST_IN(publication_desk, desk, fp32_by_the_same_rules_is_in_full_and_a_change_in_turn)
{
    aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    aq_publication_history history;
    size_t full = 0, change = 0;
    make_undecided(&desk->kit);
    config.full_period = 3;
    aq_publication_history_init(&history, &config);
    for (uint64_t version = 1; version <= 8; version++) {
        config.error_budget = version == 6 ? 0 : 1; /* after which the next must be in full */
        const aq_publication *made = publish_next(desk, &config, &history, version);
        full = version == 1 ? made->packed_bytes_fp32 : full;
        change = version == 2 ? made->packed_bytes_fp32 : change;
        assert_int_equal(made->packed_bytes_fp32, version % 3 == 1 ? full : change);
        assert_int_equal(made->fell_back, version == 6);
        move_a_little(&desk->kit);
    }
    assert_true(change < full);
    aq_publication_history_fini(&history);
}

TEST_IN(publication_desk, desk, a_change_that_is_no_smaller_than_the_version_goes_out_in_full)
{
    aq_publication_config config = config_of(AQ_FORMAT_F32, 1);
    aq_publication_history history;
    config.full_period = 100;
    aq_publication_history_init(&history, &config);
    (void)publish_next(desk, &config, &history, 1);
    /* All are alike now: a version says little, a change much. */
    for (uint32_t i = 0; i < desk->kit.spec.layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&desk->kit.spec.layers[i]);
        for (size_t k = 0; k < (size_t)matrix.rows * matrix.columns; k++) {
            desk->kit.params.weight[i][k] = 0.5f;
        }
    }
    assert_int_equal(publish_next(desk, &config, &history, 2)->delta.size, 0);
    const aq_publication *same = publish_next(desk, &config, &history, 3);
    assert_in_range(same->delta.size, 1, same->frame.size - 1);
    aq_publication_history_fini(&history);
}

/* Of its quantized weights. */
TEST_IN(publication_desk, desk, it_is_told_how_much_of_a_version_changed)
{
    static const uint32_t formats[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F16, AQ_FORMAT_F32};
    EACH_ROW(i, formats) {
        const aq_publication_config config = config_of(formats[i], 1);
        aq_publication_history history;
        aq_publication_history_init(&history, &config);
        assert_true(isnan(publish_next(desk, &config, &history, 1)->changed));
        const double same = publish_next(desk, &config, &history, 2)->changed;
        for (size_t k = 0; k < desk->kit.params.count; k++) {
            desk->kit.params.block[k] *= -1.37f;
        }
        const double all = publish_next(desk, &config, &history, 3)->changed;
        assert_true(formats[i] == AQ_FORMAT_F32 ? isnan(same) && isnan(all)
                                                : same == 0 && all > 0.9 && all <= 1);
        aq_publication_history_fini(&history);
    }
}

/* ---- what doesn't -------------------------------------------------------------------------- */

static void refuse(publication_desk *desk, const char *words)
{
    const aq_publication_config config = config_of(AQ_FORMAT_INT8_CHANNEL, 1);
    aq_publication made, before;
    memset(&made, 0x5a, sizeof(made));
    memset(&before, 0x5a, sizeof(before));
    assert_refused(make(&desk->kit, &config, desk->obs, ROWS, &made, &refusal), AQ_E_CORRUPT,
                   words);
    assert_memory_equal(&made, &before, sizeof(made));
}

TEST_IN(publication_desk, desk, parameters_that_are_not_finite_never_go_out)
{
    desk->kit.params.weight[1][5] = NAN;
    refuse(desk, "layer 1");
    desk->kit.params.weight[1][5] = 0;
    desk->kit.params.bias[0][3] = INFINITY;
    refuse(desk, "layer 0");
}

TEST_IN(publication_desk, desk, outputs_that_are_not_finite_never_go_out)
{
    for (size_t i = 0; i < (size_t)KIT_ACTIONS * 16; i++) {
        desk->kit.params.weight[1][i] = 3e38f; /* finite, but a sum of them is not */
    }
    for (size_t i = 0; i < 16; i++) {
        desk->kit.params.bias[0][i] = 100;
    }
    refuse(desk, "quantization error");
}

TEST_IN(publication_desk, desk, a_version_of_nothing_does_not_go_out)
{
    desk->kit.meta.version = 0;
    refuse(desk, "version");
}

static void survive_every_failed_allocation(publication_desk *desk, uint32_t format, double budget)
{
    const aq_publication_config config = config_of(format, budget);
    aq_publication made = {.frame_bytes_fp32 = 4711};
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(made.frame_bytes_fp32, 4711); /* untouched */
        assert_null(made.snapshot);
        rc = make(&desk->kit, &config, desk->obs, ROWS, &made, NULL);
    }
    aq_publication_fini(&made);
}

TEST_IN(publication_desk, desk, making_one_survives_every_failed_allocation)
{
    survive_every_failed_allocation(desk, AQ_FORMAT_INT8_CHANNEL, 1);
    survive_every_failed_allocation(desk, AQ_FORMAT_F32, 1);
    make_undecided(&desk->kit);
    survive_every_failed_allocation(desk, AQ_FORMAT_INT8_CHANNEL, 0);
}
