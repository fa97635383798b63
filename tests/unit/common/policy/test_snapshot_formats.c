/*
 * Snapshots in every format: what the levels stand for, and every lie that a format makes possible.
 */
#include <float.h>

#include "common/policy/half.h"
#include "common/policy/snapshot.h"
#include "tests/support/test.h"

/* Two rows of blocks, the second with 4 rows; 18 columns of blocks, the last with 1; 2 groups. */
enum { ROWS = 20, COLUMNS = 69, BLOCKS = 3 };

/* A valid policy of one layer: weights of 1, but for a sparse one, which has 3 blocks of them. */
static aq_snapshot *snapshot_of(uint32_t format, size_t blocks)
{
    aq_net_spec spec;
    aq_snapshot *snapshot = NULL;
    assert_int_equal(aq_net_spec_init_mlp(COLUMNS, NULL, 0, ROWS, AQ_ACTIVATION_NONE, &spec, NULL),
                     0);
    assert_int_equal(aq_snapshot_create(&spec, &format, &blocks, &snapshot), 0);
    snapshot->version = 1;
    strcpy(snapshot->task, "gym:Some-v0");
    snapshot->schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                      .dtype = AQ_DTYPE_F32,
                                      .rank = 1,
                                      .shape = {COLUMNS},
                                      .bound_count = 1,
                                      .low = {-1.0f},
                                      .high = {1.0f}};
    aq_space_init_discrete(&snapshot->schema.action, ROWS);
    snapshot->head = AQ_HEAD_ARGMAX;
    return snapshot;
}

static aq_snapshot *snapshot_in(uint32_t format)
{
    return snapshot_of(format, format == AQ_FORMAT_INT8_SPARSE ? BLOCKS : 0);
}

static aq_snapshot_layer_data edit(aq_snapshot *snapshot)
{
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, 0, &data);
    return data;
}

static void fill_scales(aq_snapshot *snapshot, float scale)
{
    for (size_t i = 0; i < snapshot->layers[0].sizes.scales; i++) {
        edit(snapshot).scale[i] = scale;
    }
}

static aq_snapshot *valid_halves(uint32_t format)
{
    aq_snapshot *snapshot = snapshot_in(format);
    uint16_t *weights = edit(snapshot).weights;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        weights[i] = format == AQ_FORMAT_F16 ? aq_f16_from_f32(1.0f) : aq_bf16_from_f32(1.0f);
    }
    return snapshot;
}

static aq_snapshot *valid_bytes(uint32_t format)
{
    aq_snapshot *snapshot = snapshot_in(format);
    aq_snapshot_layer_data data = edit(snapshot);
    memset(data.weights, 1, (size_t)ROWS * COLUMNS);
    fill_scales(snapshot, 0.5f);
    for (int row = 0; row < ROWS; row++) {
        data.sum[row] = COLUMNS;
    }
    return snapshot;
}

/* 69 columns of four bits are 34.5 bytes, of two 17.25. */
static aq_snapshot *valid_groups(uint32_t format)
{
    aq_snapshot *snapshot = snapshot_in(format);
    uint8_t *weights = edit(snapshot).weights;
    const size_t row_bytes = snapshot->layers[0].sizes.weights_bytes / ROWS;
    memset(weights, format == AQ_FORMAT_INT4 ? 0x11 : 0x55, row_bytes * ROWS);
    for (size_t row = 0; row < ROWS; row++) {
        weights[(row + 1) * row_bytes - 1] = 1;
    }
    fill_scales(snapshot, 0.5f);
    return snapshot;
}

/* Blocks 0 and 17 of the first row, which is one column wide, and 17 of the second. */
static aq_snapshot *valid_sparse(void)
{
    aq_snapshot *snapshot = snapshot_in(AQ_FORMAT_INT8_SPARSE);
    aq_snapshot_layer_data data = edit(snapshot);
    int8_t *levels = data.weights;
    assert_int_equal(snapshot->layers[0].sizes.mask_bytes, 2 * 3);
    data.mask[0] = 0x01;
    data.mask[2] = data.mask[5] = 0x02;
    memset(levels, 1, AQ_BLOCK_BYTES);
    for (int row = 0; row < ROWS; row++) {
        levels[AQ_BLOCK_BYTES + row * AQ_BLOCK_COLUMNS] = 1;
        data.sum[row] = row < AQ_BLOCK_ROWS ? AQ_BLOCK_COLUMNS + 1 : 1;
    }
    fill_scales(snapshot, 0.5f);
    return snapshot;
}

