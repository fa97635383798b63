/*
 * Logging: one buffer, one line, one write.
 *
 * A line has a fixed maximum, split between its parts, so that a long message cannot push out the
 * fields nor the other way round, and a cut line still ends in a closed quote and a newline. Lines
 * under PIPE_BUF (4 KiB) reach a pipe whole, also when several threads or processes write to it.
 *
 * As JSON, the same line is turned into an object in the end (log_json.h), so that both say the
 * same.
 *
 * Process-wide state: the levels, the format and whether a line was cut short (atomic), and the
 * names in `identity` (under a mutex).
 */
#include "common/sys/log.h"

#include <errno.h>
#include <inttypes.h>
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
#include "common/base/mutex.h"
#include "common/base/parse.h"
#include "common/sys/log_json.h"
#include "common/sys/logfmt.h"

#define LINE_SIZE     2048
#define HEAD_SIZE     192 /* time, level, role, id, event */
#define IDENTITY_SIZE 64
#define EVENT_LENGTH  48
#define FIELDS_SIZE   1152
#define MESSAGE_SIZE  640
#define LEVEL_NONE    (-1) /* the run has no level of its own */

static const char cut_mark[] = " cut=true";

_Static_assert(HEAD_SIZE + FIELDS_SIZE + sizeof(cut_mark) + MESSAGE_SIZE + 16 <= LINE_SIZE,
               "the parts of a line fit in a line");

static const char *const level_names[] = {AQ_LOG_LEVELS(AQ_CHOICE_WORD) NULL};
static const char *const format_names[] = {AQ_LOG_FORMATS(AQ_CHOICE_WORD) NULL};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int level_started = AQ_LOG_INFO;
static atomic_int level_of_run = LEVEL_NONE;
static atomic_int format_now = AQ_LOG_LOGFMT;
static atomic_bool is_cut;        /* a full disk took a part of the last line: it has no end yet */
static const char *ignored_level; /* these two are set by `once`, then constant */
static const char *ignored_format;

static pthread_mutex_t identity_mutex = PTHREAD_MUTEX_INITIALIZER;
static char identity[IDENTITY_SIZE]; /* "role=actor id=3 ", or "" */

static const char *from_environment(const char *name)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void read_environment(void)
{
    const char *level_text = from_environment("ACTORQ_LOG");
    const char *format_text = from_environment("ACTORQ_LOG_FORMAT");
    enum aq_log_level level = AQ_LOG_INFO;
    enum aq_log_format format = AQ_LOG_LOGFMT;

    if (level_text != NULL && aq_log_level_from_text(level_text, &level) != 0) {
        ignored_level = level_text;
    }
    if (format_text != NULL && aq_log_format_from_text(format_text, &format) != 0) {
        ignored_format = format_text;
    }
    atomic_store(&level_started, (int)level);
    atomic_store(&format_now, (int)format);
}

static void prepare_once(void)
{
    int rc = pthread_once(&once, read_environment);

    AQ_ASSERT(rc == 0);
}

const char *aq_log_problem(void)
{
    prepare_once();
    return ignored_level;
}

const char *aq_log_format_problem(void)
{
    prepare_once();
    return ignored_format;
}

const char *aq_log_level_name(enum aq_log_level level)
{
    return level_names[level];
}

int aq_log_level_from_text(const char *text, enum aq_log_level *ret_level)
{
    int found = aq_choice_find(level_names, text);

    if (found < 0) {
        return found;
    }
    *ret_level = (enum aq_log_level)found;
    return 0;
}

int aq_log_format_from_text(const char *text, enum aq_log_format *ret_format)
{
    int found = aq_choice_find(format_names, text);

    if (found < 0) {
        return found;
    }
    *ret_format = (enum aq_log_format)found;
    return 0;
}

void aq_log_set_level(enum aq_log_level level)
{
    prepare_once(); /* what the program says goes over what the environment says */
    atomic_store(&level_started, (int)level);
}

void aq_log_set_format(enum aq_log_format format)
{
    prepare_once(); /* as above */
    atomic_store(&format_now, (int)format);
}

void aq_log_set_run_level(uint32_t choice)
{
    AQ_ASSERT(choice <= AQ_LOG_OFF + 1u);
    atomic_store(&level_of_run, (int)choice - 1);
}

static bool is_wanted(enum aq_log_level level)
{
    int of_run = atomic_load(&level_of_run);
    return (int)level >= (of_run != LEVEL_NONE ? of_run : atomic_load(&level_started));
}

