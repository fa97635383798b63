/*
 * What the tests of the segment log share. See the header.
 */
#include <sys/stat.h>

#include "common/base/crc32c.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

enum { WAIT_S = 120 };

/* ---- harvest -------------------------------------------------------------------------------- */

static int take_head(void *user, uint64_t segment, const aq_log_head *head, aq_error *error)
{
    segment_harvest *harvest = user;
    (void)error;
    harvest->heads++;
    harvest->head_segment = segment;
    harvest->head = *head;
    harvest->head.marks = harvest->marks;
    for (uint64_t i = 0; i < head->mark_count && i < SEGMENT_KIT_MARKS_MAX; i++) {
        harvest->marks[i] = head->marks[i];
    }
    return 0;
}

static void *grown(void *rows, size_t count, size_t size, size_t capacity)
{
    void *more = aq_alloc(capacity, size);
    assert_non_null(more);
    if (count > 0) {
        memcpy(more, rows, count * size);
    }
    aq_free(rows);
    return more;
}

static int take_record(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                       aq_error *error)
{
    segment_harvest *harvest = user;
    (void)mapped;
    if (number == harvest->refuse_number) {
        return aq_fail(error, AQ_E_CORRUPT, "of no use to anybody");
    }
    if (number == harvest->fail_number) {
        return aq_fail(error, AQ_E_SCHEMA, "this ends it");
    }
    if (harvest->count == harvest->capacity) {
        const size_t capacity = harvest->capacity == 0 ? 64 : 2 * harvest->capacity;
        harvest->numbers = grown(harvest->numbers, harvest->count, sizeof(uint64_t), capacity);
        harvest->segments = grown(harvest->segments, harvest->count, sizeof(uint64_t), capacity);
        harvest->frames = grown(harvest->frames, harvest->count, sizeof(aq_lease *), capacity);
        harvest->capacity = capacity;
    }
    harvest->numbers[harvest->count] = number;
    harvest->segments[harvest->count] = segment;
    harvest->frames[harvest->count] = harvest->keeps_frames ? aq_lease_ref(frame) : NULL;
    harvest->count++;
    return 0;
}

static int take_snapshot(void *user, const void *bytes, size_t size, aq_error *error)
{
    segment_harvest *harvest = user;
    (void)error;
    assert_false(harvest->has_snapshot);
    harvest->has_snapshot = true;
    harvest->snapshot_size = size;
    harvest->snapshot_crc = aq_crc32c(0, bytes, size);
    return 0;
}

static void take_damage(void *user, const char *what)
{
    segment_harvest *harvest = user;
    if (harvest->damages < SEGMENT_KIT_DAMAGES_MAX) {
        snprintf(harvest->damage[harvest->damages], PATH_MAX, "%s", what);
    }
    harvest->damages++;
}

aq_replay_log_recovery segment_harvest_into(segment_harvest *harvest)
{
    return (aq_replay_log_recovery){
        .user = harvest,
        .head = take_head,
        .record = take_record,
        .snapshot = take_snapshot,
        .damage = take_damage,
    };
}

void segment_harvest_fini(segment_harvest *harvest)
{
    for (size_t i = 0; i < harvest->count; i++) {
        aq_lease_unref(harvest->frames[i]);
    }
    aq_free(harvest->frames);
    aq_free(harvest->numbers);
    aq_free(harvest->segments);
    memset(harvest, 0, sizeof(*harvest));
}

bool segment_harvest_has(const segment_harvest *harvest, uint64_t number)
{
    for (size_t i = 0; i < harvest->count; i++) {
        if (harvest->numbers[i] == number) {
            aq_lease *expected = segment_kit_frame(number, harvest->frames[i]->size);
            const bool same =
                memcmp(expected->bytes, harvest->frames[i]->bytes, expected->size) == 0;
            aq_lease_unref(expected);
            return same;
        }
    }
    return false;
}

void segment_harvest_assert_range(const segment_harvest *harvest, uint64_t first, uint64_t last)
{
    assert_int_equal(harvest->count, last + 1 - first);
    for (uint64_t number = first; number <= last; number++) {
        assert_true(segment_harvest_has(harvest, number));
    }
}