static aq_snapshot *valid_in(uint32_t format)
{
    switch (format) {
    case AQ_FORMAT_F32: {
        aq_snapshot *snapshot = snapshot_in(format);
        float *weights = edit(snapshot).weights;
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            weights[i] = 1.0f;
        }
        return snapshot;
    }
    case AQ_FORMAT_F16:
    case AQ_FORMAT_BF16:
        return valid_halves(format);
    case AQ_FORMAT_INT4:
    case AQ_FORMAT_INT2:
        return valid_groups(format);
    case AQ_FORMAT_INT8_SPARSE:
        return valid_sparse();
    default:
        return valid_bytes(format);
    }
}

static void refuse(aq_snapshot *snapshot, const char *words)
{
    assert_refused(aq_snapshot_validate(snapshot, &refusal), AQ_E_CORRUPT, words);
    aq_snapshot_unref(snapshot);
}

static void accept(aq_snapshot *snapshot)
{
    assert_succeeds(aq_snapshot_validate(snapshot, &refusal));
    aq_snapshot_unref(snapshot);
}

/* ---- what levels stand for ------------------------------------------------------------------ */

static bool is_stored(uint32_t format, int row, int column)
{
    return format != AQ_FORMAT_INT8_SPARSE || column == 68 || (row < 16 && column < 4);
}

TEST(every_format_reads_back)
{
    static float weights[ROWS * COLUMNS];
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = valid_in(format);
        const float one = aq_format_is_integer(format) ? 0.5f : 1.0f; /* the scale times 1 */
        memset(weights, 0xFF, sizeof(weights));
        aq_snapshot_layer_weights(snapshot, 0, weights);
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++) {
                const float expected = is_stored(format, row, column) ? one : 0.0f;
                assert_true(weights[row * COLUMNS + column] == expected);
            }
        }
        accept(snapshot);
    }
}

TEST(a_zero_point_moves_the_weights)
{
    static float weights[ROWS * COLUMNS];
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT8_TENSOR);
    snapshot->layers[0].weight_zero = -128;
    aq_snapshot_layer_weights(snapshot, 0, weights);
    assert_true(weights[0] == 64.5f);
    accept(snapshot);
}

TEST(each_group_has_its_scale)
{
    static float weights[ROWS * COLUMNS];
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT4);
    edit(snapshot).scale[3] = 8.0f;
    aq_snapshot_layer_weights(snapshot, 0, weights);
    assert_true(weights[COLUMNS + 63] == 0.5f);
    assert_true(weights[COLUMNS + 64] == 8.0f);
    assert_true(weights[2 * COLUMNS] == 0.5f);
    aq_snapshot_unref(snapshot);
}

/* ---- lies ----------------------------------------------------------------------------------- */

TEST(a_half_that_is_no_number_is_named_by_its_row)
{
    const uint16_t bad[] = {0x7C00, 0xFC00, 0x7C01, 0x7F80, 0xFF80, 0xFFFF};
    for (int i = 0; i < 6; i++) {
        const uint32_t format = i < 3 ? AQ_FORMAT_F16 : AQ_FORMAT_BF16;
        aq_snapshot *snapshot = valid_in(format);
        ((uint16_t *)edit(snapshot).weights)[7 * COLUMNS + 68] = bad[i];
        refuse(snapshot, "layer 0, row 7: a weight is NaN or infinite");
    }
}

TEST(a_channel_of_zeros_is_refused_and_a_group_is_not)
{
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT8_CHANNEL);
    memset((int8_t *)edit(snapshot).weights + (size_t)19 * COLUMNS, 0, COLUMNS);
    edit(snapshot).sum[19] = 0;
    refuse(snapshot, "layer 0, row 19: all its weights are zero");
    snapshot = valid_in(AQ_FORMAT_INT4);
    memset(edit(snapshot).weights, 0, snapshot->layers[0].sizes.weights_bytes);
    accept(snapshot);
    snapshot = valid_in(AQ_FORMAT_INT8_TENSOR);
    memset(edit(snapshot).weights, 0, COLUMNS);
    edit(snapshot).sum[0] = 0;
    accept(snapshot);
}

