/*
 * Checked parsing of text: the whole text must be consumed, nothing is silently clipped.
 * `*ret_` is untouched on failure. AQ_E_INVALID for a malformed text or one out of the type's
 * range.
 */
#ifndef AQ_COMMON_BASE_PARSE_H
#define AQ_COMMON_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

int aq_parse_i64(const char *text, int64_t *ret_value) AQ_MUST_USE;
int aq_parse_u64(const char *text, uint64_t *ret_value) AQ_MUST_USE;

/* As a person writes a whole number: 1000000, 1e6, 2.5e3, 500k, 1M or 2G. AQ_E_TOO_BIG for one
 * that the type can't hold. */
int aq_parse_whole(const char *text, uint64_t *ret_value) AQ_MUST_USE;

/* A name of ours: 16 lower-case hexadecimal digits. */
int aq_parse_id(const char *text, uint64_t *ret_id) AQ_MUST_USE;

/* Finite decimal numbers only: no "nan", no "inf", no hexadecimal. */
int aq_parse_f64(const char *text, double *ret_value) AQ_MUST_USE;

/* true/false, yes/no, on/off. */
int aq_parse_bool(const char *text, bool *ret_value) AQ_MUST_USE;

/* Copies `text` into out[size], terminated; AQ_E_TOO_BIG when it does not fit (out is "" then). */
int aq_text_set(char *out, size_t size, const char *text) AQ_MUST_USE;

/* printf into out[size]; AQ_E_TOO_BIG when it does not fit (out holds what does). */
int aq_text_format(char *out, size_t size, const char *format, ...) AQ_MUST_USE AQ_PRINTF(3, 4);

/* printf behind the text that is in out[size]; what does not fit is cut off. */
void aq_text_append(char *out, size_t size, const char *format, ...) AQ_PRINTF(3, 4);

/* "1.5 MB", "12.3k", "2m05s": for people. Return `out`. 32 bytes are always enough. */
const char *aq_text_bytes(char *out, size_t size, double bytes);
const char *aq_text_count(char *out, size_t size, double count);
const char *aq_text_duration(char *out, size_t size, double seconds);

/* A return with so many decimals: "187.2". Below 1, as rates of success are, with three digits:
 * "0.0004". */
const char *aq_text_return(char *out, size_t size, double value, int decimals);

#endif
