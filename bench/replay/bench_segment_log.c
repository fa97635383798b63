/*
 * The segment log against the disk under it, in turns: what the log writes until all of it is
 * durable, and until it is synced, against write(2) of as many bytes; and how long recovery takes
 * against reading the files. Prints medians and ratios.
 *
 *   bench_segment_log [FOLDER]
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/median.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/sys/file.h"
#include "replay/disk/segment_log.h"

/* A million steps of 17 observations and 6 actions, about 100 bytes each, 640 in a frame. */
enum { FRAMES = 1563, FRAME_BYTES = 64 * 1024, TURNS = 5 };

#define TOTAL_BYTES ((double)FRAMES * FRAME_BYTES)

static char folder[4096];
static uint8_t *frame_bytes;

typedef struct figures {
    double log_durable, log_synced, write_durable, write_synced, recover, read;
} figures;

static double seconds_since(int64_t start_ns)
{
    return aq_ns_to_s(aq_clock_monotonic_ns() - start_ns);
}

static void path_in(char *out, size_t size, const char *name, int number)
{
    int length = number > 0 ? snprintf(out, size, "%s/segment-%014d.aqrs", folder, number)
                            : snprintf(out, size, "%s/%s", folder, name);
    AQ_ASSERT(length > 0 && (size_t)length < size);
}

/* ---- recovery into nothing ------------------------------------------------------------------- */

static int on_record(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                     aq_error *error)
{
    uint64_t *records = user;
    (void)segment;
    (void)number;
    (void)frame;
    (void)mapped;
    (void)error;
    (*records)++;
    return 0;
}

static void on_damage(void *user, const char *what)
{
    (void)user;
    fprintf(stderr, "%s\n", what);
    AQ_ASSERT(false); /* of a log that was just written nothing is damaged */
}

static aq_replay_log *open_log(bool compressed, uint64_t *records)
{
    const aq_segment_log_config config = {
        .folder = folder,
        .run_id = 1,
        .schema_hash = 2,
        .task = "bench",
        .store = 3,
        .segment_bytes = 64 << 20,
        .backlog_bytes = 64 << 20,
        .fsync_ms = 1000,
        .compressed = compressed,
    };
    const aq_replay_log_recovery into = {.user = records, .record = on_record, .damage = on_damage};
    aq_segment_log_found store;
    aq_replay_log *log;
    aq_error error = {0};
    int rc = aq_segment_log_open(&config, &into, &store, &log, &error);
    fputs(error.text, stderr);
    AQ_ASSERT(rc == 0);
    return log;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Observations of slow movements: floats whose high bytes repeat. */
static void fill_frame(void)
{
    aq_rng rng;
    float value = 0.0f;
    aq_rng_init(&rng, 1, 0);
    for (size_t i = 0; i < FRAME_BYTES / sizeof(value); i++) {
        value = 0.95f * value + (float)aq_rng_normal(&rng);
        memcpy(frame_bytes + i * sizeof(value), &value, sizeof(value));
    }
}

static void write_log(bool compressed, figures *turn)
{
    uint64_t records = 0;
    aq_replay_log *log = open_log(compressed, &records);
    const aq_log_head head = {0};
    uint64_t segment;
    aq_log_progress progress = {0};
    const int64_t start_ns = aq_clock_monotonic_ns();
    for (uint64_t number = 1; number <= FRAMES; number++) {
        uint8_t *bytes;
        aq_lease *frame;
        int rc = aq_lease_create(FRAME_BYTES, &bytes, &frame);
        AQ_ASSERT(rc == 0);
        memcpy(bytes, frame_bytes, FRAME_BYTES);
        if (log->class->wants_head(log)) {
            rc = log->class->begin(log, &head, &segment);
            AQ_ASSERT(rc == 0);
        }
        for (;;) {
            rc = log->class->append(log, number, frame, &segment);
            if (rc == 0) {
                break;
            }
            aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
        }
        aq_lease_unref(frame);
    }
    while (progress.durable < FRAMES) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS / 4);
        log->class->poll(log, &progress);
    }
    turn->log_durable = seconds_since(start_ns);
    log->class->close(log, NULL);
    turn->log_synced = seconds_since(start_ns);
}

