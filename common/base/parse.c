/*
 * Checked parsing and printing of numbers and texts. Any thread.
 *
 * The shape of a number is checked here, letter by letter, before the C library converts it: that
 * is what refuses leading blanks, "+1", "0x10", "nan" and trailing rubbish. The decimal point is a
 * point, also within a program that has chosen a locale and uses our library.
 */
#include "common/base/parse.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/assert.h"

static const char *skip_digits(const char *text)
{
    while (*text >= '0' && *text <= '9') {
        text++;
    }
    return text;
}

/* One digit or more, and nothing else. */
static bool is_digits(const char *text)
{
    return *text != '\0' && *skip_digits(text) == '\0';
}

int aq_parse_i64(const char *text, int64_t *ret_value)
{
    _Static_assert(sizeof(long long) == sizeof(int64_t), "strtoll is the 64-bit parser");
    if (!is_digits(*text == '-' ? text + 1 : text)) {
        return AQ_E_INVALID;
    }
    errno = 0;
    const long long value = strtoll(text, NULL, 10);
    if (errno != 0) {
        return AQ_E_INVALID;
    }
    *ret_value = value;
    return 0;
}

int aq_parse_u64(const char *text, uint64_t *ret_value)
{
    if (!is_digits(text)) {
        return AQ_E_INVALID;
    }
    errno = 0;
    const unsigned long long value = strtoull(text, NULL, 10);
    if (errno != 0) {
        return AQ_E_INVALID;
    }
    *ret_value = value;
    return 0;
}

/* Which power of ten the mantissa is to be taken by: the one that follows it. */
static int parse_power(const char *text, int64_t *ret_power)
{
    static const char *const units[] = {"", "k", "M", "G"};

    for (int i = 0; i < 4; i++) {
        if (strcmp(text, units[i]) == 0) {
            *ret_power = 3 * i;
            return 0;
        }
    }
    text += *text == 'e' || *text == 'E' ? 1 : strlen(text);
    return aq_parse_i64(*text == '+' && text[1] != '-' ? text + 1 : text, ret_power);
}

/* In whole numbers throughout, so that nothing is rounded. */
int aq_parse_whole(const char *text, uint64_t *ret_value)
{
    uint64_t value = 0;
    int64_t power;
    const char *point = skip_digits(text);
    const char *end = *point == '.' ? skip_digits(point + 1) : point;

    if (point == text || parse_power(end, &power) != 0) {
        return AQ_E_INVALID;
    }
    power = power < INT64_MIN / 2 ? INT64_MIN / 2 : power; /* room for the digits that follow */
    while (end > point + 1 && end[-1] == '0') {
        end--;
    }
    for (const char *at = text; at < end; at++) {
        const uint64_t digit = at == point ? 0 : (uint64_t)(*at - '0');

        if (at != point && (__builtin_mul_overflow(value, 10, &value) ||
                            __builtin_add_overflow(value, digit, &value))) {
            return AQ_E_TOO_BIG;
        }
        power -= at > point;
    }
    for (; power < 0 && value > 0; power++, value /= 10) {
        if (value % 10 != 0) {
            return AQ_E_INVALID;
        }
    }
    for (; power > 0 && value > 0; power--) {
        if (__builtin_mul_overflow(value, 10, &value)) {
            return AQ_E_TOO_BIG;
        }
    }
    *ret_value = value;
    return 0;
}

int aq_parse_id(const char *text, uint64_t *ret_id)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        return AQ_E_INVALID;
    }
    *ret_id = strtoull(text, NULL, 16);
    return 0;
}

/* [-] digits [. digits] [e [+-] digits], where one side of the point may be missing. */
static bool is_decimal(const char *text)
{
    const char *whole = *text == '-' ? text + 1 : text;
    const char *at = skip_digits(whole);
    size_t digit_count = (size_t)(at - whole);

    if (*at == '.') {
        const char *fraction = at + 1;

        at = skip_digits(fraction);
        digit_count += (size_t)(at - fraction);
    }
    if (digit_count == 0) {
        return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        return is_digits(*at == '+' || *at == '-' ? at + 1 : at);
    }
    return *at == '\0';
}

int aq_parse_f64(const char *text, double *ret_value)
{
    if (!is_decimal(text)) {
        return AQ_E_INVALID;
    }
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return AQ_E_NOMEM;
    }
    const locale_t before = uselocale(plain); /* this thread's alone */
    errno = 0;
    double value = strtod(text, NULL);
    const int failed = errno;
    (void)uselocale(before);
    freelocale(plain);
    /* A subnormal number also sets errno, but is kept; one too small for even that is not. */
    if (!isfinite(value) || (value == 0.0 && failed != 0)) {
        return AQ_E_INVALID;
    }
    *ret_value = value;
    return 0;
}

