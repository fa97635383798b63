/*
 * Arrivals, tables and chi-squares for tests.
 */
#include "tests/unit/replay/table_kit.h"

#include "tests/support/test.h"

aq_layout table_kit_layout(void)
{
    return chunk_layout(2, AQ_SPACE_ELEMENTS_MAX, TABLE_KIT_SPAN, TABLE_KIT_CHUNK_LENGTH);
}

static void put_f32(uint8_t *at, float value)
{
    memcpy(at, &value, sizeof(value));
}

static void put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

static aq_chunk_view fill_piece(const aq_layout *layout, const table_kit_piece *piece, uint8_t *at)
{
    const size_t obs_bytes = layout->columns[AQ_COLUMN_OBS].bytes;
    const size_t action_bytes = layout->columns[AQ_COLUMN_ACTION].bytes;
    aq_chunk_view view = {
        .first = piece->first,
        .length = piece->length,
        .overlap = (uint16_t)piece->overlap,
        .terminated = piece->terminated,
        .truncated = piece->truncated,
    };
    aq_chunk_view_lay(&view, layout, at);
    for (uint32_t row = 0; row <= piece->length; row++) {
        float step = (float)(piece->step + row);
        for (uint32_t i = 0; i * sizeof(float) < obs_bytes; i++) {
            put_f32(at + row * obs_bytes + i * sizeof(float), step + 0.25f * (float)i);
        }
    }
    for (uint32_t row = 0; row < piece->length; row++) {
        uint32_t step = (uint32_t)(piece->step + row);
        for (uint32_t i = 0; i * sizeof(uint32_t) < action_bytes; i++) {
            put_u32(at + view.at[AQ_COLUMN_ACTION] + row * action_bytes + i * sizeof(uint32_t),
                    step);
        }
        put_f32(at + view.at[AQ_COLUMN_REWARD] + row * sizeof(float), (float)step);
        put_u32(at + view.at[AQ_COLUMN_VERSION] + row * sizeof(uint32_t), step);
    }
    for (uint32_t i = AQ_COLUMNS_STANDARD; i < layout->column_count; i++) {
        for (uint32_t row = 0; row < aq_column_values(&layout->columns[i], piece->length); row++) {
            put_f32(at + view.at[i] + row * sizeof(float), (float)(piece->step + row) + 0.5f);
        }
    }
    return view;
}

aq_arrival *table_kit_arrival(const aq_layout *layout, const table_kit_piece *pieces,
                              uint32_t count)
{
    size_t size = 1;
    for (uint32_t i = 0; i < count; i++) {
        size += aq_layout_bytes(layout, pieces[i].length) + 1;
    }
    uint8_t *bytes;
    aq_lease *frame;
    aq_arrival *arrival;
    assert_int_equal(aq_lease_create(size, &bytes, &frame), 0);
    memset(bytes, 0xee, size);
    assert_int_equal(aq_arrival_create(count, frame, &arrival), 0);
    size_t at = 1; /* odd, as in a message */
    for (uint32_t i = 0; i < count; i++) {
        arrival->chunks[i] = fill_piece(layout, &pieces[i], bytes + at);
        assert_int_equal(aq_chunk_view_validate(&arrival->chunks[i], layout, NULL), 0);
        at += aq_layout_bytes(layout, pieces[i].length) + 1;
    }
    return arrival;
}

aq_table_spec table_kit_spec(void)
{
    return (aq_table_spec){
        .name = "main",
        .selector = AQ_SELECTOR_UNIFORM,
        .remover = AQ_REMOVER_FIFO,
        .priority_exponent = 1.0,
        .capacity = 1000,
        .n_step = TABLE_KIT_SPAN,
        .min_size = 1,
    };
}

void table_kit_open(table_kit *kit, const aq_table_spec *spec, uint64_t seed)
{
    *kit = (table_kit){.layout = table_kit_layout()};
    if (aq_table_spec_span(spec) > kit->layout.n_step) {
        kit->layout.n_step = aq_table_spec_span(spec);
        kit->layout.length_max = 4 * kit->layout.n_step;
    }
    assert_int_equal(aq_message_store_create(0, &kit->store), 0);
    assert_int_equal(aq_replay_table_create(spec, &kit->layout, kit->store, seed, &kit->table), 0);
}

void table_kit_close(table_kit *kit)
{
    aq_replay_table_destroy(kit->table);
    assert_int_equal(aq_message_store_counts_of(kit->store).messages, 0);
    assert_int_equal(aq_message_store_counts_of(kit->store).resident_bytes, 0);
    aq_message_store_destroy(kit->store);
}

static void close_kit(void *kit)
{
    table_kit_close(kit);
    free(kit);
}

table_kit *table_kit_of(const aq_table_spec *spec, uint64_t seed)
{
    table_kit *kit = malloc(sizeof(*kit));
    table_kit_open(kit, spec, seed);
    at_end(close_kit, kit);
    return kit;
}

uint64_t table_kit_insert_pieces(table_kit *kit, table_kit_piece *pieces, uint32_t count)
{
    uint64_t item = aq_replay_table_holdings(kit->table).next_item;
    for (uint32_t i = 0; i < count; i++) {
        pieces[i].step = kit->step;
        kit->step += pieces[i].length;
    }
    aq_arrival *arrival = table_kit_arrival(&kit->layout, pieces, count);
    assert_int_equal(aq_replay_table_reserve(kit->table, arrival), 0);
    assert_int_equal(aq_message_store_reserve(kit->store), 0);
    aq_stored_message *message = aq_message_store_add(kit->store, arrival, ++kit->number, 0, false);
    aq_message_store_hold(message);
    for (uint32_t i = 0; i < count; i++) {
        aq_replay_table_insert(kit->table, message, i);
    }
    aq_message_store_release(kit->store, message);
    return item;
}

uint64_t table_kit_insert(table_kit *kit, uint32_t length)
{
    table_kit_piece piece = {.length = length, .terminated = true};
    return table_kit_insert_pieces(kit, &piece, 1);
}

TEST_ENDING(destroy_batch, aq_batch_destroy);

aq_batch *table_kit_batch(const table_kit *kit, uint32_t rows)
{
    const aq_table_spec *spec = aq_replay_table_spec(kit->table);
    aq_batch *batch = NULL;
    assert_int_equal(aq_batch_create(&kit->layout, spec->sequence_length, rows, &batch), 0);
    at_end(destroy_batch, batch);
    return batch;
}

uint64_t table_kit_step(const aq_batch *batch, uint32_t row)
{
    return batch->version[(size_t)row * batch->steps];
}

void table_kit_assert_chi_square(const double *counts, const double *expected, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        assert_true(expected[i] >= 5.0);
        sum += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
    }
    /* Wilson and Hilferty: the cube root of chi-square by its degrees is close to normal. */
    double degrees = count - 1;
    double spread = 2.0 / (9.0 * degrees);
    double deviations = (cbrt(sum / degrees) - (1.0 - spread)) / sqrt(spread);
    print_message("chi-square %.1f of %.0f degrees of freedom: %+.2f deviations\n", sum, degrees,
                  deviations);
    assert_true(fabs(deviations) < 4.9); /* 1 in a million */
}
