/*
 * A data set becomes a store's folder, and the folder's steps are those of the data set.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/data_set/data_set_writer.h"
#include "common/experience/column_catalog.h"
#include "common/sys/file.h"
#include "replay/data/data_audit.h"
#include "replay/data/data_import.h"
#include "replay/data/data_source.h"
#include "replay/disk/segment_log.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

enum { LANES = 3, EPISODES = 4, RUN_ID = 99 };

typedef struct import_stage {
    const char *folder;
    const char *set, *store;
    bool standard_columns;
    bool has_gaps; /* lanes but the first have no second parts */
    uint64_t least;
    aq_data_set_info info;
} import_stage;

/* The folder whose syncs are counted once `awaited` is there; NULL: none. */
static const char *watched;
static const char *awaited;
static int syncs;

int __real_fsync(int file); /* NOLINT: the linker's names */
int __wrap_fsync(int file); /* NOLINT */

int __wrap_fsync(int file) /* NOLINT */
{
    struct stat synced, wanted;
    if (watched != NULL && fstat(file, &synced) == 0 && stat(watched, &wanted) == 0 &&
        synced.st_ino == wanted.st_ino && aq_path_exists(awaited)) {
        syncs++;
    }
    return __real_fsync(file);
}

/* Lanes of two actors, interleaved; an episode is a chunk of 8 and one of 7 that repeats 2. */
static void write_set(import_stage *stage)
{
    aq_layout layout = kit_layout();
    aq_data_set_writer *writer;
    assert_succeeds(
        aq_layout_record(&layout, stage->info.recorded, stage->info.recorded_count, &refusal));
    assert_succeeds(aq_data_set_writer_create(stage->set, &stage->info, false, &writer, &refusal));
    for (uint64_t episode = 0; episode < EPISODES; episode++) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const uint32_t parts = stage->has_gaps && lane > 0 ? 1 : 2;
            for (uint32_t part = 0; part < parts; part++) {
                const uint64_t from = 100 * (uint64_t)lane + 1000 * episode + (part ? 6 : 0);
                aq_chunk *chunk = kit_chunk(&layout, from, part ? 7 : 8, part ? 2 : 0,
                                            part ? KIT_TERMINATED : KIT_GOES_ON);
                chunk->view.first = part ? 6 : 0;
                chunk->view.lane = lane;
                chunk->view.episode = episode;
                const aq_data_set_block block = {
                    .actor = 1 + lane % 2, .incarnation = 50 + lane % 2, .view = chunk->view};
                assert_succeeds(aq_data_set_writer_add(writer, &block, &refusal));
                aq_chunk_unref(chunk);
            }
        }
    }
    assert_succeeds(aq_data_set_writer_finish(writer, &refusal));
    aq_data_set_writer_destroy(writer);
}

static void import_stage_setup(import_stage *stage)
{
    const aq_run_settings settings = kit_settings();
    stage->folder = file_folder();
    stage->set = file_in(stage->folder, "steps.aqds");
    stage->store = file_in(stage->folder, "store");
    (void)snprintf(stage->info.task, sizeof(stage->info.task), "%s", settings.task);
    stage->info.schema = settings.schema;
    write_set(stage);
}

static void import_stage_teardown(import_stage *stage)
{
    (void)aq_dir_remove(stage->store);
    (void)unlink(stage->set);
    assert_int_equal(rmdir(stage->folder), 0); /* nothing half-made is left */
}

static int import(import_stage *stage, uint32_t n_step, uint32_t length, uint64_t message_bytes)
{
    aq_data_set_reader *reader;
    aq_data_imported imported;
    const aq_data_import how = {
        .folder = stage->store,
        .run_id = RUN_ID,
        .standard_columns = stage->standard_columns,
        .n_step = n_step,
        .chunk_length = length,
        .message_bytes = message_bytes,
        .segment_bytes = 1024,
        .least = stage->least,
    };
    assert_succeeds(aq_data_set_reader_open(stage->set, &reader, &refusal));
    int rc = aq_data_import_folder(reader, &how, &imported, &refusal);
    aq_data_set_reader_close(reader);
    if (rc == 0 && !stage->has_gaps) {
        assert_int_equal(imported.transitions, 13 * LANES * EPISODES);
        assert_int_equal(imported.left_out, 0);
    }
    return rc;
}

