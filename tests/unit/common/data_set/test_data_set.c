/*
 * Data sets: what was written is read; what was changed or cut anywhere is noticed.
 */
#include <sys/stat.h>

#include "common/data_set/data_set_reader.h"
#include "common/data_set/data_set_writer.h"
#include "tests/support/chunks.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

typedef struct fixture {
    const char *folder, *path;
    aq_data_set_info info;
    float more_reward; /* of the first step */
} fixture;

static fixture all;

static int set_up(void **state)
{
    memset(&all, 0, sizeof(all));
    all.folder = file_folder();
    all.path = file_in(all.folder, "steps.aqds");
    (void)snprintf(all.info.task, sizeof(all.info.task), "gym:CartPole-v1");
    (void)snprintf(all.info.source, sizeof(all.info.source), "a test");
    (void)snprintf(all.info.software, sizeof(all.info.software), "actorq test");
    fixture_schema(&all.info.schema);
    all.info.schema.obs.low[1] = -INFINITY;
    all.info.run_id = FIXTURE_RUN;
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(all.path);
    assert_int_equal(rmdir(all.folder), 0); /* nothing else is left */
    return 0;
}

/* Two blocks of one lane. */
static void write_set(bool replaces)
{
    aq_experience experience;
    aq_data_set_writer *writer;
    fixture_experience(&experience);
    reward_of(experience.chunks[0])[0] += all.more_reward;
    assert_succeeds(aq_data_set_writer_create(all.path, &all.info, replaces, &writer, &refusal));
    for (uint32_t i = 0; i < experience.chunk_count; i++) {
        const aq_data_set_block block = {
            .actor = 7, .incarnation = 9, .view = experience.chunks[i]->view};
        assert_succeeds(aq_data_set_writer_add(writer, &block, &refusal));
    }
    assert_succeeds(aq_data_set_writer_finish(writer, &refusal));
    aq_data_set_writer_destroy(writer);
    experience_fini(&experience);
}

/* Reads to the end; the code of the first failure. */
static int read_set(aq_data_set_counts *ret_counts)
{
    aq_data_set_reader *reader;
    aq_data_set_block block;
    bool more = true;
    int rc = aq_data_set_reader_open(all.path, &reader, &refusal);
    if (rc != 0) {
        return rc;
    }
    while (rc == 0 && more) {
        rc = aq_data_set_reader_next(reader, &more, &block, &refusal);
    }
    if (ret_counts != NULL) {
        *ret_counts = aq_data_set_reader_info(reader)->counts;
    }
    aq_data_set_reader_close(reader);
    return rc;
}

static void assert_columns(const aq_chunk_view *view, const aq_chunk *chunk,
                           const aq_layout *layout)
{
    assert_int_equal(view->length, chunk->view.length);
    assert_int_equal(view->overlap, chunk->view.overlap);
    assert_int_equal(view->first, chunk->view.first);
    assert_int_equal(view->episode, chunk->view.episode);
    assert_int_equal(view->lane, chunk->view.lane);
    assert_int_equal(view->terminated, chunk->view.terminated);
    assert_int_equal(view->truncated, chunk->view.truncated);
    for (uint32_t i = 0; i < layout->column_count; i++) {
        assert_memory_equal(aq_chunk_view_column(view, i), aq_chunk_view_column(&chunk->view, i),
                            aq_column_bytes(&layout->columns[i], view->length));
    }
}

