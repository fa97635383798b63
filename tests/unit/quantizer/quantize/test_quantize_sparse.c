/*
 * Block-sparse int8: how many blocks are kept, which, and what is stored of them.
 */
#include "quantizer/quantize/quantize_layer.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

/* 3 rows of blocks, the last with 5 of 16 rows; 10 columns, the last with 1 of 4 columns. */
enum { ROWS = 37, COLUMNS = 37, BLOCK_ROWS = 3, BLOCK_COLUMNS = 10 };

static void quantizer_fixture_setup(quantizer_fixture *fixture)
{
    quantizer_fixture_init(fixture, COLUMNS, NULL, ROWS, AQ_ACTIVATION_NONE);
}

static aq_snapshot *sparse(const quantizer_fixture *fixture, float density)
{
    const aq_quantize_plan plan = {.format = AQ_FORMAT_INT8_SPARSE, .density = density};
    return quantizer_fixture_planned(fixture, &plan);
}

static bool is_kept(const aq_snapshot *snapshot, uint32_t row, uint32_t column)
{
    const uint8_t *mask = snapshot->layers[0].mask + row * aq_block_mask_row_bytes(COLUMNS);
    return aq_block_is_stored(mask, column);
}

static size_t kept_in_row(const aq_snapshot *snapshot, uint32_t row)
{
    size_t kept = 0;
    for (uint32_t column = 0; column < BLOCK_COLUMNS; column++) {
        kept += is_kept(snapshot, row, column);
    }
    return kept;
}

static double squares(const quantizer_fixture *fixture, uint32_t block_row, uint32_t block_column)
{
    double sum = 0.0;
    for (uint32_t r = 0; r < AQ_BLOCK_ROWS; r++) {
        for (uint32_t c = 0; c < AQ_BLOCK_COLUMNS; c++) {
            const uint32_t row = block_row * AQ_BLOCK_ROWS + r;
            const uint32_t column = block_column * AQ_BLOCK_COLUMNS + c;
            if (row < ROWS && column < COLUMNS) {
                const double w = (double)fixture->params.weight[0][row * COLUMNS + column];
                sum += w * w;
            }
        }
    }
    return sum;
}

TEST_IN(quantizer_fixture, fixture, the_density_is_the_share_that_is_kept)
{
    const struct {
        float density;
        size_t blocks;
    } rows[] = {{1.0f, 30}, {0.5f, 15}, {0.25f, 8}, {0.3f, 9}, {0.0001f, 3}, {0.0f, 15}};
    EACH_ROW(i, rows) {
        aq_snapshot *snapshot = sparse(fixture, rows[i].density);
        size_t kept = 0;
        for (uint32_t row = 0; row < BLOCK_ROWS; row++) {
            kept += kept_in_row(snapshot, row);
            assert_true(kept_in_row(snapshot, row) >= 1);
        }
        assert_int_equal(kept, rows[i].blocks);
        assert_int_equal(snapshot->layers[0].sizes.weights_bytes, rows[i].blocks * AQ_BLOCK_BYTES);
    }
}

TEST(a_density_below_a_block_a_row_keeps_one_a_row)
{
    const aq_layer_matrix_shape tall = {160, 4};
    assert_int_equal(aq_sparse_block_count(&tall, 0.5f), 10);
    assert_int_equal(aq_sparse_block_count(&tall, 1.0f), 10);
}

/* No block that was left out is heavier than one that was kept, but for a row's only one. */
TEST_IN(quantizer_fixture, fixture, the_heaviest_blocks_are_kept)
{
    aq_snapshot *snapshot = sparse(fixture, 0.4f);
    double heaviest_out = 0.0, lightest_in = INFINITY;
    for (uint32_t row = 0; row < BLOCK_ROWS; row++) {
        const bool has_only_one = kept_in_row(snapshot, row) == 1;
        for (uint32_t column = 0; column < BLOCK_COLUMNS; column++) {
            const double weight = squares(fixture, row, column);
            if (!is_kept(snapshot, row, column)) {
                heaviest_out = fmax(heaviest_out, weight);
            } else if (!has_only_one) {
                lightest_in = fmin(lightest_in, weight);
            }
        }
    }
    assert_true(lightest_in >= heaviest_out);
}

