/*
 * UTF-8, one character at a time: what a log line and a settings file need to be sure of.
 */
#ifndef AQ_COMMON_BASE_UTF8_H
#define AQ_COMMON_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that the terminated text begins with, 1 to 4, and its code point; 0 when
 * the text is at its end or not UTF-8 there (overlong, a surrogate, past U+10FFFF, cut off), and
 * then `*ret_code_point` is untouched. Any thread. */
size_t aq_utf8_decode(const char *text, uint32_t *ret_code_point);

#endif
