/*
 * UTF-8, one character at a time: what a log line and a settings file need to be sure of.
 */
#ifndef AQ_COMMON_BASE_UTF8_H
#define AQ_COMMON_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that the terminated text begins with, 1 to 4, and its code point; 0 when
 * the text is at its end or not UTF-8 there (overlong, a surrogate, past U+10FFFF, cut off), and
 * then `*ret_code_point` is untouched. Any thread. */
size_t aq_utf8_decode(const char *text, uint32_t *ret_code_point);

/* C0, DEL and C1: the last also begin escape sequences on some terminals. */
static inline bool aq_utf8_is_control(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7f && code_point < 0xa0);
}

/* Whether a terminated text is UTF-8 to its end, without control characters. Any thread. */
bool aq_utf8_is_plain(const char *text);

#endif
