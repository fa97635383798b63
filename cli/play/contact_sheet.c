/*
 * Every `stride`-th picture is kept. When the places are full, every second one is given up and the
 * stride doubles, so that at most AQ_SHEET_PICTURES_MAX are ever in memory.
 */
#include "cli/play/contact_sheet.h"

#include <string.h>

#include "cli/play/png_picture.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

enum { GAP = 2 /* pixels between two pictures */, GAP_GREY = 96 };

struct aq_sheet {
    uint32_t width, height;
    size_t picture_bytes;
    uint64_t added;
    uint64_t stride;
    uint32_t count;
    uint8_t *pictures; /* (AQ_SHEET_PICTURES_MAX, height, width, 3) */
};

int aq_sheet_create(uint32_t width, uint32_t height, aq_sheet **ret_sheet)
{
    AQ_ASSERT(width >= 1 && width <= AQ_SHEET_SIDE_MAX);
    AQ_ASSERT(height >= 1 && height <= AQ_SHEET_SIDE_MAX);
    aq_sheet *sheet = aq_alloc(1, sizeof(*sheet));
    if (sheet == NULL) {
        return AQ_E_NOMEM;
    }
    sheet->width = width;
    sheet->height = height;
    sheet->picture_bytes = (size_t)width * height * 3;
    sheet->stride = 1;
    sheet->pictures = aq_alloc(AQ_SHEET_PICTURES_MAX, sheet->picture_bytes);
    if (sheet->pictures == NULL) {
        aq_sheet_destroy(sheet);
        return AQ_E_NOMEM;
    }
    *ret_sheet = sheet;
    return 0;
}

void aq_sheet_destroy(aq_sheet *sheet)
{
    if (sheet == NULL) {
        return;
    }
    aq_free(sheet->pictures);
    aq_free(sheet);
}

static uint8_t *place(const aq_sheet *sheet, uint32_t index)
{
    return sheet->pictures + index * sheet->picture_bytes;
}

/* Keeps the first, third, fifth ... of all. */
static void give_up_half(aq_sheet *sheet)
{
    for (uint32_t i = 1; i < AQ_SHEET_PICTURES_MAX / 2; i++) {
        memcpy(place(sheet, i), place(sheet, 2 * i), sheet->picture_bytes);
    }
    sheet->count = AQ_SHEET_PICTURES_MAX / 2;
    sheet->stride *= 2;
}

void aq_sheet_add(aq_sheet *sheet, const uint8_t *pixels)
{
    if (sheet->added % sheet->stride == 0 && sheet->count == AQ_SHEET_PICTURES_MAX) {
        give_up_half(sheet);
    }
    if (sheet->added % sheet->stride == 0) {
        memcpy(place(sheet, sheet->count), pixels, sheet->picture_bytes);
        sheet->count++;
    }
    sheet->added++;
}

static uint32_t columns_of(const aq_sheet *sheet)
{
    return sheet->count < AQ_SHEET_COLUMNS ? sheet->count : AQ_SHEET_COLUMNS;
}

static uint32_t rows_of(const aq_sheet *sheet)
{
    return (sheet->count + AQ_SHEET_COLUMNS - 1) / AQ_SHEET_COLUMNS;
}

/* All pictures in the large one, whose rows have `stride` bytes. */
static void lay_out(const aq_sheet *sheet, size_t stride, uint8_t *pixels)
{
    for (uint32_t i = 0; i < sheet->count; i++) {
        const size_t top = (size_t)(i / AQ_SHEET_COLUMNS) * (sheet->height + GAP);
        const size_t left = (size_t)(i % AQ_SHEET_COLUMNS) * (sheet->width + GAP);
        const size_t row_bytes = (size_t)sheet->width * 3;
        for (uint32_t row = 0; row < sheet->height; row++) {
            memcpy(pixels + (top + row) * stride + left * 3, place(sheet, i) + row * row_bytes,
                   row_bytes);
        }
    }
}

int aq_sheet_png(const aq_sheet *sheet, aq_buffer *out)
{
    AQ_ASSERT(sheet->count > 0);
    const uint32_t width = columns_of(sheet) * (sheet->width + GAP) - GAP;
    const uint32_t height = rows_of(sheet) * (sheet->height + GAP) - GAP;
    const size_t stride = (size_t)width * 3;
    uint8_t *pixels = aq_alloc_unset(height, stride);
    if (pixels == NULL) {
        return AQ_E_NOMEM;
    }
    memset(pixels, GAP_GREY, height * stride);
    lay_out(sheet, stride, pixels);
    int rc = aq_png_picture(width, height, pixels, out);
    aq_free(pixels);
    return rc;
}
