/*
 * Error codes and the error object. Any thread; an aq_error has one owner.
 *
 * Texts are built in a buffer of their own first, so that a caller may pass the old text of the
 * same error as an argument.
 */
#include "common/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"

const char *aq_error_name(int code)
{
    switch (code) {
    case AQ_OK:
        return "OK";
#define AQ_ERROR_NAME(name, value, text)                                                           \
    case value:                                                                                    \
        return #name;
        AQ_ERROR_LIST(AQ_ERROR_NAME)
#undef AQ_ERROR_NAME
    default:
        return "UNKNOWN";
    }
}

const char *aq_error_text(int code)
{
    switch (code) {
    case AQ_OK:
        return "no error";
#define AQ_ERROR_TEXT(name, value, text)                                                           \
    case value:                                                                                    \
        return text;
        AQ_ERROR_LIST(AQ_ERROR_TEXT)
#undef AQ_ERROR_TEXT
    default:
        return "unknown error";
    }
}

int aq_fail(aq_error *error, int code, const char *format, ...)
{
    char text[AQ_ERROR_TEXT_MAX];
    va_list args;

    AQ_ASSERT(code < 0);
    if (error == NULL) {
        return code;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    error->code = code;
    memcpy(error->text, text, sizeof(text));
    return code;
}

int aq_fail_context(aq_error *error, int code, const char *format, ...)
{
    char text[2 * AQ_ERROR_TEXT_MAX + sizeof(": ")];
    va_list args;

    AQ_ASSERT(code < 0);
    if (error == NULL) {
        return code;
    }
    if (error->code == AQ_OK) { /* nobody below has filled it */
        error->code = code;
        snprintf(error->text, sizeof(error->text), "%s", aq_error_text(code));
    }
    va_start(args, format);
    vsnprintf(text, AQ_ERROR_TEXT_MAX, format, args);
    va_end(args);
    size_t used = strlen(text);
    snprintf(text + used, sizeof(text) - used, ": %s", error->text);
    text[AQ_ERROR_TEXT_MAX - 1] = '\0';
    memcpy(error->text, text, AQ_ERROR_TEXT_MAX);
    return error->code;
}

int aq_error_from_errno(int errno_value)
{
    switch (errno_value) {
    case ENOMEM:
        return AQ_E_NOMEM;
    case EINVAL:
    case EISDIR:
    case ELOOP:
        return AQ_E_INVALID;
    case ENOSPC:
    case EDQUOT:
        return AQ_E_NO_SPACE;
    case ENOENT:
    case ENOTDIR:
        return AQ_E_NOT_FOUND;
    case EEXIST:
        return AQ_E_EXISTS;
    case ETIMEDOUT:
        return AQ_E_TIMEOUT;
    case EPIPE:
    case ECONNRESET:
        return AQ_E_CLOSED;
    case EAGAIN:
    case EINTR:
        return AQ_E_AGAIN;
    case EFBIG:
    case ENAMETOOLONG:
        return AQ_E_TOO_BIG;
    case ENOSYS:
    case ENOTSUP:
        return AQ_E_UNSUPPORTED;
    case EADDRINUSE:
        return AQ_E_IN_USE;
    default: /* also 0: whoever asks has seen a call fail, and that must not become a success */
        return AQ_E_IO;
    }
}