static void recover(figures *turn)
{
    uint64_t records = 0;
    const int64_t start_ns = aq_clock_monotonic_ns();
    aq_replay_log *log = open_log(false, &records);
    turn->recover = seconds_since(start_ns);
    AQ_ASSERT(records == FRAMES);
    log->class->close(log, NULL);
}

static void read_files(figures *turn)
{
    char path[5000];
    uint8_t *room = aq_alloc(1, 128 * 1024);
    AQ_ASSERT(room != NULL);
    const int64_t start_ns = aq_clock_monotonic_ns();
    for (int i = 1; i < 100; i++) {
        path_in(path, sizeof(path), NULL, i);
        const int fd = open(path, O_RDONLY);
        if (fd < 0) {
            break;
        }
        while (read(fd, room, 128 * 1024) > 0) {
        }
        close(fd);
    }
    turn->read = seconds_since(start_ns);
    aq_free(room);
}

static void write_plain(figures *turn)
{
    char path[5000];
    path_in(path, sizeof(path), "plain", 0);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    AQ_ASSERT(fd >= 0);
    const int64_t start_ns = aq_clock_monotonic_ns();
    for (int i = 0; i < FRAMES; i++) {
        const ssize_t written = write(fd, frame_bytes, FRAME_BYTES);
        AQ_ASSERT(written == FRAME_BYTES);
    }
    turn->write_durable = seconds_since(start_ns);
    int rc = fdatasync(fd);
    AQ_ASSERT(rc == 0);
    turn->write_synced = seconds_since(start_ns);
    close(fd);
}

/* ---- figures --------------------------------------------------------------------------------- */

static double median(const figures *turns, size_t offset)
{
    double values[TURNS];
    for (int i = 0; i < TURNS; i++) {
        memcpy(&values[i], (const char *)&turns[i] + offset, sizeof(double));
    }
    return aq_median(values, TURNS);
}

#define MEDIAN(field) median(turns, offsetof(figures, field))

static void run(bool compressed)
{
    figures turns[TURNS];
    for (int i = 0; i < TURNS; i++) {
        (void)aq_dir_remove(folder);
        mkdir(folder, 0777);
        write_plain(&turns[i]);
        write_log(compressed, &turns[i]);
        read_files(&turns[i]);
        recover(&turns[i]);
    }
    (void)aq_dir_remove(folder);
    const double mb = TOTAL_BYTES / 1e6;
    printf("%s frames, %.0f MB, medians of %d turns\n", compressed ? "compressed" : "plain", mb,
           TURNS);
    printf("  durable  log %6.0f MB/s  write(2) %6.0f MB/s  ratio %.2f\n", mb / MEDIAN(log_durable),
           mb / MEDIAN(write_durable), MEDIAN(write_durable) / MEDIAN(log_durable));
    printf("  synced   log %6.0f MB/s  write(2) %6.0f MB/s  ratio %.2f\n", mb / MEDIAN(log_synced),
           mb / MEDIAN(write_synced), MEDIAN(write_synced) / MEDIAN(log_synced));
    printf("  recovery %.1f ms, reading the files %.1f ms, ratio %.1f\n", 1e3 * MEDIAN(recover),
           1e3 * MEDIAN(read), MEDIAN(recover) / MEDIAN(read));
}

int main(int argc, char **argv)
{
    snprintf(folder, sizeof(folder), "%s/aq-bench-segment-%ld", argc > 1 ? argv[1] : "/tmp",
             (long)getpid());
    if (mkdir(folder, 0777) != 0) {
        (void)fprintf(stderr, "bench_segment_log: %s: %s\n", folder, strerror(errno));
        return EXIT_FAILURE;
    }
    frame_bytes = aq_alloc(1, FRAME_BYTES);
    AQ_ASSERT(frame_bytes != NULL);
    fill_frame();
    run(false);
    run(true);
    aq_free(frame_bytes);
    return 0;
}