TEST_WITH(recorded_columns_are_written_and_read, set_up, tear_down)
{
    static const aq_column columns[] = {{"log_probability", AQ_DTYPE_F32, AQ_PER_STEP, 4, {0}, {0}},
                                        {"hidden", AQ_DTYPE_U8, AQ_PER_BOUNDARY, 6, {0}, {0}}};
    enum { LENGTH = 3, VERSION_AT = 4 };
    aq_data_set_writer *writer;
    aq_data_set_reader *reader;
    aq_layout layout;
    aq_chunk *chunk;
    bool more;
    memcpy(all.info.recorded, columns, sizeof(columns));
    all.info.recorded_count = 2;
    all.info.schema.obs.frames = 2; /* of two numbers */
    assert_int_equal(aq_data_set_run_layout(&all.info, 1, LENGTH, &layout, NULL), 0);
    assert_int_equal(aq_chunk_create(&layout, LENGTH, &chunk), 0);
    chunk->view.length = LENGTH;
    chunk->view.terminated = true;
    for (uint32_t i = AQ_COLUMNS_STANDARD; i < layout.column_count; i++) {
        memset(aq_chunk_column(chunk, i), (int)i, aq_column_bytes(&layout.columns[i], LENGTH));
    }
    assert_succeeds(aq_data_set_writer_create(all.path, &all.info, false, &writer, &refusal));
    aq_data_set_block block = {.actor = 1, .incarnation = 2, .view = chunk->view};
    assert_succeeds(aq_data_set_writer_add(writer, &block, &refusal));
    assert_succeeds(aq_data_set_writer_finish(writer, &refusal));
    aq_data_set_writer_destroy(writer);
    assert_int_equal(file_bytes(all.path)->data[VERSION_AT], AQ_DATA_SET_VERSION_RECORDED);

    assert_succeeds(aq_data_set_reader_open(all.path, &reader, &refusal));
    assert_true(aq_data_set_reader_layout(reader)->hash == layout.hash);
    assert_succeeds(aq_data_set_reader_next(reader, &more, &block, &refusal));
    assert_true(more);
    for (uint32_t i = 0; i < layout.column_count; i++) {
        assert_memory_equal(aq_chunk_view_column(&block.view, i), aq_chunk_column(chunk, i),
                            aq_column_bytes(&layout.columns[i], LENGTH));
    }
    assert_succeeds(aq_data_set_reader_next(reader, &more, &block, &refusal));
    assert_false(more);
    aq_data_set_reader_close(reader);
    aq_chunk_unref(chunk);
}

TEST_WITH(what_was_written_is_read, set_up, tear_down)
{
    aq_experience experience;
    aq_data_set_reader *reader;
    aq_data_set_block block;
    bool more;
    write_set(false);
    fixture_experience(&experience);
    assert_succeeds(aq_data_set_reader_open(all.path, &reader, &refusal));
    const aq_data_set_info *info = aq_data_set_reader_info(reader);
    assert_string_equal(info->task, all.info.task);
    assert_string_equal(info->source, all.info.source);
    assert_true(info->run_id == FIXTURE_RUN);
    assert_true(info->schema_hash == aq_schema_hash(&all.info.schema));
    assert_int_equal(info->counts.blocks, 2);
    assert_int_equal(info->counts.episodes, 1);
    assert_int_equal(info->counts.n_step, 3);
    assert_int_equal(info->counts.transitions,
                     experience.chunks[0]->view.length + experience.chunks[1]->view.length - 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_succeeds(aq_data_set_reader_next(reader, &more, &block, &refusal));
        assert_true(more);
        assert_int_equal(block.actor, 7);
        assert_int_equal(block.incarnation, 9);
        assert_columns(&block.view, experience.chunks[i], aq_data_set_reader_layout(reader));
    }
    assert_succeeds(aq_data_set_reader_next(reader, &more, &block, &refusal));
    assert_false(more);
    aq_data_set_reader_close(reader);
    experience_fini(&experience);
}

TEST_WITH(each_flipped_byte_is_noticed, set_up, tear_down)
{
    write_set(false);
    const size_t size = file_bytes(all.path)->size;
    for (size_t i = 0; i < size; i++) {
        file_flip(all.path, (long)i);
        assert_int_not_equal(read_set(NULL), 0);
        assert_says(refusal.text, all.path);
        file_flip(all.path, (long)i);
    }
    assert_int_equal(read_set(NULL), 0);
}

TEST_WITH(each_truncation_is_noticed, set_up, tear_down)
{
    write_set(false);
    for (size_t size = file_bytes(all.path)->size; size-- > 0;) {
        assert_int_equal(truncate(all.path, (off_t)size), 0);
        int rc = read_set(NULL);
        assert_true(rc == AQ_E_CORRUPT || (size < AQ_DATA_SET_START_BYTES && rc == AQ_E_FOREIGN));
    }
}

