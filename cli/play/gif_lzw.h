/*
 * LZW as GIF has it: variable-length codes, low bits first, in sub-blocks of up to 255 bytes.
 */
#ifndef AQ_CLI_PLAY_GIF_LZW_H
#define AQ_CLI_PLAY_GIF_LZW_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

enum { AQ_GIF_BITS_MIN = 2, AQ_GIF_BITS_MAX = 8 };

/* Appends the image data of `count` indices, at least 1, each below 2^bits: the code size, the
 * sub-blocks, and the empty one that ends them. AQ_E_TOO_BIG, AQ_E_NOMEM; the buffer may have grown
 * then. */
int aq_gif_lzw(const uint8_t *indices, size_t count, uint32_t bits, aq_buffer *out) AQ_MUST_USE;

#endif
