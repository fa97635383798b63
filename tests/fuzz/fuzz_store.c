/*
 * The small files of a store: any bytes in their place are refused in words, or read. The first
 * byte of the input says which file: the slot, what the store is of, or the snapshot. The latter
 * two are read as they are, and as the payload of a record whose check sums are right.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_format.h"
#include "replay/disk/segment_snapshot.h"
#include "replay/disk/slot_file.h"
#include "replay/shard/replay_core.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"
#include "tests/unit/replay/replay_kit.h"

enum { WHICH_SLOT, WHICH_IDENTITY, WHICH_SNAPSHOT, WHICH_COUNT };
enum { BYTES_MAX = 1 << 16, STORE = KIT_STORE, SLOT_MAX = 65535 };

/* One record in a file, both of the right kind. */
static size_t make_file(enum aq_store_file_kind file_kind, enum aq_record_kind kind,
                        const uint8_t *payload, size_t size, uint8_t *out)
{
    const aq_file_header header = {.kind = file_kind, .store = STORE};
    aq_file_front_encode(&header, kind, 1, payload, (uint32_t)size, out);
    if (size > 0) {
        memcpy(out + AQ_FILE_FRONT_BYTES, payload, size);
    }
    return AQ_FILE_FRONT_BYTES + size;
}

static void read_slot(const uint8_t *data, size_t size)
{
    (void)fuzz_place_write("slot", data, size);
    AQ_ASSERT(aq_slot_file_read(fuzz_place()) <= SLOT_MAX);
}

static void identify(const uint8_t *data, size_t size)
{
    aq_store_identity identity;
    aq_error error = {0};
    (void)fuzz_place_write("store.aqrs", data, size);
    int rc = aq_segment_folder_identify(fuzz_place(), &identity, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT(memchr(identity.task, '\0', sizeof(identity.task)) != NULL);
    }
}

/* ---- the snapshot --------------------------------------------------------------------------- */

/* Five steps are there when the snapshot is read over them. */
static void restore(const uint8_t *bytes, size_t size)
{
    aq_run_settings settings = kit_settings();
    aq_shard_run run = kit_run(&settings);
    aq_experience message = kit_message(1, 1, 0, 1, 5);
    aq_replay_core *core;
    aq_error error = {0};
    must(aq_replay_core_create(&run, AQ_NS_PER_S, &core, NULL));
    aq_arrival *arrival = kit_arrival(&message);
    must(aq_replay_core_restore_record(core, AQ_NS_PER_S, 1, 1, false, arrival));
    int rc = aq_replay_core_restore_snapshot(core, bytes, size, &error);
    AQ_ASSERT(error.code == rc);
    must(aq_replay_core_attach(core, AQ_NS_PER_S, NULL, 1, 0));
    aq_replay_core_share(core, AQ_NS_PER_S);
    aq_replay_core_destroy(core);
}

static void read_snapshot(const uint8_t *data, size_t size)
{
    aq_segment_folder folder = {.identity = {.store = STORE}};
    aq_buffer file = {0};
    char path[PATH_MAX];
    const uint8_t *bytes;
    size_t bytes_size;
    aq_error error = {0};
    (void)snprintf(folder.path, sizeof(folder.path), "%s", fuzz_place());
    const char *name = strrchr(aq_snapshot_path(folder.path, path), '/') + 1;
    (void)fuzz_place_write(name, data, size);
    uint64_t durable = 0;
    int rc = aq_segment_snapshot_read(&folder, &file, &bytes, &bytes_size, &durable, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        restore(bytes, bytes_size);
        aq_buffer_fini(&file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t made[BYTES_MAX];
    if (size == 0 || size > BYTES_MAX / 2) {
        return 0;
    }
    const uint8_t *content = data + 1;
    size--;
    switch (fuzz_choice(data[0], WHICH_COUNT)) {
    case WHICH_SLOT:
        read_slot(content, size);
        break;
    case WHICH_IDENTITY:
        identify(content, size);
        identify(made, make_file(AQ_STORE_FILE_IDENTITY, AQ_RECORD_IDENTITY, content, size, made));
        break;
    default:
        read_snapshot(content, size);
        read_snapshot(made,
                      make_file(AQ_STORE_FILE_SNAPSHOT, AQ_RECORD_SNAPSHOT, content, size, made));
        break;
    }
    return 0;
}
