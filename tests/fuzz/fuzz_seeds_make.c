/*
 * Makes the seeds that are messages and files of ours; to be run again when a message has changed.
 * Texts that were written by hand, and what the fuzzers found, lie beside them.
 *
 *   fuzz_seeds_make tests/fuzz/seeds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/data_set/data_set_writer.h"
#include "common/sys/file.h"
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_policy.h"
#include "learner/metrics/energy_file.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_format.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_seed.h"
#include "tests/support/must.h"
#include "tests/unit/common/wire/policy_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"
#include "tests/unit/replay/fake_log.h"
#include "tests/unit/replay/replay_kit.h"

enum { POLICIES = 6, SEED = 11 };

/* ---- frames --------------------------------------------------------------------------------- */

static void make_experience(void)
{
    aq_layout layout;
    aq_experience experience;
    aq_buffer frame;
    fixture_layout(&layout);
    fixture_experience(&experience);
    aq_buffer_init(&frame, FUZZ_SEED_BYTES_MAX);
    must(aq_wire_experience_pack(&experience, &layout, &frame));
    fuzz_seed_write("frame_experience", "episode", &frame);
    experience_fini(&experience);
    aq_buffer_fini(&frame);
}

/* Networks of all kinds of layers, in all formats. */
static void make_policies(void)
{
    aq_rng rng;
    aq_rng_init(&rng, SEED, 0);
    for (int i = 0; i < POLICIES; i++) {
        char name[16];
        aq_net_spec spec;
        aq_buffer frame;
        aq_snapshot *snapshot;
        do {
            fixture_random_network(&rng, &spec);
            snapshot = fixture_random_snapshot(&rng, &spec);
            aq_buffer_init(&frame, FUZZ_SEED_BYTES_MAX);
            int rc = i % 2 == 0 ? aq_wire_policy_pack(snapshot, &frame)
                                : aq_wire_policy_pack_compact(snapshot, &frame);
            AQ_ASSERT(rc == 0 || rc == AQ_E_TOO_BIG);
            aq_snapshot_unref(snapshot);
            if (frame.size == 0 || frame.size > 8192) { /* another one */
                aq_buffer_fini(&frame);
            }
        } while (frame.data == NULL);
        (void)snprintf(name, sizeof(name), "random_%d", i);
        fuzz_seed_write("policy", name, &frame);
        aq_buffer_fini(&frame);
    }
}

static void make_delta(void)
{
    static const double shares[] = {0.0, 0.05, 0.5};
    aq_rng rng;
    aq_rng_init(&rng, 1, 1);
    for (int i = 0; i < 3; i++) {
        char name[16];
        aq_snapshot *base = fixture_snapshot();
        aq_snapshot *next = policy_trained(&rng, base, shares[i]);
        aq_buffer frame;
        aq_buffer_init(&frame, FUZZ_SEED_BYTES_MAX);
        must(aq_wire_delta_pack(base, next, &frame));
        (void)snprintf(name, sizeof(name), "changes_%d", i);
        fuzz_seed_write("delta", name, &frame);
        aq_buffer_fini(&frame);
        aq_snapshot_unref(base);
        aq_snapshot_unref(next);
    }
}