TEST(a_scale_that_cannot_be_is_refused_in_every_format)
{
    const float bad[] = {0.0f, -1.0f, NAN, INFINITY, FLT_MAX, FLT_MIN / 2};
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        for (int i = 0; i < 6 && aq_format_is_integer(format); i++) {
            aq_snapshot *snapshot = valid_in(format);
            edit(snapshot).scale[snapshot->layers[0].sizes.scales - 1] = bad[i];
            refuse(snapshot,
                   format == AQ_FORMAT_INT8_TENSOR ? "row 0: a scale of" : "row 19: a scale of");
        }
    }
}

TEST(a_scale_with_a_zero_point_leaves_room_for_it)
{
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT8_TENSOR);
    edit(snapshot).scale[0] = FLT_MAX / 256.0f;
    accept(snapshot);
    snapshot = valid_in(AQ_FORMAT_INT8_TENSOR);
    edit(snapshot).scale[0] = FLT_MAX / 127.0f;
    refuse(snapshot, "a scale of");
}

TEST(a_level_that_the_format_has_not_is_refused)
{
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT4);
    ((uint8_t *)edit(snapshot).weights)[35] = 0x81;
    refuse(snapshot, "layer 0, row 1: a weight below what its format has");
    snapshot = valid_in(AQ_FORMAT_INT2);
    ((uint8_t *)edit(snapshot).weights)[18 * 2 + 3] = 0x95;
    refuse(snapshot, "layer 0, row 2: a weight below what its format has");
    snapshot = valid_in(AQ_FORMAT_INT8_SPARSE);
    ((int8_t *)edit(snapshot).weights)[5] = -128;
    refuse(snapshot, "layer 0, rows from 0, columns from 0: a weight of -128");
}

TEST(levels_behind_the_last_column_are_refused)
{
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT4);
    ((uint8_t *)edit(snapshot).weights)[34] = 0x11;
    refuse(snapshot, "layer 0, row 0: weights behind the last column");
    snapshot = valid_in(AQ_FORMAT_INT2);
    ((uint8_t *)edit(snapshot).weights)[18 * 20 - 1] = 0x41;
    refuse(snapshot, "layer 0, row 19: weights behind the last column");
    snapshot = valid_in(AQ_FORMAT_INT8_SPARSE);
    ((int8_t *)edit(snapshot).weights)[AQ_BLOCK_BYTES + 4 * 3 + 1] = 1;
    refuse(snapshot, "layer 0, rows from 0, columns from 68: a weight outside the layer");
    snapshot = valid_in(AQ_FORMAT_INT8_SPARSE); /* row 20 of 20 */
    ((int8_t *)edit(snapshot).weights)[2 * AQ_BLOCK_BYTES + 4 * 4] = 1;
    refuse(snapshot, "layer 0, rows from 16, columns from 68: a weight outside the layer");
}

TEST(sums_are_checked_in_every_format_that_has_them)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = valid_in(format);
        if (snapshot->layers[0].sizes.sums == 0) {
            aq_snapshot_unref(snapshot);
            continue;
        }
        edit(snapshot).sum[18]--;
        refuse(snapshot, "layer 0, row 18: the weights add up to");
    }
}

TEST(a_mask_shows_the_blocks_that_are_there)
{
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT8_SPARSE);
    edit(snapshot).mask[3] = 0x01;
    refuse(snapshot, "layer 0: the mask shows more blocks than there are");
    snapshot = valid_in(AQ_FORMAT_INT8_SPARSE);
    edit(snapshot).mask[5] = 0;
    edit(snapshot).sum[16] = edit(snapshot).sum[17] = 0;
    edit(snapshot).sum[18] = edit(snapshot).sum[19] = 0;
    refuse(snapshot, "layer 0: there are more blocks than the mask shows");
    snapshot = valid_in(AQ_FORMAT_INT8_SPARSE); /* block 18 of 0 to 17 */
    edit(snapshot).mask[2] = 0x04;
    refuse(snapshot, "layer 0: the mask shows more blocks than there are");
}