static void set_identity(const char *text)
{
    aq_mutex_lock(&identity_mutex);
    memcpy(identity, text, IDENTITY_SIZE);
    aq_mutex_unlock(&identity_mutex);
}

static void get_identity(char *out)
{
    aq_mutex_lock(&identity_mutex);
    memcpy(out, identity, IDENTITY_SIZE);
    aq_mutex_unlock(&identity_mutex);
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

const char *aq_log_quote(char *out, size_t size, const char *text)
{
    static const char cut[] = "...";
    size_t used = 1;
    size_t fitting = 1; /* `used` as of the last character after which the cut mark still fits */

    AQ_ASSERT(size > sizeof(cut) + 2);
    out[0] = '"';
    while (*text != '\0') {
        char escaped[AQ_LOGFMT_ESCAPED_MAX];
        size_t taken = aq_logfmt_escape(text, escaped);
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

static ssize_t write_some(const char *bytes, size_t size)
{
    ssize_t written;

    do { /* where standard error can't be written to, there is nobody left to tell */
        written = write(STDERR_FILENO, bytes, size);
    } while (written < 0 && errno == EINTR);
    return written;
}

static void write_bytes(const char *line, size_t size)
{
    if (atomic_load(&is_cut) && write_some("\n", 1) == 1) {
        atomic_store(&is_cut, false);
    }
    const ssize_t written = write_some(line, size);
    if (written > 0 && (size_t)written < size) {
        atomic_store(&is_cut, true);
    }
}

/* `quoted` is the message, "" for none. */
static void write_logfmt(const char *head, const char *fields, const char *quoted)
{
    char line[LINE_SIZE];
    int length = snprintf(line, sizeof(line), "%s%s%s%s%s\n", head, fields[0] == '\0' ? "" : " ",
                          fields, quoted[0] == '\0' ? "" : " msg=", quoted);

    AQ_ASSERT(length > 0);
    AQ_ASSERT((size_t)length < sizeof(line));
    write_bytes(line, (size_t)length);
}

static void write_json(const char *head, const char *fields, const char *quoted)
{
    char line[AQ_LOG_JSON_LINE_MAX];

    write_bytes(line, aq_log_json_line(head, fields, quoted, line));
}

/* The last field says how many lines were suppressed, unless that is NULL. */
static void log_line(enum aq_log_level level, const char *event, const char *message,
                     const uint64_t *suppressed, const char *fields, va_list args)
{
    int errno_before = errno;
    char head[HEAD_SIZE];
    char values[FIELDS_SIZE + sizeof(cut_mark)];
    char quoted[MESSAGE_SIZE] = "";
    const char *pairs = values;

    AQ_ASSERT(level < AQ_LOG_OFF);
    prepare_once();
    if (!is_wanted(level)) {
        return;
    }
    format_head(head, level, event);
    int length = vsnprintf(values, FIELDS_SIZE, fields, args);
    if (length < 0) {
        values[0] = '\0';
    } else if (suppressed != NULL && length < FIELDS_SIZE) {
        length += snprintf(values + length, FIELDS_SIZE - (size_t)length, " suppressed=%" PRIu64,
                           *suppressed);
    }
    clean_fields(values, length >= FIELDS_SIZE);
    if (message[0] != '\0') {
        (void)aq_log_quote(quoted, sizeof(quoted), message);
    }
    pairs += pairs[0] == ' ';
    if (atomic_load(&format_now) == AQ_LOG_JSON) {
        write_json(head, pairs, quoted);
    } else {
        write_logfmt(head, pairs, quoted);
    }
    errno = errno_before;
}

void aq_log(enum aq_log_level level, const char *event, const char *message, const char *fields,
            ...)
{
    va_list args;
    va_start(args, fields);
    log_line(level, event, message, NULL, fields, args);
    va_end(args);
}

bool aq_log_allowed(aq_log_limit *limit, int64_t now_ns)
{
    if (now_ns >= limit->next_ns) {
        limit->next_ns = now_ns + AQ_NS_PER_S;
        limit->written = 0;
    }
    const bool may = limit->written <= limit->more;
    limit->written += may;
    limit->suppressed += !may;
    return may;
}

void aq_log_limited(aq_log_limit *limit, int64_t now_ns, enum aq_log_level level, const char *event,
                    const char *message, const char *fields, ...)
{
    va_list args;
    if (aq_log_allowed(limit, now_ns)) {
        va_start(args, fields);
        log_line(level, event, message, &limit->suppressed, fields, args);
        va_end(args);
        limit->suppressed = 0;
    }
}
