/*
 * Export exact: the C of exact_math.h in exported files, of which a file gets what its head's texts
 * name. The build makes it of exact_math.c itself (tools/exact_texts.py).
 *
 * Constant; any thread.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_EXACT_H
#define AQ_QUANTIZER_EXPORT_EXPORT_EXACT_H

#include "quantizer/export/export_text.h"

typedef struct aq_exact_text {
    const char *name; /* "@_exact_exp" */
    const char *text;
} aq_exact_text;

extern const aq_exact_text aq_exact_texts[]; /* each below what it names; no name ends them */
extern const char aq_exact_root_text[];      /* the first of them, which exact_math.c has not */

/* Appends those that the `count` texts name (NULL names none), below what they name in turn. */
void aq_export_put_exact(aq_export_text *to, const char *const *texts, size_t count);

#endif
