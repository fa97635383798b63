/*
 * The daemon with a folder of segments: what outlives it, and which folders it refuses.
 */
#include <sys/stat.h>

#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/net_stage.h"
#include "tests/unit/replay/replay_kit.h"

static const char *folder;

typedef net_stage folder_stage;

static void folder_stage_setup(folder_stage *stage)
{
    folder = file_folder();
    net_stage_setup(stage);
    stage->options.data_dir = folder;
    stage->settings.config.replay.storage = AQ_STORAGE_SEGMENTS;
}

static void folder_stage_teardown(folder_stage *stage)
{
    net_stage_teardown(stage);
}

TEST_IN(folder_stage, stage, steps_marks_store_and_slot_outlive_the_daemon)
{
    net_stage_live(stage, 1, 3);
    uint64_t store = stage->store;
    assert_int_not_equal(store, 0);
    net_stage_end(stage);
    net_stage_live(stage, 0, 0);
    assert_int_equal(stage->store, store);
    assert_int_equal(stage->slot, NET_STAGE_SLOT);
    assert_int_equal(net_stage_ask_stored(stage), 72);
    assert_int_equal(stage->report->replay->restored, 72);
    assert_int_equal(stage->report->replay->inserted, 72);
    assert_int_equal(stage->report->replay->store, store);
    assert_string_equal(stage->report->run_dir, folder);
    net_stage_send(stage, 3, 24); /* a repeat */
    net_stage_send(stage, 4, 24);
    net_stage_await_acknowledgement(stage, 4);
    assert_int_equal(net_stage_ask_stored(stage), 96);
    assert_int_equal(stage->report->replay->duplicates, 1);
    assert_int_equal(stage->report->members[0]->intake->acknowledged, 4);
    assert_int_equal(stage->report->members[0]->intake->duplicates, 1);
    net_stage_end(stage);
}

enum { DRAWN = 16 };

typedef struct draw {
    int replies;
    uint8_t obs[DRAWN * 2 * sizeof(float)];
} draw;

static void on_draw(const Actorq__V1__SampleReply *reply, void *user)
{
    draw *drawn = user;
    if (reply != NULL && reply->obs.len == sizeof(drawn->obs)) {
        memcpy(drawn->obs, reply->obs.data, sizeof(drawn->obs));
        drawn->replies++;
    }
}

static draw draw_first(net_stage *stage)
{
    Actorq__V1__SampleRequest request = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    aq_rpc_stub sampling = net_stage_stub(stage, &actorq__v1__sampling__descriptor);
    draw drawn = {.replies = 0};
    request.run_id = KIT_RUN_ID;
    request.schema_hash = stage->settings.schema_hash;
    request.batch_rows = DRAWN;
    request.batch_count = 1;
    request.discount = 0.9f;
    request.wait_ms = 5000;
    actorq__v1__sampling__sample(&sampling.base, &request, on_draw, &drawn);
    net_stage_await(stage, &drawn.replies, 1);
    return drawn;
}

/* Slot 0 is one like others. */
TEST_IN(folder_stage, stage, what_is_drawn_is_not_drawn_again_by_the_next_life)
{
    stage->slot_given = 0;
    net_stage_live(stage, 1, 3);
    net_stage_await_acknowledgement(stage, 3);
    const draw before = draw_first(stage);
    net_stage_end(stage);
    net_stage_live(stage, 0, 0);
    assert_int_equal(net_stage_ask_stored(stage), 72);
    const draw after = draw_first(stage);
    assert_int_not_equal(memcmp(before.obs, after.obs, sizeof(before.obs)), 0);
    net_stage_end(stage);
}

TEST_IN(folder_stage, stage, without_a_folder_every_start_is_another_store)
{
    stage->options.data_dir = NULL;
    net_stage_live(stage, 1, 1);
    uint64_t store = stage->store;
    net_stage_end(stage);
    net_stage_live(stage, 0, 0);
    assert_int_not_equal(stage->store, store);
    assert_int_equal(net_stage_ask_stored(stage), 0);
    net_stage_end(stage);
}

TEST_IN(folder_stage, stage, other_settings_keep_the_steps_of_a_folder)
{
    net_stage_live(stage, 1, 5);
    stage->settings.tables[0].capacity = 100;
    stage->forget_once = true;
    stage->joins = 0;
    net_stage_await(stage, &stage->joins, 1);
    net_stage_join(stage);
    assert_int_equal(net_stage_ask_stored(stage), 96);
    assert_int_equal(stage->report->replay->inserted, 120);
    net_stage_await_acknowledgement(stage, 5);
    net_stage_end(stage);
}

TEST_IN(folder_stage, stage, the_folder_of_another_run_is_refused_in_words)
{
    net_stage_live(stage, 1, 1);
    net_stage_end(stage);
    stage->run_id++;
    stage->leaves = 0;
    net_stage_start(stage);
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_not_equal(net_stage_finish(stage), 0);
    assert_says(stage->error.text, folder);
    stage->run_id--; /* and nothing in it was touched */
    net_stage_live(stage, 0, 0);
    assert_int_equal(net_stage_ask_stored(stage), 24);
    net_stage_end(stage);
}

