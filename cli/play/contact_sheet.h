/*
 * Contact sheet: some pictures of a run side by side, evenly spaced over all of it, however long it
 * gets; as one PNG. One owner.
 */
#ifndef AQ_CLI_PLAY_CONTACT_SHEET_H
#define AQ_CLI_PLAY_CONTACT_SHEET_H

#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

enum { AQ_SHEET_COLUMNS = 6, AQ_SHEET_PICTURES_MAX = 24, AQ_SHEET_SIDE_MAX = 4096 };

typedef struct aq_sheet aq_sheet;

/* For pictures of (height, width, 3) bytes, sides of 1 to AQ_SHEET_SIDE_MAX pixels. */
int aq_sheet_create(uint32_t width, uint32_t height, aq_sheet **ret_sheet) AQ_MUST_USE;
void aq_sheet_destroy(aq_sheet *sheet); /* NULL is fine */

/* Adds a picture. Of every so many the first is kept: at least half of the most. */
void aq_sheet_add(aq_sheet *sheet, const uint8_t *pixels);

/* Appends a PNG of all that are kept, at least one, in rows of AQ_SHEET_COLUMNS. AQ_E_NOMEM,
 * AQ_E_TOO_BIG. */
int aq_sheet_png(const aq_sheet *sheet, aq_buffer *out) AQ_MUST_USE;

#endif