static void make_small_frames(void)
{
    aq_checkpoint checkpoint;
    aq_buffer frame;
    aq_snapshot *best = fixture_snapshot();
    aq_buffer_init(&frame, FUZZ_SEED_BYTES_MAX);
    fixture_checkpoint(&checkpoint);
    checkpoint.best_policy = best;
    must(aq_wire_checkpoint_pack(&checkpoint, &frame));
    fuzz_seed_write("checkpoint", "dqn", &frame);
    aq_snapshot_unref(best);
    aq_buffer_fini(&frame);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Whole, and from the first block on: the target puts a header of its own before that. */
static void make_data_set(void)
{
    static const float low[1] = {-1.0f}, high[1] = {1.0f};
    aq_data_set_info info = {.task = "a:b", .counts = {.n_step = 1}};
    aq_layout layout;
    aq_data_set_writer *writer;
    aq_chunk *chunk;
    aq_buffer file, header;
    aq_space_init_box(&info.schema.obs, 1, low, high);
    aq_space_init_discrete(&info.schema.action, 3);
    info.schema_hash = aq_schema_hash(&info.schema);
    must(aq_layout_init(&info.schema, 1, 8, &layout, NULL));
    must(aq_chunk_create(&layout, 5, &chunk));
    chunk->view.length = 5;
    chunk->view.terminated = true;
    must(aq_data_set_writer_create(fuzz_place_of("set.aqds"), &info, true, &writer, NULL));
    const aq_data_set_block block = {.actor = 7, .incarnation = 9, .view = chunk->view};
    must(aq_data_set_writer_add(writer, &block, NULL));
    must(aq_data_set_writer_finish(writer, NULL));
    aq_data_set_writer_destroy(writer);
    aq_buffer_init(&file, FUZZ_SEED_BYTES_MAX);
    aq_buffer_init(&header, FUZZ_SEED_BYTES_MAX);
    must(aq_file_read(fuzz_place_of("set.aqds"), &file, NULL));
    fuzz_seed_write("dataset", "whole", &file);
    must(aq_data_set_header_encode(&info, 0, &header));
    const aq_buffer blocks = {.data = file.data + header.size, .size = file.size - header.size};
    fuzz_seed_write("dataset", "blocks", &blocks);
    aq_buffer_fini(&file);
    aq_buffer_fini(&header);
    aq_chunk_unref(chunk);
}

/* A head, two frames and a drop, in the form of fuzz_segment.c. */
static void make_segment(void)
{
    static const aq_log_mark marks[] = {{.actor = 1, .incarnation = 2, .acknowledged = 3}};
    static const uint64_t live[] = {1};
    const aq_segment_head head = {
        .log = {.inserted = 5, .mark_count = 1, .marks = marks}, .live_count = 1, .live = live};
    const uint8_t *const frame = (const uint8_t *)"a frame of no kind";
    const size_t frame_size = strlen((const char *)frame);
    aq_buffer payload, seed;
    aq_buffer_init(&payload, FUZZ_SEED_BYTES_MAX);
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    must(aq_segment_head_encode(&head, &payload));
    fuzz_seed_put(&seed, (uint8_t[]){0x10 | AQ_RECORD_HEAD, 0, (uint8_t)payload.size, 0}, 4);
    fuzz_seed_put(&seed, payload.data, payload.size);
    for (int i = 0; i < 2; i++) {
        fuzz_seed_put(&seed, (uint8_t[]){0x10 | AQ_RECORD_FRAME, 0, (uint8_t)frame_size, 0}, 4);
        fuzz_seed_put(&seed, frame, frame_size);
    }
    fuzz_seed_put(&seed, (uint8_t[]){0x10 | AQ_RECORD_DROP, 0, 0, 0}, 4);
    fuzz_seed_write("segment", "records", &seed);
    aq_buffer_fini(&payload);
    aq_buffer_fini(&seed);
}

/* What a shard with five steps saves of them. */
static void make_snapshot(void)
{
    static fake_log fake;
    aq_run_settings settings = kit_settings();
    aq_shard_run run = kit_run(&settings);
    aq_experience message = kit_message(1, 1, 0, 1, 5);
    aq_replay_core *core;
    aq_buffer seed;
    must(aq_replay_core_create(&run, 1, &core, NULL));
    fake_log_init(&fake);
    must(aq_replay_core_restore_record(core, 1, 1, 1, false, kit_arrival(&message)));
    must(aq_replay_core_attach(core, 1, &fake.log, 1, FUZZ_SEED_BYTES_MAX));
    aq_replay_core_save(core);
    AQ_ASSERT(fake.snapshot != NULL);
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    fuzz_seed_put(&seed, "2", 1);
    fuzz_seed_put(&seed, fake.snapshot->bytes, fake.snapshot->size);
    fuzz_seed_write("store", "snapshot", &seed);
    aq_buffer_fini(&seed);
    aq_replay_core_destroy(core);
    fake_log_fini(&fake);
}

static void make_identity(void)
{
    const aq_store_identity identity = {.store = 42, .run_id = 1, .task = "gym:CartPole-v1"};
    aq_segment_folder folder;
    aq_buffer seed;
    must(aq_segment_folder_open(fuzz_place(), &identity, &folder, NULL));
    aq_segment_folder_close(&folder);
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    fuzz_seed_put(&seed, "1", 1);
    aq_buffer file;
    aq_buffer_init(&file, FUZZ_SEED_BYTES_MAX);
    must(aq_file_read(fuzz_place_of("store.aqrs"), &file, NULL));
    fuzz_seed_put(&seed, file.data, file.size);
    fuzz_seed_write("store", "identity", &seed);
    aq_buffer_fini(&file);
    aq_buffer_fini(&seed);
}

/* Two processes of one machine; the learner reads the file, and so does the command line. */
static void make_energy(void)
{
    const aq_energy_carbon carbon = aq_energy_carbon_of("DEU", 0, 1.5);
    const aq_energy_reading reading = {.machine = 5,
                                       .processor = "some processor",
                                       .cpus = 2,
                                       .source = "rapl",
                                       .wall_s = 3,
                                       .cpu_s = 1,
                                       .measured_j = 2,
                                       .machine_j = 10,
                                       .dram_j = 1,
                                       .idle_j = 4};
    aq_energy_ledger ledger;
    aq_buffer seed;
    aq_energy_ledger_init(&ledger, 65);
    aq_energy_ledger_told(&ledger, 1, 1000, AQ_ROLE_ACTOR, &reading);
    aq_energy_ledger_told(&ledger, 1, 2000, AQ_ROLE_REPLAY, &reading);
    char *text = aq_energy_file_text(&ledger, &carbon, 3);
    AQ_ASSERT(text != NULL);
    aq_buffer_init(&seed, FUZZ_SEED_BYTES_MAX);
    fuzz_seed_put(&seed, "1", 1);
    fuzz_seed_put(&seed, text, strlen(text));
    fuzz_seed_write("run_files", "energy", &seed);
    seed.data[0] = '3';
    fuzz_seed_write("cli_files", "energy", &seed);
    aq_buffer_fini(&seed);
    aq_energy_file_text_free(text);
    aq_energy_ledger_fini(&ledger);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s tests/fuzz/seeds\n", argv[0]);
        return EXIT_FAILURE;
    }
    fuzz_seed_at(argv[1]);
    make_experience();
    make_policies();
    make_delta();
    make_small_frames();
    make_data_set();
    make_segment();
    make_identity();
    make_snapshot();
    make_energy();
    fuzz_seeds_make_calls();
    return EXIT_SUCCESS;
}