TEST(a_zero_point_belongs_to_one_format_and_fits_a_byte)
{
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT8_CHANNEL);
    snapshot->layers[0].weight_zero = 1;
    refuse(snapshot, "a zero point of weights that have none");
    snapshot = valid_in(AQ_FORMAT_INT8_TENSOR);
    snapshot->layers[0].weight_zero = 128;
    refuse(snapshot, "a zero point of 128; -128 to 127");
    snapshot = valid_in(AQ_FORMAT_INT8_TENSOR);
    snapshot->layers[0].weight_zero = INT32_MIN;
    refuse(snapshot, "a zero point of -2147483648");
}

TEST(the_quantization_of_an_input_is_checked)
{
    const float bad[] = {-1.0f, NAN, INFINITY, FLT_MAX, FLT_TRUE_MIN};
    aq_snapshot *snapshot = valid_in(AQ_FORMAT_INT4);
    snapshot->layers[0].input_scale = 0.01f;
    snapshot->layers[0].input_zero = 255;
    accept(snapshot);
    for (int i = 0; i < 5; i++) {
        snapshot = valid_in(AQ_FORMAT_INT8_CHANNEL);
        snapshot->layers[0].input_scale = bad[i];
        refuse(snapshot, "layer 0: an input scale of");
    }
    snapshot = valid_in(AQ_FORMAT_F16);
    snapshot->layers[0].input_scale = 0.01f;
    refuse(snapshot, "layer 0: an input scale of 0.01");
    for (int i = 0; i < 3; i++) { /* too small, too large, and without a scale */
        snapshot = valid_in(AQ_FORMAT_INT8_CHANNEL);
        snapshot->layers[0].input_scale = i < 2 ? 0.01f : 0.0f;
        snapshot->layers[0].input_zero = (const int32_t[]){-1, 256, 1}[i];
        refuse(snapshot, "layer 0: an input zero point of");
    }
}

TEST(a_tensor_that_the_format_has_not_is_refused)
{
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        aq_snapshot *snapshot = valid_in(format);
        snapshot->layers[0].mask =
            format == AQ_FORMAT_INT8_SPARSE ? NULL : (const uint8_t *)snapshot->task;
        refuse(snapshot, "layer 0: tensors of another size or format");
        snapshot = valid_in(format);
        snapshot->layers[0].sizes.scales++;
        refuse(snapshot, "layer 0: tensors of another size or format");
        snapshot = valid_in(format);
        snapshot->layers[0].sizes.weights_bytes--;
        refuse(snapshot, "layer 0: tensors of another size or format");
    }
}

TEST(a_layer_that_is_not_quantizable_is_fp32)
{
    aq_snapshot *snapshot = NULL;
    aq_net_spec spec = {0};
    const aq_layer_spec norm = aq_layer_norm(4, AQ_ACTIVATION_NONE);
    assert_int_equal(aq_net_spec_add(&spec, &norm, NULL), 0);
    for (uint32_t format = 2; format <= AQ_FORMAT_COUNT; format++) {
        assert_int_equal(aq_snapshot_create(&spec, &format, NULL, &snapshot), AQ_E_INVALID);
    }
    assert_null(snapshot);
}

/* The quantizer keeps a block in each row of them, and C has no constant of nothing. */
TEST(a_sparse_layer_without_blocks_is_refused)
{
    aq_snapshot *snapshot = snapshot_of(AQ_FORMAT_INT8_SPARSE, 0);
    fill_scales(snapshot, 0.5f);
    refuse(snapshot, "layer 0 has no blocks");
}

TEST(more_blocks_than_the_matrix_has_are_not_created)
{
    const uint32_t format = AQ_FORMAT_INT8_SPARSE;
    const size_t all = 2 * 18, too_many = all + 1;
    aq_snapshot *snapshot = NULL;
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(COLUMNS, NULL, 0, ROWS, AQ_ACTIVATION_NONE, &spec, NULL),
                     0);
    assert_int_equal(aq_snapshot_create(&spec, &format, &too_many, &snapshot), AQ_E_INVALID);
    assert_null(snapshot);
    assert_int_equal(aq_snapshot_create(&spec, &format, &all, &snapshot), 0);
    assert_int_equal(snapshot->layers[0].sizes.weights_bytes, all * AQ_BLOCK_BYTES);
    aq_snapshot_unref(snapshot);
}
