/*
 * Logfmt: the pairs of a log line, and how a text is written in quotes. What log.c writes, log_json
 * and `actorq logs` read. Any thread.
 */
#ifndef AQ_COMMON_SYS_LOGFMT_H
#define AQ_COMMON_SYS_LOGFMT_H

#include <stdbool.h>
#include <stddef.h>

/* Room for what aq_logfmt_escape writes. */
enum { AQ_LOGFMT_ESCAPED_MAX = 8 };

typedef struct aq_logfmt_pair {
    const char *key; /* points into the line, as does `value` */
    size_t key_length;
    const char *value; /* between the quotes, when it has some: still escaped then */
    size_t value_length;
    bool is_quoted;
} aq_logfmt_pair;

/* The pair that `*cursor` stands before, which moves behind it; false at the end of the text. A
 * word without `=` is a key with an empty value. A quote that is never closed ends with the text.
 */
bool aq_logfmt_next(const char **cursor, aq_logfmt_pair *ret_pair);

/* The character that `text` (not empty, terminated) begins with, as it stands between quotes, into
 * `out`, terminated; returns the bytes that it takes in `text`. What is not UTF-8 becomes \ufffd,
 * byte by byte. All of it is JSON's way, too. */
size_t aq_logfmt_escape(const char *text, char out[AQ_LOGFMT_ESCAPED_MAX]);

#endif
