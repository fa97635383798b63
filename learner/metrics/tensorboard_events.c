/*
 * TensorBoard events: see tensorboard_events.h.
 */
#include "learner/metrics/tensorboard_events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/crc32c.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/machine.h"
#include "common/wire/wire_frame.h"
#include "learner/metrics/log_file.h"
#include "proto/tensorboard.pb-c.h"

enum { RECORD_BYTES_MAX = 1 << 20, HEAD_BYTES = 12, TAIL_BYTES = 4, SECOND_DIGITS = 10 };

#define CRC_MASK       UINT32_C(0xa282ead8)
#define SESSION_BEGINS 1
#define FILE_VERSION   "brain.Event:2"
#define FILE_NAME      "events.out.tfevents."
#define HOST_BYTES     64

typedef struct scalar {
    char tag[AQ_TENSORBOARD_TAG_BYTES];
    Actorq__V1__TensorboardValue value;
} scalar;

struct aq_tensorboard {
    char path[PATH_MAX];
    aq_log_file log;
    bool goes_on; /* said before the first scalars */
    size_t count;
    scalar scalars[AQ_TENSORBOARD_SCALARS_MAX];
    Actorq__V1__TensorboardValue *values[AQ_TENSORBOARD_SCALARS_MAX];
};

/* ---- records -------------------------------------------------------------------------------- */

/* A crc over bytes that hold a crc is a weak one; so files have it turned and shifted. */
static uint32_t masked_crc(const void *bytes, size_t size)
{
    const uint32_t crc = aq_crc32c(0, bytes, size);
    return ((crc >> 15) | (crc << 17)) + CRC_MASK;
}

static int append(aq_tensorboard *board, const Actorq__V1__TensorboardEvent *event, aq_error *error)
{
    const size_t size = actorq__v1__tensorboard_event__get_packed_size(event);
    uint8_t *record = NULL;
    aq_buffer buffer;
    aq_buffer_init(&buffer, RECORD_BYTES_MAX);
    int rc = aq_buffer_extend(&buffer, HEAD_BYTES + size + TAIL_BYTES, &record);
    if (rc == 0) {
        aq_u64_put(record, size);
        aq_u32_put(record + 8, masked_crc(record, 8));
        (void)actorq__v1__tensorboard_event__pack(event, record + HEAD_BYTES);
        aq_u32_put(record + HEAD_BYTES + size, masked_crc(record + HEAD_BYTES, size));
        rc = aq_log_file_append(&board->log, record, buffer.size);
    }
    aq_buffer_fini(&buffer);
    return rc != 0 ? aq_fail(error, rc, "%s: %s", board->path, aq_error_text(rc)) : 0;
}