TEST_IN(folder_stage, stage, a_learner_that_comes_back_with_another_run_ends_a_daemon_with_a_folder)
{
    net_stage_live(stage, 1, 1);
    stage->run_id++;
    stage->leaves = 0;
    stage->forget_once = true;
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_equal(net_stage_finish(stage), AQ_E_SCHEMA);
    assert_says(stage->error.text, "holds the steps of run");
}

TEST_IN(folder_stage, stage, a_folder_with_steps_is_not_used_by_a_run_in_memory)
{
    net_stage_live(stage, 1, 1);
    net_stage_end(stage);
    stage->settings.config.replay.storage = AQ_STORAGE_MEMORY;
    stage->leaves = 0;
    net_stage_start(stage);
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_equal(net_stage_finish(stage), AQ_E_EXISTS);
    assert_says(stage->error.text, "replay.storage");
}

TEST_IN(folder_stage, stage, a_folder_that_was_filled_meanwhile_is_not_used_by_a_run_in_memory)
{
    net_stage_live(stage, 1, 1);
    stage->settings.config.replay.storage = AQ_STORAGE_MEMORY;
    stage->leaves = 0;
    stage->forget_once = true;
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_equal(net_stage_finish(stage), AQ_E_EXISTS);
    assert_says(stage->error.text, "replay.storage");
}

TEST_IN(folder_stage, stage, a_folder_without_the_file_that_is_locked_is_used)
{
    net_stage_live(stage, 1, 1);
    net_stage_end(stage);
    assert_int_equal(unlink(file_in(folder, "lock")), 0);
    net_stage_live(stage, 0, 0);
    assert_int_equal(net_stage_ask_stored(stage), 24);
    net_stage_end(stage);
}

TEST_IN(folder_stage, stage, a_run_in_memory_leaves_a_new_folder_alone)
{
    stage->settings.config.replay.storage = AQ_STORAGE_MEMORY;
    net_stage_live(stage, 1, 1);
    net_stage_end(stage);
    assert_int_equal(file_count(folder, ""), 0);
}

TEST_IN(folder_stage, stage, a_folder_in_use_is_refused_before_anybody_hears_of_it)
{
    net_stage_live(stage, 1, 1);
    int joins = stage->joins;
    assert_refused(aq_replay_run(&stage->options, &refusal), AQ_E_EXISTS, folder);
    assert_int_equal(net_stage_ask_stored(stage), 24);
    assert_int_equal(stage->joins, joins);
    net_stage_end(stage);
}

static void on_checkpoint(const Actorq__V1__CheckpointReply *reply, void *user)
{
    net_stage *stage = user;
    assert_non_null(reply);
    assert_string_equal(reply->path, folder);
    stage->replies++;
}

TEST_IN(folder_stage, stage, steps_that_are_compressed_take_fewer_bytes)
{
    uint64_t bytes[2];
    for (size_t i = 0; i < 2; i++) {
        folder = file_folder();
        stage->options.data_dir = folder;
        stage->settings.config.replay.compression = i == 1;
        net_stage_live(stage, 1, 3);
        net_stage_end(stage);
        bytes[i] = file_bytes(file_last(folder, "segment-"))->size;
    }
    assert_in_range(bytes[1], 1, bytes[0] - 1);
}

TEST_IN(folder_stage, stage, checkpoint_writes_a_snapshot)
{
    net_stage_live(stage, 1, 1);
    Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    aq_rpc_stub operations = net_stage_stub(stage, &actorq__v1__operations__descriptor);
    stage->replies = 0;
    actorq__v1__operations__checkpoint(&operations.base, &request, on_checkpoint, stage);
    net_stage_await(stage, &stage->replies, 1);
    (void)net_stage_ask_stored(stage);
    assert_in_range(stage->report->replay->snapshots, 1, 100);
    net_stage_end(stage);
}

static aq_rpc_stub hasty; /* waits for a second at most */

static void on_no_checkpoint(const Actorq__V1__CheckpointReply *reply, void *user)
{
    net_stage *stage = user;
    assert_null(reply);
    assert_says(aq_rpc_stub_status(&hasty)->message,
                "snapshot.aqrs: can't create a temporary file beside it: Is a directory");
    stage->replies++;
}

TEST_IN(folder_stage, stage, checkpoint_tells_why_there_is_no_snapshot)
{
    net_stage_live(stage, 1, 1);
    assert_int_equal(mkdir(file_in(folder, "snapshot.aqrs.tmp"), 0777), 0);
    Actorq__V1__CheckpointRequest request = ACTORQ__V1__CHECKPOINT_REQUEST__INIT;
    aq_rpc_stub_init(&hasty, aq_rpc_client_channel(stage->client),
                     &actorq__v1__operations__descriptor, 1000);
    stage->replies = 0;
    actorq__v1__operations__checkpoint(&hasty.base, &request, on_no_checkpoint, stage);
    net_stage_await(stage, &stage->replies, 1);
    net_stage_end(stage);
}
