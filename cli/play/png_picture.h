/*
 * PNG picture: 8-bit RGB pixels as the bytes of a PNG file. Any thread.
 */
#ifndef AQ_CLI_PLAY_PNG_PICTURE_H
#define AQ_CLI_PLAY_PNG_PICTURE_H

#include <stdint.h>

#include "common/base/buffer.h"

/* Appends a PNG of `pixels` (height, width, 3) to `out`. AQ_E_NOMEM, AQ_E_TOO_BIG beyond the
 * buffer's limit; out's content is as before then. */
int aq_png_picture(uint32_t width, uint32_t height, const uint8_t *pixels,
                   aq_buffer *out) AQ_MUST_USE;

#endif
