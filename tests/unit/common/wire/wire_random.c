/*
 * Random objects, all valid, small enough that thousands are made in a second.
 */
#include <inttypes.h>

#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"
#include "tests/unit/common/wire/wire_random.h"

uint64_t fixture_seed(void)
{
    return test_seed_or(aq_rng_system_seed());
}

static void random_box(aq_rng *rng, bool may_stack, aq_space *space)
{
    memset(space, 0, sizeof(*space));
    space->kind = AQ_SPACE_BOX;
    space->dtype = coin(rng) ? AQ_DTYPE_F32 : AQ_DTYPE_U8;
    space->rank = between(rng, 1, AQ_SHAPE_RANK_MAX);
    for (uint32_t i = 0; i < space->rank; i++) {
        space->shape[i] = between(rng, 1, 3);
    }
    if (may_stack && aq_rng_below(rng, 4) == 0) {
        space->frames = between(rng, 2, 4);
        space->shape[space->rank - 1] *= space->frames;
    }
    space->bound_count = coin(rng) || aq_space_elements(space) > AQ_BOUNDS_MAX
                             ? 1
                             : (uint32_t)aq_space_elements(space);
    for (uint32_t i = 0; i < space->bound_count; i++) {
        space->low[i] = coin(rng) ? -INFINITY : -(float)aq_rng_uniform(rng);
        space->high[i] = coin(rng) ? INFINITY : (float)aq_rng_uniform(rng);
    }
}

void fixture_random_schema(aq_rng *rng, aq_schema *ret_schema)
{
    const uint32_t counts[] = {between(rng, 1, 9), between(rng, 1, 9), between(rng, 1, 9)};
    random_box(rng, true, &ret_schema->obs);
    if (coin(rng)) {
        aq_space_init_discrete(&ret_schema->action, between(rng, 1, 20));
    } else if (coin(rng)) {
        aq_space_init_choices(&ret_schema->action, between(rng, 1, 3), counts);
    } else {
        random_box(rng, false, &ret_schema->action);
    }
}

void fixture_random_layout(aq_rng *rng, const aq_schema *schema, aq_layout *ret_layout)
{
    uint32_t n_step = between(rng, 1, 5);
    uint32_t length_max = between(rng, n_step, 40);
    assert_int_equal(aq_layout_init(schema, n_step, length_max, ret_layout, NULL), 0);
    for (uint32_t count = between(rng, 0, AQ_COLUMNS_RECORDED_MAX); count > 0; count--) {
        aq_column column = {
            .dtype = between(rng, AQ_DTYPE_F32, AQ_DTYPE_U32),
            .per = between(rng, AQ_PER_STEP, AQ_PER_BOUNDARY),
            .bytes = 4 * between(rng, 1, 3),
        };
        (void)snprintf(column.name, sizeof(column.name), "column_%" PRIu32, count);
        assert_int_equal(aq_layout_record(ret_layout, &column, 1, NULL), 0);
    }
}

static void random_values(aq_rng *rng, const aq_column *column, uint8_t *values, size_t bytes)
{
    if (column->dtype == AQ_DTYPE_F32) {
        any_floats(rng, values, bytes / sizeof(float));
        return;
    }
    any_bytes(rng, values, bytes);
    for (size_t i = 0; column->choices[0] > 0 && 4 * i < bytes; i++) {
        const size_t element = i % (column->bytes / sizeof(int32_t));
        int32_t choice = (int32_t)aq_rng_below(rng, column->choices[element]);
        memcpy(values + 4 * i, &choice, sizeof(choice));
    }
}

aq_chunk *fixture_random_chunk(aq_rng *rng, const aq_layout *layout)
{
    aq_chunk *chunk;
    uint32_t ending = between(rng, 0, 2);
    uint32_t length = between(rng, ending == 0 ? layout->n_step : 1, layout->length_max);
    assert_int_equal(aq_chunk_create(layout, length, &chunk), 0);
    chunk->view.episode = aq_rng_next(rng);
    chunk->view.first = coin(rng) ? 0 : between(rng, 1, 1000000);
    chunk->view.lane = between(rng, 0, UINT32_MAX - 1);
    chunk->view.length = length;
    uint32_t overlap_max = length < layout->n_step ? length - 1 : layout->n_step - 1;
    chunk->view.overlap = chunk->view.first == 0 ? 0 : between(rng, 0, overlap_max);
    chunk->view.terminated = ending == 1;
    chunk->view.truncated = ending == 2;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        random_values(rng, column, aq_chunk_column(chunk, i), aq_column_bytes(column, length));
    }
    assert_int_equal(aq_chunk_view_validate(&chunk->view, layout, NULL), 0);
    return chunk;
}

void fixture_random_experience(aq_rng *rng, const aq_layout *layout, uint32_t chunk_count,
                               aq_experience *ret_experience)
{
    *ret_experience = (aq_experience){
        .run_id = FIXTURE_RUN,
        .actor = aq_rng_next(rng),
        .incarnation = aq_rng_next(rng),
        .seq = 1 + aq_rng_below(rng, UINT64_MAX),
        .acknowledged = aq_rng_next(rng),
        .store = coin(rng) ? 0 : aq_rng_next(rng),
        .chunk_count = chunk_count,
        .chunks = aq_alloc(chunk_count, sizeof(aq_chunk *)),
    };
    assert_non_null(ret_experience->chunks);
    for (uint32_t i = 0; i < chunk_count; i++) {
        ret_experience->chunks[i] = fixture_random_chunk(rng, layout);
    }
}

aq_batch *fixture_random_batch(aq_rng *rng, const aq_layout *layout, uint32_t rows)
{
    aq_batch *batch;
    assert_int_equal(aq_batch_create(layout, 0, rows, &batch), 0);
    batch->rows = rows;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const aq_batch_column *column = &batch->columns[i];
        if (i != AQ_BATCH_PRIORITY) {
            random_values(rng, &column->is, column->bytes, rows * column->values);
        }
    }
    for (uint32_t i = 0; i < rows; i++) {
        batch->bootstrap[i] = coin(rng) ? 0.0f : (float)aq_rng_uniform(rng);
        batch->weight[i] = (float)(1.0 - aq_rng_uniform(rng)); /* above 0 */
    }
    return batch;
}
