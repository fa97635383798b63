/*
 * Logging: one buffer, one line, one write.
 *
 * A line has a fixed maximum, split between its parts, so that a long message cannot push out the
 * fields nor the other way round, and a cut line still ends in a closed quote and a newline. Lines
 * under PIPE_BUF (4 KiB) reach a pipe whole, also when several threads or processes write to it.
 *
 * Process-wide state: the level (atomic) and the names in `identity` (under a mutex).
 */
#include "common/sys/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/base/utf8.h"

#define LINE_SIZE     2048
#define HEAD_SIZE     192 /* time, level, role, id, event */
#define IDENTITY_SIZE 64
#define EVENT_LENGTH  48
#define FIELDS_SIZE   1152
#define MESSAGE_SIZE  640

static const char cut_mark[] = " cut=true";

_Static_assert(HEAD_SIZE + FIELDS_SIZE + sizeof(cut_mark) + MESSAGE_SIZE + 16 <= LINE_SIZE,
               "the parts of a line fit in a line");

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int level_now = AQ_LOG_INFO;
static const char *ignored_environment; /* set by `once`, then constant */

static pthread_mutex_t identity_mutex = PTHREAD_MUTEX_INITIALIZER;
static char identity[IDENTITY_SIZE]; /* "role=actor id=3 ", or "" */

static void read_environment(void)
{
    const char *text = getenv("ACTORQ_LOG");
    enum aq_log_level level;

    if (text == NULL || text[0] == '\0') {
        return;
    }
    if (aq_log_level_from_text(text, &level) == 0) {
        atomic_store(&level_now, (int)level);
    } else {
        ignored_environment = text;
    }
}

static void prepare_once(void)
{
    int rc = pthread_once(&once, read_environment);

    AQ_ASSERT(rc == 0);
}

const char *aq_log_problem(void)
{
    prepare_once();
    return ignored_environment;
}

int aq_log_level_from_text(const char *text, enum aq_log_level *ret_level)
{
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *ret_level = (enum aq_log_level)i;
            return 0;
        }
    }
    return AQ_E_INVALID;
}

void aq_log_set_level(enum aq_log_level level)
{
    prepare_once(); /* what the program says goes over what the environment says */
    atomic_store(&level_now, (int)level);
}

static void set_identity(const char *text)
{
    int rc = pthread_mutex_lock(&identity_mutex);

    AQ_ASSERT(rc == 0);
    memcpy(identity, text, IDENTITY_SIZE);
    pthread_mutex_unlock(&identity_mutex);
}

static void get_identity(char *out)
{
    int rc = pthread_mutex_lock(&identity_mutex);

    AQ_ASSERT(rc == 0);
    memcpy(out, identity, IDENTITY_SIZE);
    pthread_mutex_unlock(&identity_mutex);
}

void aq_log_open(const char *role, int64_t id)
{
    char text[IDENTITY_SIZE] = "";
    int rc;

    if (id < 0) {
        rc = aq_text_format(text, sizeof(text), "role=%s ", role);
    } else {
        rc = aq_text_format(text, sizeof(text), "role=%s id=%lld ", role, (long long)id);
    }
    AQ_ASSERT(rc == 0);
    set_identity(text);
}

/* The escaped form of the character that `text` begins with; returns the bytes it takes there. */
static size_t escape(const char *text, char out[8])
{
    uint32_t code_point = 0;
    size_t size = aq_utf8_decode(text, &code_point);

    if (size == 0) { /* not UTF-8: the replacement character stands for the byte */
        snprintf(out, 8, "\\ufffd");
        return 1;
    }
    if (code_point == '"' || code_point == '\\') {
        snprintf(out, 8, "\\%c", (int)code_point);
    } else if (code_point == '\n') {
        snprintf(out, 8, "\\n");
    } else if (code_point == '\t') {
        snprintf(out, 8, "\\t");
    } else if (code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0)) {
        snprintf(out, 8, "\\u%04x", (unsigned)code_point & 0xffffu);
    } else {
        memcpy(out, text, size);
        out[size] = '\0';
    }
    return size;
}

