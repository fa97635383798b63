/*
 * Export text: appends pieces of C to a buffer. The first failure sticks, so that a writer of many
 * lines asks once, at the end.
 *
 * One owner, no locking.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_TEXT_H
#define AQ_QUANTIZER_EXPORT_EXPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"

typedef struct aq_export_text {
    aq_buffer *out;
    const char *prefix;
    bool has_state;         /* whoever hands an observation on hands a state on behind it */
    size_t constants_bytes; /* that were put; who prints one by itself adds its own */
    int rc;                 /* of the first append that failed */
} aq_export_text;

/* A pointer or a number in a constant, where pointers have 32 bits. */
enum { AQ_EXPORT_WORD_BYTES = 4 };

/* Each '@' becomes the prefix; where there is a state, parameters and arguments `obs` are followed
 * by it. */
void aq_export_put(aq_export_text *text, const char *piece);

/* The same, and each "$name" becomes the number of that name; NULL ends them. */
typedef struct aq_export_number {
    const char *name;
    size_t value;
} aq_export_number;
void aq_export_fill(aq_export_text *text, const char *piece, const aq_export_number *numbers);

/* The same of a formatted text of at most AQ_EXPORT_LINE_MAX bytes. */
enum { AQ_EXPORT_LINE_MAX = 511 };
void aq_export_print(aq_export_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether a piece names it, as a word; `name` begins with '@'. */
bool aq_export_names(const char *piece, const char *name);

/* Whether one of the texts does; those that are NULL name nothing. */
bool aq_export_texts_name(const char *const *texts, size_t count, const char *name);

/* A float's exact value as C reads it, "0x1.8p+1f", into a line of at least 32 bytes. */
void aq_export_float_text(float value, char line[32]);

/* "static const TYPE PREFIX_NAMEINDEX[] = {...};", counted. Halves are floats of 16 bits. */
void aq_export_floats(aq_export_text *text, const char *name, uint32_t index, const float *values,
                      size_t count);
void aq_export_halves(aq_export_text *text, const char *name, uint32_t index,
                      const uint16_t *values, size_t count);
void aq_export_int8(aq_export_text *text, const char *name, uint32_t index, const int8_t *values,
                    size_t count);
void aq_export_words(aq_export_text *text, const char *name, uint32_t index, const uint32_t *values,
                     size_t count);

#endif
