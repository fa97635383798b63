/*
 * GIF writer: an animation in memory, frame by frame, that repeats for ever. Of each frame but the
 * first, only the rectangle is stored in which something has changed. One owner.
 */
#ifndef AQ_CLI_PLAY_GIF_WRITER_H
#define AQ_CLI_PLAY_GIF_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

enum { AQ_GIF_SIDE_MAX = 4096 };
#define AQ_GIF_BYTES_MAX ((size_t)256 << 20)

typedef struct aq_gif aq_gif;

/* Sides of 1 to AQ_GIF_SIDE_MAX pixels; each frame is shown for so many hundredths of a second. */
int aq_gif_create(uint32_t width, uint32_t height, uint16_t delay_cs, aq_gif **ret_gif) AQ_MUST_USE;
void aq_gif_destroy(aq_gif *gif); /* NULL is fine */

/* Adds a picture of (height, width, 3) bytes. AQ_E_TOO_BIG past AQ_GIF_BYTES_MAX, AQ_E_NOMEM; the
 * animation is of no use then. */
int aq_gif_add(aq_gif *gif, const uint8_t *pixels) AQ_MUST_USE;

/* The frame that was added last, which there is, stays for so many hundredths of a second more. */
void aq_gif_hold(aq_gif *gif, uint16_t more_cs);

/* Ends the animation, which has a frame; its bytes are the writer's, and no frame may follow. */
int aq_gif_end(aq_gif *gif, const aq_buffer **ret_bytes) AQ_MUST_USE;

#endif