static Actorq__V1__TensorboardEvent event_at(uint64_t step, int64_t wall_ns)
{
    Actorq__V1__TensorboardEvent event = ACTORQ__V1__TENSORBOARD_EVENT__INIT;
    event.wall_time = aq_ns_to_s(wall_ns);
    event.step = (int64_t)step;
    return event;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* The latest second in the names of the files that are there; 0: none is. */
static int64_t latest_s(const char *folder)
{
    int64_t latest = 0;
    DIR *entries = opendir(folder);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        char digits[SECOND_DIGITS + 1];
        int64_t second;
        if (strncmp(entry->d_name, FILE_NAME, sizeof(FILE_NAME) - 1) != 0) {
            continue;
        }
        (void)snprintf(digits, sizeof(digits), "%s", entry->d_name + sizeof(FILE_NAME) - 1);
        if (aq_parse_i64(digits, &second) == 0 && second > latest) {
            latest = second;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return latest;
}

/* TensorBoard reads a folder's files in the order of their names, so that the time is first: one
 * later than any that is there, as the clock may have been set back since. */
static int make_file(aq_tensorboard *board, const char *folder, int64_t wall_ns, aq_error *error)
{
    char host[HOST_BYTES];
    aq_machine_host(host, sizeof(host));
    if (host[0] == '\0' || strchr(host, '/')) {
        (void)snprintf(host, sizeof(host), "host");
    }
    const int64_t now_s = wall_ns / AQ_NS_PER_S;
    const int64_t next_s = latest_s(folder) + 1;
    int rc = aq_text_format(board->path, sizeof(board->path),
                            "%s/" FILE_NAME "%0*" PRId64 ".%s.%ld.0", folder, SECOND_DIGITS,
                            now_s > next_s ? now_s : next_s, host, (long)getpid());
    if (rc != 0) {
        return aq_fail(error, rc, "%s: the path is too long", folder);
    }
    int file = open(board->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: %s", board->path, strerror(errno));
    }
    board->log.file = file;
    return 0;
}

int aq_tensorboard_open(const char *folder, bool goes_on, aq_tensorboard **ret_board,
                        aq_error *error)
{
    const int64_t wall_ns = aq_clock_wall_ns();
    aq_tensorboard *board = aq_alloc(1, sizeof(*board));
    if (!board) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    board->log.file = -1;
    board->goes_on = goes_on;
    for (size_t i = 0; i < AQ_TENSORBOARD_SCALARS_MAX; i++) {
        board->values[i] = &board->scalars[i].value;
    }
    int rc = make_file(board, folder, wall_ns, error);
    if (rc != 0) {
        goto fail;
    }
    Actorq__V1__TensorboardEvent event = event_at(0, wall_ns);
    event.what_case = ACTORQ__V1__TENSORBOARD_EVENT__WHAT_FILE_VERSION;
    event.file_version = aq_wire_text(FILE_VERSION);
    rc = append(board, &event, error);
    if (rc != 0) {
        (void)unlink(board->path);
        goto fail;
    }
    *ret_board = board;
    return 0;
fail:
    aq_tensorboard_close(board);
    return rc;
}

void aq_tensorboard_close(aq_tensorboard *board)
{
    if (!board) {
        return;
    }
    aq_log_file_fini(&board->log);
    aq_free(board);
}

/* ---- scalars -------------------------------------------------------------------------------- */

void aq_tensorboard_scalar(aq_tensorboard *board, const char *tag, double value)
{
    if (board->count == AQ_TENSORBOARD_SCALARS_MAX) {
        return;
    }
    scalar *next = &board->scalars[board->count];
    if (aq_text_set(next->tag, sizeof(next->tag), tag) != 0) {
        return;
    }
    next->value = (Actorq__V1__TensorboardValue)ACTORQ__V1__TENSORBOARD_VALUE__INIT;
    next->value.tag = next->tag;
    next->value.value_case = ACTORQ__V1__TENSORBOARD_VALUE__VALUE_SIMPLE_VALUE;
    next->value.simple_value = (float)value;
    board->count++;
}

static int say_that_it_goes_on(aq_tensorboard *board, uint64_t step, int64_t wall_ns,
                               aq_error *error)
{
    Actorq__V1__TensorboardSession session = ACTORQ__V1__TENSORBOARD_SESSION__INIT;
    session.status = SESSION_BEGINS;
    Actorq__V1__TensorboardEvent event = event_at(step, wall_ns);
    event.what_case = ACTORQ__V1__TENSORBOARD_EVENT__WHAT_SESSION_LOG;
    event.session_log = &session;
    int rc = append(board, &event, error);
    board->goes_on = rc != 0;
    return rc;
}

int aq_tensorboard_write(aq_tensorboard *board, uint64_t step, int64_t wall_ns, aq_error *error)
{
    Actorq__V1__TensorboardSummary summary = ACTORQ__V1__TENSORBOARD_SUMMARY__INIT;
    summary.n_value = board->count;
    summary.value = board->values;
    board->count = 0;
    if (summary.n_value == 0) {
        return 0;
    }
    int rc = board->goes_on ? say_that_it_goes_on(board, step, wall_ns, error) : 0;
    if (rc == 0) {
        Actorq__V1__TensorboardEvent event = event_at(step, wall_ns);
        event.what_case = ACTORQ__V1__TENSORBOARD_EVENT__WHAT_SUMMARY;
        event.summary = &summary;
        rc = append(board, &event, error);
    }
    return rc;
}