const char *aq_log_quote(char *out, size_t size, const char *text)
{
    static const char cut[] = "...";
    size_t used = 1;
    size_t fitting = 1; /* `used` as of the last character after which the cut mark still fits */

    AQ_ASSERT(size > sizeof(cut) + 2);
    out[0] = '"';
    while (*text != '\0') {
        char escaped[8];
        size_t taken = escape(text, escaped);
        size_t length = strlen(escaped);

        if (used + length + 2 > size) { /* the quote and the terminator */
            memcpy(out + fitting, cut, sizeof(cut) - 1);
            used = fitting + sizeof(cut) - 1;
            break;
        }
        memcpy(out + used, escaped, length);
        used += length;
        if (used + sizeof(cut) + 1 <= size) {
            fitting = used;
        }
        text += taken;
    }
    out[used] = '"';
    out[used + 1] = '\0';
    return out;
}

static void format_head(char *out, enum aq_log_level level, const char *event)
{
    int64_t now_ns = aq_clock_wall_ns();
    time_t seconds = (time_t)(now_ns / AQ_NS_PER_S);
    char who[IDENTITY_SIZE];
    char when[24] = "";
    struct tm utc;

    get_identity(who);
    if (gmtime_r(&seconds, &utc) != NULL) {
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
    }
    snprintf(out, HEAD_SIZE, "ts=%s.%03dZ level=%s %sevent=%.*s", when,
             (int)(now_ns % AQ_NS_PER_S / AQ_NS_PER_MS), level_names[level], who, EVENT_LENGTH,
             event);
}

/* Control characters would let a value forge a line; fields that were cut lose their last pair,
 * which may be half a pair or an open quote. */
static void clean_fields(char *fields, bool was_cut)
{
    size_t pair_end = 0;
    bool quoted = false;
    bool escaped = false;

    for (size_t i = 0; fields[i] != '\0'; i++) {
        if ((unsigned char)fields[i] < 0x20 || fields[i] == 0x7f) {
            fields[i] = '?';
        }
        if (escaped) {
            escaped = false;
        } else if (fields[i] == '\\') {
            escaped = quoted;
        } else if (fields[i] == '"') {
            quoted = !quoted;
        } else if (fields[i] == ' ' && !quoted) {
            pair_end = i;
        }
    }
    if (was_cut) {
        memcpy(fields + pair_end, cut_mark, sizeof(cut_mark));
    }
}

static void write_line(const char *line, size_t size)
{
    ssize_t written;

    do { /* where standard error can't be written to, there is nobody left to tell */
        written = write(STDERR_FILENO, line, size);
    } while (written < 0 && errno == EINTR);
}

void aq_log(enum aq_log_level level, const char *event, const char *message, const char *fields,
            ...)
{
    int errno_before = errno;
    char line[LINE_SIZE];
    char head[HEAD_SIZE];
    char values[FIELDS_SIZE + sizeof(cut_mark)];
    char quoted[MESSAGE_SIZE];
    va_list args;
    int length;

    AQ_ASSERT(level < AQ_LOG_OFF);
    prepare_once();
    if ((int)level < atomic_load(&level_now)) {
        return;
    }
    format_head(head, level, event);
    va_start(args, fields);
    length = vsnprintf(values, FIELDS_SIZE, fields, args);
    va_end(args);
    if (length < 0) {
        values[0] = '\0';
    }
    clean_fields(values, length >= FIELDS_SIZE);
    length = snprintf(line, sizeof(line), "%s%s%s%s%s\n", head, values[0] == '\0' ? "" : " ",
                      values[0] == ' ' ? values + 1 : values, message[0] == '\0' ? "" : " msg=",
                      message[0] == '\0' ? "" : aq_log_quote(quoted, sizeof(quoted), message));
    AQ_ASSERT(length > 0);
    AQ_ASSERT((size_t)length < sizeof(line));
    write_line(line, (size_t)length);
    errno = errno_before;
}

bool aq_log_allowed(aq_log_limit *limit, int64_t now_ns, uint64_t *ret_suppressed)
{
    if (now_ns < limit->next_ns) {
        limit->suppressed++;
        return false;
    }
    *ret_suppressed = limit->suppressed;
    limit->suppressed = 0;
    limit->next_ns = now_ns + AQ_NS_PER_S;
    return true;
}
