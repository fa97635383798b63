/*
 * The blocks of GIF89a. Each frame has a palette of its own (gif_palette.h), so that frames need
 * not be kept until all colours are known.
 */
#include "cli/play/gif_writer.h"

#include <stdbool.h>
#include <string.h>

#include "cli/play/gif_lzw.h"
#include "cli/play/gif_palette.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

struct aq_gif {
    aq_buffer bytes;
    uint32_t width, height;
    uint16_t delay_cs;
    size_t delay_at; /* where the last frame's stands in `bytes` */
    bool has_frame;
    bool has_end;
    uint8_t *shown;   /* the last frame, (height, width, 3) */
    uint8_t *changed; /* the part of a frame that is stored */
    uint8_t *indices; /* of its pixels */
    aq_gif_palette palette;
};

/* A part of the picture; of at least one pixel. */
typedef struct part {
    uint32_t left, top, width, height;
} part;

static uint8_t low_byte(uint32_t number)
{
    return (uint8_t)(number & 0xff);
}

static uint8_t high_byte(uint32_t number)
{
    return (uint8_t)(number >> 8 & 0xff);
}

/* No palette for all frames; and the extension that every browser knows, to repeat for ever. */
static int put_header(aq_gif *gif)
{
    const uint8_t header[] = {'G',
                              'I',
                              'F',
                              '8',
                              '9',
                              'a',
                              low_byte(gif->width),
                              high_byte(gif->width),
                              low_byte(gif->height),
                              high_byte(gif->height),
                              0x70, /* eight bits a colour */
                              0,
                              0};
    static const uint8_t repeat[] = {0x21, 0xff, 11,  'N', 'E', 'T', 'S', 'C', 'A', 'P',
                                     'E',  '2',  '.', '0', 3,   1,   0,   0,   0};
    int rc = aq_buffer_append(&gif->bytes, header, sizeof(header));
    return rc != 0 ? rc : aq_buffer_append(&gif->bytes, repeat, sizeof(repeat));
}

int aq_gif_create(uint32_t width, uint32_t height, uint16_t delay_cs, aq_gif **ret_gif)
{
    AQ_ASSERT(width >= 1 && width <= AQ_GIF_SIDE_MAX);
    AQ_ASSERT(height >= 1 && height <= AQ_GIF_SIDE_MAX);
    const size_t pixels = (size_t)width * height;
    aq_gif *gif = aq_alloc(1, sizeof(*gif));
    if (gif == NULL) {
        return AQ_E_NOMEM;
    }
    aq_buffer_init(&gif->bytes, AQ_GIF_BYTES_MAX);
    gif->width = width;
    gif->height = height;
    gif->delay_cs = delay_cs;
    gif->shown = aq_alloc(pixels, 3);
    gif->changed = aq_alloc(pixels, 3);
    gif->indices = aq_alloc(pixels, 1);
    int rc = gif->shown != NULL && gif->changed != NULL && gif->indices != NULL ? put_header(gif)
                                                                                : AQ_E_NOMEM;
    if (rc != 0) {
        aq_gif_destroy(gif);
        return rc;
    }
    *ret_gif = gif;
    return 0;
}

void aq_gif_destroy(aq_gif *gif)
{
    if (gif == NULL) {
        return;
    }
    aq_buffer_fini(&gif->bytes);
    aq_free(gif->shown);
    aq_free(gif->changed);
    aq_free(gif->indices);
    aq_free(gif);
}

/* The smallest rectangle outside of which the frame is what is shown; one pixel when nothing has
 * changed, as a frame has to have some. */