int aq_parse_bool(const char *text, bool *ret_value)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i].text) == 0) {
            *ret_value = words[i].value;
            return 0;
        }
    }
    return AQ_E_INVALID;
}

int aq_text_set(char *out, size_t size, const char *text)
{
    size_t length = strlen(text);

    AQ_ASSERT(size > 0);
    if (length >= size) {
        out[0] = '\0';
        return AQ_E_TOO_BIG;
    }
    memcpy(out, text, length + 1);
    return 0;
}

int aq_text_format(char *out, size_t size, const char *format, ...)
{
    va_list args;

    AQ_ASSERT(size > 0);
    va_start(args, format);
    int length = vsnprintf(out, size, format, args);
    va_end(args);
    AQ_ASSERT(length >= 0);
    return (size_t)length < size ? 0 : AQ_E_TOO_BIG;
}

void aq_text_append(char *out, size_t size, const char *format, ...)
{
    const size_t used = strlen(out);
    va_list args;

    AQ_ASSERT(used < size);
    va_start(args, format);
    (void)vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

/* "999<unit 0>", "1.5<unit 1>": one decimal from the first unit up. */
static const char *scaled(char *out, size_t size, double value, const char *const *units)
{
    double magnitude = fabs(value);
    size_t unit = 0;

    AQ_ASSERT(size > 0);
    if (!isfinite(value)) {
        snprintf(out, size, "%g", value);
        return out;
    }
    /* The limits are where printing would round up to "1000". */
    while (units[unit + 1] != NULL && magnitude >= (unit == 0 ? 999.5 : 999.95)) {
        magnitude /= 1000.0;
        unit++;
    }
    if (unit == 0) {
        snprintf(out, size, "%s%.0f%s", value < 0 ? "-" : "", magnitude, units[0]);
    } else if (magnitude < 999.95) {
        snprintf(out, size, "%s%.1f%s", value < 0 ? "-" : "", magnitude, units[unit]);
    } else { /* beyond the last unit */
        snprintf(out, size, "%s%.1e%s", value < 0 ? "-" : "", magnitude, units[unit]);
    }
    return out;
}

const char *aq_text_bytes(char *out, size_t size, double bytes)
{
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", NULL};

    return scaled(out, size, bytes, units);
}

const char *aq_text_count(char *out, size_t size, double count)
{
    static const char *const units[] = {"", "k", "M", "G", "T", NULL};

    return scaled(out, size, count, units);
}

const char *aq_text_return(char *out, size_t size, double value, int decimals)
{
    AQ_ASSERT(size > 0);
    if (fabs(value) >= 1e12) { /* a decimal is noise, and the text would be long */
        snprintf(out, size, "%.4g", value);
    } else if (value != 0 && fabs(value) < 1) {
        snprintf(out, size, "%.3g", value);
    } else {
        snprintf(out, size, "%.*f", decimals, value);
    }
    return out;
}

const char *aq_text_duration(char *out, size_t size, double seconds)
{
    const char *sign = seconds < 0 ? "-" : "";
    double magnitude = fabs(seconds);
    uint64_t whole;

    AQ_ASSERT(size > 0);
    if (!(magnitude < 1e15)) { /* not a number, infinite, or tens of millions of years */
        snprintf(out, size, "%.3gs", seconds);
    } else if (magnitude < 0.9995e-3) {
        snprintf(out, size, "%s%.0fus", sign, magnitude * 1e6);
    } else if (magnitude < 0.9995) {
        snprintf(out, size, "%s%.0fms", sign, magnitude * 1e3);
    } else if (magnitude < 59.95) {
        snprintf(out, size, "%s%.1fs", sign, magnitude);
    } else {
        whole = (uint64_t)(magnitude + 0.5);
        if (whole < 3600) {
            snprintf(out, size, "%s%dm%02ds", sign, (int)(whole / 60), (int)(whole % 60));
        } else if (whole < 86400) {
            snprintf(out, size, "%s%dh%02dm", sign, (int)(whole / 3600), (int)(whole / 60 % 60));
        } else {
            snprintf(out, size, "%s%.0fd%02dh", sign, floor((double)whole / 86400.0),
                     (int)(whole / 3600 % 24));
        }
    }
    return out;
}