void segment_harvest_assert_recovered(const segment_harvest *harvest, uint64_t last)
{
    segment_harvest_assert_range(harvest, 1, last);
    assert_int_equal(harvest->damages, 0);
}

bool segment_harvest_says(const segment_harvest *harvest, const char *text)
{
    for (size_t i = 0; i < harvest->damages && i < SEGMENT_KIT_DAMAGES_MAX; i++) {
        if (strstr(harvest->damage[i], text) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- kit ------------------------------------------------------------------------------------ */

static void on_news(void *user)
{
    segment_kit *kit = user;
    pthread_mutex_lock(&kit->mutex);
    kit->wakes++;
    pthread_cond_broadcast(&kit->news);
    pthread_mutex_unlock(&kit->mutex);
}

void segment_kit_setup(segment_kit *kit)
{
    kit->folder = file_in(file_folder(), "store");
    pthread_mutex_init(&kit->mutex, NULL);
    pthread_cond_init(&kit->news, NULL);
    kit->frame_bytes = 100;
    kit->harvest.keeps_frames = true;
    kit->config = (aq_segment_log_config){
        .folder = kit->folder,
        .run_id = 7,
        .schema_hash = 11,
        .task = "cartpole",
        .store = SEGMENT_KIT_STORE,
        .segment_bytes = 1024,
        .backlog_bytes = 8 << 20,
        .fsync_ms = 1000,
        .wake = on_news,
        .user = kit,
    };
}

void segment_kit_teardown(segment_kit *kit)
{
    segment_kit_close(kit);
    segment_harvest_fini(&kit->harvest);
    pthread_cond_destroy(&kit->news);
    pthread_mutex_destroy(&kit->mutex);
}

int segment_kit_try_open(segment_kit *kit, segment_harvest *harvest, aq_error *error)
{
    segment_harvest unwanted = {0};
    const aq_replay_log_recovery into = segment_harvest_into(harvest != NULL ? harvest : &unwanted);
    assert_null(kit->log);
    const int rc = aq_segment_log_open(&kit->config, &into, &kit->found, &kit->log, error);
    kit->last_number = kit->found.last_number;
    segment_harvest_fini(&unwanted);
    return rc;
}

void segment_kit_open(segment_kit *kit, segment_harvest *harvest)
{
    assert_succeeds(segment_kit_try_open(kit, harvest, &refusal));
}

void segment_kit_close(segment_kit *kit)
{
    if (kit->log != NULL) {
        kit->log->class->close(kit->log, NULL);
        kit->log = NULL;
    }
}

void segment_kit_reopen(segment_kit *kit)
{
    segment_kit_close(kit);
    segment_harvest_fini(&kit->harvest);
    kit->harvest.keeps_frames = true;
    segment_kit_open(kit, &kit->harvest);
}

void segment_kit_assert_recovers(segment_kit *kit, uint64_t last)
{
    segment_kit_reopen(kit);
    segment_harvest_assert_recovered(&kit->harvest, last);
}

/* Compressible, as frames are, and of a size that depends on nothing but what is asked for. */
aq_lease *segment_kit_frame(uint64_t number, size_t size)
{
    uint8_t *bytes;
    aq_lease *frame;
    assert_int_equal(aq_lease_create(size, &bytes, &frame), 0);
    aq_rng rng = rng_of(number, 0);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(aq_rng_next(&rng) & 0x3f);
    }
    return frame;
}

void segment_kit_begin(segment_kit *kit)
{
    uint64_t segment;
    assert_int_equal(kit->log->class->begin(kit->log, &kit->head, &segment), 0);
}

int segment_kit_try_append(segment_kit *kit)
{
    uint64_t segment;
    if (kit->log->class->wants_head(kit->log)) {
        segment_kit_begin(kit);
    }
    aq_lease *frame = segment_kit_frame(kit->last_number + 1, kit->frame_bytes);
    const int rc = kit->log->class->append(kit->log, kit->last_number + 1, frame, &segment);
    aq_lease_unref(frame);
    kit->last_number += rc == 0;
    return rc;
}

void segment_kit_append(segment_kit *kit, uint64_t count)
{
    if (kit->log == NULL) {
        segment_kit_open(kit, NULL);
    }
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(segment_kit_try_append(kit), 0);
    }
}

void segment_kit_live(segment_kit *kit, uint64_t count)
{
    segment_kit_append(kit, count);
    segment_kit_close(kit);
}

int segment_kit_snapshot(segment_kit *kit, size_t size, uint8_t filling)
{
    uint8_t *bytes;
    aq_lease *lease;
    assert_int_equal(aq_lease_create(size, &bytes, &lease), 0);
    memset(bytes, filling, size);
    const int rc = kit->log->class->snapshot(kit->log, lease);
    aq_lease_unref(lease);
    return rc;
}

aq_log_progress segment_kit_progress(const segment_kit *kit)
{
    aq_log_progress progress;
    kit->log->class->poll(kit->log, &progress);
    return progress;
}

/* ---- waiting -------------------------------------------------------------------------------- */

aq_log_progress segment_kit_wait(segment_kit *kit, segment_kit_until until, uint64_t value)
{
    const int64_t end_ns = aq_clock_wall_ns() + WAIT_S * AQ_NS_PER_S;
    const struct timespec end = {
        .tv_sec = (time_t)(end_ns / AQ_NS_PER_S),
        .tv_nsec = (long)(end_ns % AQ_NS_PER_S),
    };
    for (;;) {
        pthread_mutex_lock(&kit->mutex);
        const uint64_t wakes = kit->wakes;
        pthread_mutex_unlock(&kit->mutex);
        const aq_log_progress progress = segment_kit_progress(kit);
        if (until(&progress, value)) {
            return progress;
        }
        int rc = 0;
        pthread_mutex_lock(&kit->mutex);
        while (rc == 0 && kit->wakes == wakes) {
            rc = pthread_cond_timedwait(&kit->news, &kit->mutex, &end);
        }
        pthread_mutex_unlock(&kit->mutex);
        if (rc != 0) {
            print_message("durable %llu, stuck %d: %s\n", (unsigned long long)progress.durable,
                          progress.stuck, progress.reason);
        }
        assert_int_equal(rc, 0);
    }
}

bool segment_kit_is_durable(const aq_log_progress *progress, uint64_t number)
{
    return progress->durable >= number;
}

bool segment_kit_is_loose(const aq_log_progress *progress, uint64_t number)
{
    return progress->durable >= number && !progress->stuck;
}

bool segment_kit_is_stuck(const aq_log_progress *progress, uint64_t stuck)
{
    return progress->stuck == (stuck != 0);
}

bool segment_kit_has_snapshots(const aq_log_progress *progress, uint64_t count)
{
    return progress->snapshots >= count;
}

bool segment_kit_is_small(const aq_log_progress *progress, uint64_t bytes_max)
{
    return progress->disk_bytes <= bytes_max;
}

void segment_kit_settle(segment_kit *kit)
{
    segment_kit_wait(kit, segment_kit_is_durable, kit->last_number);
}

void segment_kit_write(segment_kit *kit, uint64_t count)
{
    segment_kit_append(kit, count);
    segment_kit_settle(kit);
}

/* ---- files ---------------------------------------------------------------------------------- */

const char *segment_kit_path(const segment_kit *kit, const char *name)
{
    return file_in(kit->folder, name);
}

const char *segment_kit_segment(const segment_kit *kit, uint64_t segment)
{
    char name[64];
    snprintf(name, sizeof(name), "segment-%014llu.aqrs", (unsigned long long)segment);
    return segment_kit_path(kit, name);
}

long segment_kit_file_size(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

void segment_kit_file_copy(const segment_kit *from, uint64_t segment, const segment_kit *to,
                           uint64_t as)
{
    const aq_buffer *bytes = file_bytes(segment_kit_segment(from, segment));
    file_put(segment_kit_segment(to, as), bytes->data, bytes->size);
}

void small_store_setup(small_store *kit)
{
    segment_kit_setup(kit);
    kit->config.segment_bytes = 400;
    kit->frame_bytes = 40;
}