TEST_IN(quantizer_fixture, fixture, a_row_of_blocks_keeps_its_best_however_light)
{
    float *row = fixture->params.weight[0] + (size_t)16 * COLUMNS;
    for (size_t i = 0; i < (size_t)16 * COLUMNS; i++) {
        row[i] *= 1e-6f;
    }
    row[COLUMNS + 22] = 1e-3f;
    aq_snapshot *snapshot = sparse(fixture, 0.3f);
    assert_int_equal(kept_in_row(snapshot, 1), 1);
    assert_true(is_kept(snapshot, 1, 22 / AQ_BLOCK_COLUMNS));
    assert_int_equal(kept_in_row(snapshot, 0) + kept_in_row(snapshot, 2), 8);
}

TEST_IN(quantizer_fixture, fixture, of_equal_blocks_the_first_are_kept)
{
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        fixture->params.weight[0][i] = i % 2 == 0 ? 0.5f : -0.5f;
    }
    aq_snapshot *snapshot = sparse(fixture, 0.2f); /* 6 of 30: 3 that must be, and 3 more */
    for (uint32_t column = 0; column < BLOCK_COLUMNS; column++) {
        assert_int_equal(is_kept(snapshot, 0, column), column < 4);
    }
    assert_int_equal(kept_in_row(snapshot, 1), 1);
    assert_int_equal(kept_in_row(snapshot, 2), 1);
}

TEST_IN(quantizer_fixture, fixture, all_blocks_are_what_int8_stores)
{
    static float dense[ROWS * COLUMNS], blocks[ROWS * COLUMNS];
    aq_snapshot *int8 = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    aq_snapshot *all = sparse(fixture, 1.0f);
    aq_snapshot_layer_weights(int8, 0, dense);
    aq_snapshot_layer_weights(all, 0, blocks);
    assert_memory_equal(dense, blocks, sizeof(dense));
    assert_memory_equal(int8->layers[0].scale, all->layers[0].scale, ROWS * sizeof(float));
    assert_memory_equal(int8->layers[0].sum, all->layers[0].sum, ROWS * sizeof(int32_t));
}

/* What is left out takes no part in the scale. */
TEST_IN(quantizer_fixture, fixture, a_scale_comes_from_what_is_kept)
{
    float *weights = fixture->params.weight[0];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        weights[i] = 0.001f;
    }
    for (size_t row = 0; row < AQ_BLOCK_ROWS; row++) {
        weights[row * COLUMNS] = 10.0f; /* makes the first block of the row the best */
    }
    weights[20] = 5.0f; /* in a block that is not kept */
    weights[0] = 0.254f;
    aq_snapshot *snapshot = sparse(fixture, 0.0001f);
    assert_true(is_kept(snapshot, 0, 0) && kept_in_row(snapshot, 0) == 1);
    assert_true(snapshot->layers[0].scale[0] == 0.254f / 127.0f);
    assert_true(snapshot->layers[0].scale[1] == 10.0f / 127.0f);
}

TEST_IN(quantizer_fixture, fixture, a_row_of_which_nothing_is_kept_has_scale_1)
{
    memset(fixture->params.weight[0] + (size_t)5 * COLUMNS, 0, COLUMNS * sizeof(float));
    aq_snapshot *snapshot = sparse(fixture, 0.5f);
    assert_true(snapshot->layers[0].scale[5] == 1.0f);
    assert_int_equal(snapshot->layers[0].sum[5], 0);
}

TEST_IN(quantizer_fixture, fixture, the_largest_weights_can_be_weighed)
{
    for (uint32_t row = 0; row < AQ_BLOCK_ROWS; row++) {
        for (uint32_t column = 32; column < 36; column++) {
            fixture->params.weight[0][row * COLUMNS + column] = 3e38f;
        }
    }
    aq_snapshot *snapshot = sparse(fixture, 0.0001f);
    assert_true(is_kept(snapshot, 0, 8));
}
