/*
 * What the tests of the segment log share: a folder of its own, frames that can be told apart, a
 * log that says when there is news, and what a recovery found.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_SEGMENT_KIT_H
#define AQ_TESTS_UNIT_REPLAY_SEGMENT_KIT_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/disk/segment_log.h"

enum { SEGMENT_KIT_MARKS_MAX = 8, SEGMENT_KIT_DAMAGES_MAX = 16, SEGMENT_KIT_STORE = 0x5eed };

/* What recovery gave. */
typedef struct segment_harvest {
    uint64_t heads;
    uint64_t head_segment; /* of the newest */
    aq_log_head head;      /* its marks are below */
    aq_log_mark marks[SEGMENT_KIT_MARKS_MAX];
    size_t count;
    size_t capacity;
    uint64_t *numbers, *segments; /* [count] */
    aq_lease **frames;            /* [count], a reference each */
    bool keeps_frames;
    bool has_snapshot;
    size_t snapshot_size;
    uint32_t snapshot_crc;
    size_t damages;
    char damage[SEGMENT_KIT_DAMAGES_MAX][PATH_MAX];
    uint64_t refuse_number; /* this record is found to be of no use */
    uint64_t fail_number;   /* this one ends the recovery */
} segment_harvest;

void segment_harvest_fini(segment_harvest *harvest);
aq_replay_log_recovery segment_harvest_into(segment_harvest *harvest);

/* Whether record `number` was given, with the very bytes of segment_kit_frame. */
bool segment_harvest_has(const segment_harvest *harvest, uint64_t number);
void segment_harvest_assert_range(const segment_harvest *harvest, uint64_t first, uint64_t last);
/* Records 1 to `last`, and no damage. */
void segment_harvest_assert_recovered(const segment_harvest *harvest, uint64_t last);
/* One of the damages says this. */
bool segment_harvest_says(const segment_harvest *harvest, const char *text);

typedef struct segment_kit {
    const char *folder;
    aq_segment_log_config config;
    aq_segment_log_found found;
    aq_replay_log *log; /* NULL while it is closed */
    uint64_t last_number;
    aq_log_head head; /* for the next segment */
    size_t frame_bytes;
    pthread_mutex_t mutex;
    pthread_cond_t news;
    uint64_t wakes;
    segment_harvest harvest; /* for who wants one; it keeps the frames */
} segment_kit;

/* A folder that is not made yet, and settings for small segments. */
void segment_kit_setup(segment_kit *kit);
void segment_kit_teardown(segment_kit *kit); /* closes, and removes all */

/* Opens; `harvest` may be NULL. The second asserts that it goes well. */
int segment_kit_try_open(segment_kit *kit, segment_harvest *harvest, aq_error *error);
void segment_kit_open(segment_kit *kit, segment_harvest *harvest);
void segment_kit_close(segment_kit *kit);

/* Closes it, and opens it with the kit's harvest, which is empty before. The second asserts that
 * the life before left records 1 to `last`, and no damage. */
void segment_kit_reopen(segment_kit *kit);
void segment_kit_assert_recovers(segment_kit *kit, uint64_t last);

/* The same bytes for the same number, about `size` of them. */
aq_lease *segment_kit_frame(uint64_t number, size_t size);

/* The next record, and a head before it if one is wanted. Who appends opens it if need be. */
int segment_kit_try_append(segment_kit *kit);
void segment_kit_append(segment_kit *kit, uint64_t count);
void segment_kit_begin(segment_kit *kit);

/* A whole life: opens it, appends, closes it. */
void segment_kit_live(segment_kit *kit, uint64_t count);

/* A snapshot of `size` bytes that all are `filling`; what the log says to it. */
int segment_kit_snapshot(segment_kit *kit, size_t size, uint8_t filling);

aq_log_progress segment_kit_progress(const segment_kit *kit);

/* Waits for what the progress says, at most ten seconds. */
typedef bool (*segment_kit_until)(const aq_log_progress *progress, uint64_t value);
aq_log_progress segment_kit_wait(segment_kit *kit, segment_kit_until until, uint64_t value);
bool segment_kit_is_durable(const aq_log_progress *progress, uint64_t number);
bool segment_kit_is_loose(const aq_log_progress *progress, uint64_t number); /* and durable */
bool segment_kit_is_stuck(const aq_log_progress *progress, uint64_t stuck);
bool segment_kit_has_snapshots(const aq_log_progress *progress, uint64_t count);
bool segment_kit_is_small(const aq_log_progress *progress, uint64_t bytes_max);

/* Waits for all that was handed over; the second hands it over before. */
void segment_kit_settle(segment_kit *kit);
void segment_kit_write(segment_kit *kit, uint64_t count);

/* Files of the folder. Sizes are -1 for one that isn't there. */
const char *segment_kit_path(const segment_kit *kit, const char *name);
const char *segment_kit_segment(const segment_kit *kit, uint64_t segment);
long segment_kit_file_size(const char *path);
void segment_kit_file_copy(const segment_kit *from, uint64_t segment, const segment_kit *to,
                           uint64_t as);

/* A store whose segments hold six records of 72 bytes. */
typedef segment_kit small_store;
enum { PER_SEGMENT = 6, RECORD_BYTES = 72 };
void small_store_setup(small_store *kit);
#define small_store_teardown segment_kit_teardown

#endif