static int on_block(void *user, const aq_data_set_block *block, aq_error *error)
{
    (void)error;
    for (uint32_t row = 0; row < block->view.length; row++) {
        const uint64_t step =
            100 * (uint64_t)block->view.lane + 1000 * block->view.episode + block->view.first + row;
        assert_true(aq_chunk_view_reward(&block->view, row) == (float)step);
    }
    return aq_data_audit_block(user, block);
}

static int on_message(void *user, uint64_t actor, uint64_t incarnation, uint64_t seq,
                      aq_error *error)
{
    (void)error;
    return aq_data_audit_message(user, actor, incarnation, seq);
}

static void no_damage(void *user, const char *what)
{
    (void)user;
    fail_msg("%s", what);
}

static aq_data_summary read_store(import_stage *stage)
{
    aq_segment_folder folder;
    aq_data_audit *audit;
    assert_succeeds(aq_segment_folder_open_any(stage->store, &folder, &refusal));
    assert_true(folder.identity.run_id == RUN_ID);
    assert_int_equal(aq_data_audit_create(&audit), 0);
    const aq_data_sink sink = {
        .user = audit, .block = on_block, .message = on_message, .damage = no_damage};
    assert_succeeds(aq_data_source_read(&folder, &stage->info, &sink, &refusal));
    const aq_data_summary summary = aq_data_audit_summary(audit);
    aq_data_audit_destroy(audit);
    aq_segment_folder_close(&folder);
    return summary;
}

TEST_IN(import_stage, stage, a_store_has_the_steps_of_its_data_set)
{
    static const uint32_t cuts[][2] = {{3, 8}, {1, 1}, {5, 64}, {2, 4}};
    EACH_ROW(i, cuts) {
        assert_int_equal(import(stage, cuts[i][0], cuts[i][1], i % 2 ? 4096 : 512), 0);
        const aq_data_summary summary = read_store(stage);
        assert_int_equal(summary.transitions, 13 * LANES * EPISODES);
        assert_int_equal(summary.whole_episodes, LANES * EPISODES);
        assert_int_equal(summary.lanes, LANES);
        assert_int_equal(summary.gaps + summary.doubles + summary.seq_holes + summary.seq_doubles,
                         0);
        (void)aq_dir_remove(stage->store);
    }
}

TEST_IN(import_stage, stage, a_chunk_that_takes_more_than_a_message_is_one)
{
    assert_int_equal(import(stage, 3, 8, 64), 0);
    assert_int_equal(read_store(stage).transitions, 13 * LANES * EPISODES);
}

TEST_IN(import_stage, stage, a_message_that_is_there_twice_is_told_and_its_steps_count_once)
{
    const aq_segment_log_config config = {.folder = stage->store,
                                          .run_id = RUN_ID,
                                          .schema_hash = kit_layout().hash,
                                          .task = stage->info.task,
                                          .store = KIT_STORE,
                                          .segment_bytes = 1 << 20,
                                          .backlog_bytes = 1 << 20};
    const aq_replay_log_recovery nothing = {0};
    const aq_log_head head = {0};
    aq_segment_log_found found;
    aq_replay_log *log;
    uint64_t segment;
    aq_experience message = kit_message(1, 1, 0, 0, 8);
    message.run_id = RUN_ID;
    aq_arrival *arrival = kit_arrival(&message);
    assert_succeeds(aq_segment_log_open(&config, &nothing, &found, &log, &refusal));
    assert_int_equal(log->class->begin(log, &head, &segment), 0);
    for (uint64_t number = 1; number <= 2; number++) {
        assert_int_equal(log->class->append(log, number, arrival->frame, &segment), 0);
    }
    log->class->close(log, NULL);
    aq_arrival_unref(arrival);
    const aq_data_summary summary = read_store(stage);
    assert_int_equal(summary.seq_doubles, 1);
    assert_int_equal(summary.transitions, 8);
    assert_int_equal(summary.doubles, 0);
}

