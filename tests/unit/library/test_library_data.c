/*
 * Data sets of the public library: pieces can be read where they lie.
 */
#include "common/data_set/data_set_writer.h"
#include "include/actorq/actorq.h"
#include "tests/support/chunks.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { ODD = 3, LENGTH_MAX = 4 };

/* A number of four bytes. */
static void put(const aq_chunk *chunk, uint32_t column, uint32_t at, const void *number)
{
    memcpy((uint8_t *)chunk_column_of(chunk, column) + at * sizeof(uint32_t), number,
           sizeof(uint32_t));
}

static void fill(const aq_chunk *chunk, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        const float reward = (float)(100 * length + i);
        const int32_t action = (int32_t)(i % 2);
        const uint32_t version = 7 + i;
        put(chunk, AQ_COLUMN_REWARD, i, &reward);
        put(chunk, AQ_COLUMN_ACTION, i, &action);
        put(chunk, AQ_COLUMN_VERSION, i, &version);
    }
}

/* A piece of each of these lengths, whose observations are odd numbers of bytes. */
static void write_pieces(const char *path, const uint32_t *lengths, size_t count)
{
    aq_data_set_info info = {.task = "py:test:Bytes", .source = "a test", .software = "a test"};
    aq_data_set_writer *writer;
    aq_layout layout;
    info.schema.obs = chunk_box(AQ_DTYPE_U8, ODD);
    aq_space_init_discrete(&info.schema.action, 2);
    assert_succeeds(aq_data_set_run_layout(&info, 1, LENGTH_MAX, &layout, &refusal));
    assert_succeeds(aq_data_set_writer_create(path, &info, false, &writer, &refusal));
    for (size_t i = 0; i < count; i++) {
        aq_chunk *chunk;
        assert_succeeds(aq_chunk_create(&layout, lengths[i], &chunk));
        chunk->view.length = lengths[i];
        chunk->view.episode = i;
        chunk->view.terminated = true;
        fill(chunk, lengths[i]);
        const aq_data_set_block block = {.actor = 1, .incarnation = 2, .view = chunk->view};
        assert_succeeds(aq_data_set_writer_add(writer, &block, &refusal));
        aq_chunk_unref(chunk);
    }
    assert_succeeds(aq_data_set_writer_finish(writer, &refusal));
    aq_data_set_writer_destroy(writer);
}

TEST(columns_are_aligned_for_their_type)
{
    static const uint32_t lengths[] = {1, 3, 2, 4, 3, 1};
    const char *path = file_in(file_folder(), "steps.aqds");
    actorq_data *data = NULL;
    int more = 0;
    write_pieces(path, lengths, sizeof(lengths) / sizeof(lengths[0]));
    assert_int_equal(actorq_data_open(path, &data, NULL), 0);
    EACH_ROW(i, lengths) {
        actorq_piece piece;
        assert_int_equal(actorq_data_next(data, &more, &piece, NULL), 0);
        assert_int_equal(more, 1);
        assert_int_equal(piece.length, lengths[i]);
        for (uint32_t c = AQ_COLUMN_ACTION; c < actorq_data_look(data)->column_count; c++) {
            assert_int_equal((uintptr_t)piece.columns[c] % sizeof(uint32_t), 0);
        }
        for (uint32_t k = 0; k < piece.length; k++) {
            const float *rewards = piece.columns[AQ_COLUMN_REWARD];
            const uint32_t *versions = piece.columns[AQ_COLUMN_VERSION];
            assert_float_equal(rewards[k], (float)(100 * piece.length + k), 0);
            assert_int_equal(versions[k], 7 + k);
        }
    }
    actorq_data_close(data);
}

TEST(the_end_stays_the_end)
{
    static const uint32_t lengths[] = {2};
    const char *path = file_in(file_folder(), "steps.aqds");
    actorq_data *data = NULL;
    actorq_piece piece;
    write_pieces(path, lengths, 1);
    assert_int_equal(actorq_data_open(path, &data, NULL), 0);
    for (int call = 0; call < 4; call++) {
        int more = -1;
        assert_int_equal(actorq_data_next(data, &more, &piece, NULL), 0);
        assert_int_equal(more, call == 0);
        assert_int_equal(piece.length, 2);
    }
    actorq_data_close(data);
}
