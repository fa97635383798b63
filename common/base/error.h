/*
 * Error codes and the error object.
 *
 * Every fallible function returns 0 or a negative code of this list. A function whose failure a
 * person has to act on also takes an `aq_error *`, which carries one sentence that names the thing
 * at fault. Libraries fill it, never print it; the caller that decides, logs once.
 */
#ifndef AQ_COMMON_BASE_ERROR_H
#define AQ_COMMON_BASE_ERROR_H

#define AQ_MUST_USE                       __attribute__((warn_unused_result))
#define AQ_PRINTF(fmt_index, first_index) __attribute__((format(printf, fmt_index, first_index)))

/* One list makes the enum, the names and the texts, so that they cannot drift apart. */
#define AQ_ERROR_LIST(X)                                                                           \
    X(NOMEM, -1, "out of memory")                                                                  \
    X(INVALID, -2, "invalid argument or value")                                                    \
    X(IO, -3, "input or output failed")                                                            \
    X(NO_SPACE, -4, "no space left on the device")                                                 \
    X(NOT_FOUND, -5, "not found")                                                                  \
    X(EXISTS, -6, "exists already")                                                                \
    X(TIMEOUT, -7, "deadline exceeded")                                                            \
    X(CLOSED, -8, "closed")                                                                        \
    X(FULL, -9, "a bounded container is full")                                                     \
    X(AGAIN, -10, "not now, try again")                                                            \
    X(TOO_BIG, -11, "larger than the limit")                                                       \
    X(CORRUPT, -12, "corrupt data")                                                                \
    X(VERSION, -13, "another protocol or format version")                                          \
    X(SCHEMA, -14, "another schema")                                                               \
    X(FOREIGN, -15, "not ours: foreign data or a foreign peer")                                    \
    X(UNSUPPORTED, -16, "not supported here")                                                      \
    X(IN_USE, -17, "address in use")                                                               \
    X(PEER, -18, "the peer answered with an error")

enum aq_error_code {
    AQ_OK = 0,
#define AQ_ERROR_ENUM(name, code, text) AQ_E_##name = (code),
    AQ_ERROR_LIST(AQ_ERROR_ENUM)
#undef AQ_ERROR_ENUM
};

#define AQ_ERROR_TEXT_MAX 512

typedef struct aq_error {
    int code;
    char text[AQ_ERROR_TEXT_MAX];
} aq_error;

/* "NOMEM"; "UNKNOWN" for a code that is not in the list. Static storage. */
const char *aq_error_name(int code);

/* "out of memory". Static storage. */
const char *aq_error_text(int code);

/* Fills `error` (which may be NULL) and returns `code`, so that a failure is one line:
 * `return aq_fail(error, AQ_E_INVALID, "%s: no such task", name);` */
int aq_fail(aq_error *error, int code, const char *format, ...) AQ_PRINTF(3, 4);

/* Puts "context: " before the text that `error` holds; returns its code. `error` may be NULL, in
 * which case `code` is what is returned. */
int aq_fail_context(aq_error *error, int code, const char *format, ...) AQ_PRINTF(3, 4);

/* The code of this list that fits an errno value (ENOSPC -> AQ_E_NO_SPACE, ...). */
int aq_error_from_errno(int errno_value);

#endif