/* As a run has it that records nothing. */
TEST_IN(import_stage, stage, a_store_may_have_the_standard_columns_alone)
{
    aq_segment_folder folder;
    assert_int_equal(unlink(stage->set), 0);
    assert_succeeds(aq_column_find("log_prob", &stage->info.schema, &stage->info.recorded[0]));
    stage->info.recorded_count = 1;
    write_set(stage);
    stage->standard_columns = true;
    assert_int_equal(import(stage, 3, 8, 4096), 0);
    assert_succeeds(aq_segment_folder_open_any(stage->store, &folder, &refusal));
    assert_true(folder.identity.schema_hash == kit_layout().hash);
    aq_segment_folder_close(&folder);
    stage->info.recorded_count = 0;
    assert_int_equal(read_store(stage).transitions, 13 * LANES * EPISODES);
}

TEST_IN(import_stage, stage, slashes_after_the_folders_name_mean_nothing)
{
    const char *name = stage->store;
    stage->store = file_in(stage->folder, "store//");
    assert_int_equal(import(stage, 3, 8, 4096), 0);
    stage->store = name;
    assert_int_equal(read_store(stage).transitions, 13 * LANES * EPISODES);
}

TEST_IN(import_stage, stage, the_name_of_a_store_is_on_the_disk_when_it_is_made)
{
    awaited = stage->store;
    watched = stage->folder;
    syncs = 0;
    const int rc = import(stage, 3, 8, 4096);
    watched = NULL;
    assert_int_equal(rc, 0);
    assert_int_equal(syncs, 1);
}

TEST_IN(import_stage, stage, a_folder_that_is_there_is_left_alone)
{
    assert_int_equal(import(stage, 3, 8, 4096), 0);
    assert_int_equal(import(stage, 3, 8, 4096), AQ_E_EXISTS);
    assert_says(refusal.text, "exists already");
    assert_int_equal(read_store(stage).transitions, 13 * LANES * EPISODES);
}

TEST_IN(import_stage, stage, a_data_set_that_is_cut_short_makes_no_store)
{
    assert_int_equal(truncate(stage->set, (off_t)file_bytes(stage->set)->size - 200), 0);
    assert_int_equal(import(stage, 3, 8, 4096), AQ_E_CORRUPT);
    assert_false(aq_path_exists(stage->store));
}

/* As of one of several shards, whose lanes have every other chunk elsewhere. */
TEST_IN(import_stage, stage, fewer_steps_that_make_items_than_are_needed_make_no_store)
{
    assert_int_equal(unlink(stage->set), 0);
    stage->has_gaps = true;
    write_set(stage);
    stage->least = 13 * EPISODES + 1;
    assert_refused(import(stage, 10, 64, 4096), AQ_E_INVALID,
                   "only 52 steps make items of 10 steps, and 53 are needed; 64 are left out");
    assert_false(aq_path_exists(stage->store));
    stage->least = 13 * EPISODES;
    assert_int_equal(import(stage, 10, 64, 4096), 0);
    assert_int_equal(read_store(stage).transitions, 13 * EPISODES);
}

/* All waits in memory still when the last step is packed. */
TEST_IN(import_stage, stage, a_disk_that_takes_no_more_makes_no_store)
{
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit little = {.rlim_cur = 700, .rlim_max = before.rlim_max};
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const int rc = import(stage, 3, 8, 4096);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, AQ_E_IO);
    assert_says(refusal.text, "segment-");
    assert_false(aq_path_exists(stage->store));
}

TEST_IN(import_stage, stage, without_memory_no_store_is_made)
{
    for (uint64_t nth = 1;; nth++) {
        aq_data_set_reader *reader;
        aq_data_imported imported;
        const aq_data_import how = {.folder = stage->store,
                                    .run_id = RUN_ID,
                                    .n_step = 3,
                                    .chunk_length = 8,
                                    .message_bytes = 4096,
                                    .segment_bytes = 1 << 20};
        assert_succeeds(aq_data_set_reader_open(stage->set, &reader, &refusal));
        aq_memory_fail_at(nth, 0);
        int rc = aq_data_import_folder(reader, &how, &imported, &refusal);
        aq_memory_fail_at(0, 0);
        aq_data_set_reader_close(reader);
        if (rc == 0) {
            break;
        }
        assert_true(rc == AQ_E_NOMEM || rc == AQ_E_IO); /* the log says it its way */
        assert_false(aq_path_exists(stage->store));
        assert_true(nth < 10000);
    }
    assert_int_equal(read_store(stage).transitions, 13 * LANES * EPISODES);
}