TEST_WITH(a_pipe_is_refused_and_not_waited_for, set_up, tear_down)
{
    assert_int_equal(mkfifo(all.path, 0600), 0);
    assert_int_equal(read_set(NULL), AQ_E_FOREIGN);
    assert_says(refusal.text, "not a data set");
}

static uint64_t digest_of_set(void)
{
    aq_data_set_reader *reader;
    aq_data_set_block block;
    uint64_t digest;
    bool more;
    assert_succeeds(aq_data_set_reader_open(all.path, &reader, &refusal));
    assert_succeeds(aq_data_set_reader_digest(reader, &digest, &refusal));
    assert_succeeds(aq_data_set_reader_next(reader, &more, &block, &refusal)); /* nothing moved */
    aq_data_set_reader_close(reader);
    return digest;
}

TEST_WITH(a_digest_tells_sets_apart_by_their_columns, set_up, tear_down)
{
    aq_data_set_reader *reader;
    write_set(false);
    uint64_t digest = digest_of_set();
    all.more_reward = 1.0f;
    write_set(true);
    assert_true(digest_of_set() != digest);
    all.more_reward = 0.0f;
    write_set(true);
    assert_true(digest_of_set() == digest);
    assert_int_equal(truncate(all.path, (off_t)file_bytes(all.path)->size - 1), 0);
    assert_succeeds(aq_data_set_reader_open(all.path, &reader, &refusal));
    assert_refused(aq_data_set_reader_digest(reader, &digest, &refusal), AQ_E_CORRUPT, "no end");
    aq_data_set_reader_close(reader);
}

TEST_WITH(something_behind_the_end_is_noticed, set_up, tear_down)
{
    write_set(false);
    const aq_buffer *bytes = file_bytes(all.path);
    file_put(all.path, bytes->data, bytes->size + 1); /* the zero behind it, too */
    assert_int_equal(read_set(NULL), AQ_E_CORRUPT);
    assert_says(refusal.text, "something follows the end");
}

TEST_WITH(a_newer_version_is_refused_in_words, set_up, tear_down)
{
    write_set(false);
    aq_buffer *bytes = file_bytes(all.path);
    bytes->data[4] = AQ_DATA_SET_VERSION_RECORDED + 1;
    file_put(all.path, bytes->data, bytes->size);
    assert_int_equal(read_set(NULL), AQ_E_VERSION);
    assert_says(refusal.text, "of format version 3; this program reads up to 2");
}

TEST_WITH(a_file_that_is_there_is_replaced_only_when_asked_to, set_up, tear_down)
{
    aq_data_set_writer *writer;
    aq_data_set_counts counts;
    write_set(false);
    assert_int_equal(aq_data_set_writer_create(all.path, &all.info, false, &writer, &refusal),
                     AQ_E_EXISTS);
    assert_succeeds(aq_data_set_writer_create(all.path, &all.info, true, &writer, &refusal));
    aq_data_set_writer_destroy(writer); /* not finished: the former one is still there */
    assert_int_equal(read_set(&counts), 0);
    assert_int_equal(counts.blocks, 2);
    write_set(true);
    assert_int_equal(read_set(&counts), 0);
}

TEST_WITH(a_chunk_that_cannot_be_is_not_written, set_up, tear_down)
{
    aq_experience experience;
    aq_data_set_writer *writer;
    fixture_experience(&experience);
    reward_of(experience.chunks[0])[0] = NAN;
    assert_succeeds(aq_data_set_writer_create(all.path, &all.info, false, &writer, &refusal));
    const aq_data_set_block block = {.actor = 1, .view = experience.chunks[0]->view};
    assert_int_equal(aq_data_set_writer_add(writer, &block, &refusal), AQ_E_CORRUPT);
    aq_data_set_writer_destroy(writer);
    experience_fini(&experience);
}

TEST_WITH(without_memory_nothing_is_left_behind, set_up, tear_down)
{
    int rc;
    write_set(false);
    EACH_ALLOCATION_FAILS(rc) {
        rc = read_set(NULL);
    }
    EACH_ALLOCATION_FAILS(rc) {
        aq_data_set_writer *writer = NULL;
        rc = aq_data_set_writer_create(all.path, &all.info, true, &writer, NULL);
        aq_data_set_writer_destroy(writer);
    }
}