static part find_change(const aq_gif *gif, const uint8_t *pixels)
{
    uint32_t left = gif->width, right = 0, top = gif->height, bottom = 0;
    if (!gif->has_frame) {
        return (part){0, 0, gif->width, gif->height};
    }
    for (uint32_t row = 0; row < gif->height; row++) {
        const size_t at = (size_t)row * gif->width * 3;
        if (memcmp(pixels + at, gif->shown + at, (size_t)gif->width * 3) == 0) {
            continue;
        }
        for (uint32_t column = 0; column < gif->width; column++) {
            if (memcmp(pixels + at + column * 3, gif->shown + at + column * 3, 3) != 0) {
                left = column < left ? column : left;
                right = column > right ? column : right;
            }
        }
        top = row < top ? row : top;
        bottom = row;
    }
    if (left > right) {
        return (part){0, 0, 1, 1};
    }
    return (part){left, top, right - left + 1, bottom - top + 1};
}

static void copy_part(const aq_gif *gif, const uint8_t *pixels, part where)
{
    uint8_t *out = gif->changed;
    for (uint32_t row = 0; row < where.height; row++) {
        const size_t at = ((size_t)(where.top + row) * gif->width + where.left) * 3;
        memcpy(out, pixels + at, (size_t)where.width * 3);
        out += (size_t)where.width * 3;
    }
}

/* The delay, where the frame lies, and its palette of 2^bits colours. */
static int put_frame_header(aq_gif *gif, part where, uint32_t bits)
{
    const uint8_t control[] = {0x21,
                               0xf9,
                               4,
                               1 << 2 /* what was shown stays */,
                               low_byte(gif->delay_cs),
                               high_byte(gif->delay_cs),
                               0,
                               0};
    const uint8_t descriptor[] = {0x2c,
                                  low_byte(where.left),
                                  high_byte(where.left),
                                  low_byte(where.top),
                                  high_byte(where.top),
                                  low_byte(where.width),
                                  high_byte(where.width),
                                  low_byte(where.height),
                                  high_byte(where.height),
                                  (uint8_t)(0x80 | (bits - 1))};
    gif->delay_at = gif->bytes.size + 4;
    int rc = aq_buffer_append(&gif->bytes, control, sizeof(control));
    rc = rc != 0 ? rc : aq_buffer_append(&gif->bytes, descriptor, sizeof(descriptor));
    return rc != 0 ? rc : aq_buffer_append(&gif->bytes, gif->palette.colours, (size_t)3 << bits);
}

int aq_gif_add(aq_gif *gif, const uint8_t *pixels)
{
    AQ_ASSERT(!gif->has_end);
    const part where = find_change(gif, pixels);
    const size_t count = (size_t)where.width * where.height;
    uint32_t bits = AQ_GIF_BITS_MIN;
    copy_part(gif, pixels, where);
    aq_gif_palette_make(&gif->palette, gif->changed, count, gif->indices);
    while (gif->palette.count > 1U << bits) {
        bits++;
    }
    int rc = put_frame_header(gif, where, bits);
    rc = rc != 0 ? rc : aq_gif_lzw(gif->indices, count, bits, &gif->bytes);
    if (rc != 0) {
        return rc;
    }
    memcpy(gif->shown, pixels, (size_t)gif->width * gif->height * 3);
    gif->has_frame = true;
    return 0;
}

void aq_gif_hold(aq_gif *gif, uint16_t more_cs)
{
    AQ_ASSERT(gif->has_frame);
    AQ_ASSERT(!gif->has_end);
    const uint32_t delay_cs = gif->delay_cs + (uint32_t)more_cs;
    AQ_ASSERT(delay_cs <= UINT16_MAX);
    gif->bytes.data[gif->delay_at] = low_byte(delay_cs);
    gif->bytes.data[gif->delay_at + 1] = high_byte(delay_cs);
}

int aq_gif_end(aq_gif *gif, const aq_buffer **ret_bytes)
{
    static const uint8_t trailer = 0x3b;
    AQ_ASSERT(gif->has_frame);
    AQ_ASSERT(!gif->has_end);
    int rc = aq_buffer_append(&gif->bytes, &trailer, 1);
    if (rc != 0) {
        return rc;
    }
    gif->has_end = true;
    *ret_bytes = &gif->bytes;
    return 0;
}
