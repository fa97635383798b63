/*
 * A data set is brought to a shard that runs.
 */
#include "common/data_set/data_set_writer.h"
#include "replay/data/data_live_net.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/net_stage.h"
#include "tests/unit/replay/replay_kit.h"

enum { EPISODES = 40, STEPS = EPISODES * KIT_CHUNK_LENGTH };

/* Before the end of a data set, which has this many bytes, its last block ends. */
enum { END_BYTES = 64 };

static const char *set;

/* Of one sender, each episode being a chunk. */
static void write_set(const aq_run_settings *settings)
{
    const aq_layout layout = kit_layout();
    aq_data_set_info info = {.schema = settings->schema};
    aq_data_set_writer *writer;
    (void)snprintf(info.task, sizeof(info.task), "%s", settings->task);
    assert_succeeds(aq_data_set_writer_create(set, &info, false, &writer, &refusal));
    for (uint64_t episode = 0; episode < EPISODES; episode++) {
        aq_chunk *chunk = kit_chunk(&layout, 100 * episode, KIT_CHUNK_LENGTH, 0, KIT_TERMINATED);
        chunk->view.episode = episode;
        const aq_data_set_block block = {.actor = 1, .incarnation = 50, .view = chunk->view};
        assert_succeeds(aq_data_set_writer_add(writer, &block, &refusal));
        aq_chunk_unref(chunk);
    }
    assert_succeeds(aq_data_set_writer_finish(writer, &refusal));
    aq_data_set_writer_destroy(writer);
}

typedef net_stage live_stage;

static void live_stage_setup(live_stage *stage)
{
    set = file_in(file_folder(), "steps.aqds");
    net_stage_setup(stage);
    stage->options.data_dir = file_folder();
    stage->settings.config.replay.storage = AQ_STORAGE_SEGMENTS;
    stage->settings.tables[0].samples_per_insert = 0.0; /* nobody samples */
    write_set(&stage->settings);
}

static void live_stage_teardown(live_stage *stage)
{
    net_stage_teardown(stage);
}

static const aq_data_progress unwatched = {0};

/* To the stage's shard. */
static int import(const live_stage *stage, const aq_data_progress *progress,
                  aq_data_imported *ret_imported)
{
    aq_data_live *live;
    aq_data_set_reader *reader;
    assert_succeeds(aq_data_live_open(stage->rpc_url, &live, &refusal));
    assert_succeeds(aq_data_set_reader_open(set, &reader, &refusal));
    int rc = aq_data_live_import(live, reader, progress, ret_imported, &refusal);
    aq_data_set_reader_close(reader);
    aq_data_live_close(live);
    return rc;
}

/* Another life of the shard knows what it has, and not what was granted for it. */
TEST_IN(live_stage, stage, an_import_that_was_interrupted_goes_on_in_another_life_of_the_shard)
{
    aq_data_imported imported;
    net_stage_live(stage, 0, 0);
    file_flip(set, -END_BYTES - 1);
    assert_refused(import(stage, &unwatched, &imported), AQ_E_CORRUPT, "damaged");
    file_flip(set, -END_BYTES - 1);
    net_stage_end(stage);
    net_stage_live(stage, 0, 0);
    assert_succeeds(import(stage, &unwatched, &imported));
    assert_true(imported.known > STEPS / 2);
    assert_true(imported.transitions > 0);
    assert_int_equal(imported.known + imported.transitions, STEPS);
    assert_int_equal(net_stage_ask_stored(stage), STEPS);
    net_stage_end(stage);
}

typedef struct restart {
    live_stage *stage;
    bool is_over;
} restart;

/* In the middle of an import; of what the shard had taken, its last message is not in the file. */
static int start_again(void *user, double done, aq_error *error)
{
    restart *again = user;
    (void)error;
    if (done < 0.5 || again->is_over) {
        return 0;
    }
    again->is_over = true;
    net_stage_end(again->stage);
    const char *segment = file_last(again->stage->options.data_dir, "segment-");
    assert_int_equal(truncate(segment, (off_t)file_bytes(segment)->size - 100), 0);
    net_stage_live(again->stage, 0, 0);
    return 0;
}

/* The reader is beyond it. */
TEST_IN(live_stage, stage, what_a_shard_lost_under_an_import_is_said_and_comes_with_the_next)
{
    restart again = {.stage = stage};
    const aq_data_progress watched = {start_again, &again};
    char listen_url[AQ_URL_MAX];
    aq_data_imported imported;
    (void)snprintf(listen_url, sizeof(listen_url), "ipc://%s.rpc", set);
    stage->options.listen_url = listen_url; /* of both lives */
    net_stage_live(stage, 0, 0);
    assert_refused(import(stage, &watched, &imported), AQ_E_PEER,
                   "was started again meanwhile, and lost what it had not acknowledged");
    assert_succeeds(import(stage, &unwatched, &imported));
    assert_true(imported.known > 0);
    assert_true(imported.transitions > 0);
    assert_int_equal(imported.known + imported.transitions, STEPS);
    assert_int_equal(net_stage_ask_stored(stage), STEPS);
    net_stage_end(stage);
}
