/*
 * A contact sheet keeps pictures that are evenly spaced over a run of any length, and its PNG is
 * what libpng reads back.
 */
#include <png.h>

#include "cli/play/contact_sheet.h"
#include "tests/support/test.h"

enum { WIDTH = 8, HEIGHT = 6, BYTES = WIDTH * HEIGHT * 3, GAP = 2 };

TEST_ENDING(end_sheet, aq_sheet_destroy);

/* A sheet of a run of `count` pictures; picture i has all bytes i % 251. */
static aq_sheet *make(uint32_t count)
{
    uint8_t picture[BYTES];
    aq_sheet *sheet = NULL;
    assert_int_equal(aq_sheet_create(WIDTH, HEIGHT, &sheet), 0);
    at_end(end_sheet, sheet);
    for (uint32_t i = 0; i < count; i++) {
        memset(picture, (int)(i % 251), sizeof(picture));
        aq_sheet_add(sheet, picture);
    }
    return sheet;
}

TEST(a_short_run_is_kept_whole)
{
    aq_sheet *sheet = make(AQ_SHEET_PICTURES_MAX);
    assert_int_equal(aq_sheet_count(sheet), AQ_SHEET_PICTURES_MAX);
    for (uint32_t i = 0; i < AQ_SHEET_PICTURES_MAX; i++) {
        assert_int_equal(aq_sheet_picture(sheet, i)[0], i);
        assert_int_equal(aq_sheet_picture(sheet, i)[BYTES - 1], i);
    }
}

TEST(a_long_run_is_kept_in_even_steps_from_the_start)
{
    for (uint32_t count = AQ_SHEET_PICTURES_MAX + 1; count < 1000; count++) {
        aq_sheet *sheet = make(count);
        const uint32_t kept = aq_sheet_count(sheet);
        const uint32_t stride = aq_sheet_picture(sheet, 1)[0];
        assert_in_range(kept, AQ_SHEET_PICTURES_MAX / 2, AQ_SHEET_PICTURES_MAX);
        assert_int_equal(stride & (stride - 1), 0);
        for (uint32_t i = 0; i < kept; i++) {
            assert_int_equal(aq_sheet_picture(sheet, i)[0], i * stride % 251);
        }
        assert_in_range(count - 1 - (kept - 1) * stride, 0, stride - 1); /* up to the end */
    }
}

/* Reads the sheet's PNG back into pixels of (height, width, 3). */
static png_image read_png(const aq_sheet *sheet, uint8_t *pixels, size_t size)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    aq_buffer *bytes = buffer_up_to(1 << 20);
    assert_int_equal(aq_sheet_png(sheet, bytes), 0);
    assert_true(png_image_begin_read_from_memory(&image, bytes->data, bytes->size));
    image.format = PNG_FORMAT_RGB;
    assert_true(PNG_IMAGE_SIZE(image) <= size);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    return image;
}

TEST(a_png_has_the_pictures_in_rows_of_six)
{
    uint8_t pixels[65536];
    aq_sheet *sheet = make(8);
    const png_image image = read_png(sheet, pixels, sizeof(pixels));
    assert_int_equal(image.width, 6 * (WIDTH + GAP) - GAP);
    assert_int_equal(image.height, 2 * (HEIGHT + GAP) - GAP);
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t top = i / 6 * (HEIGHT + GAP), left = i % 6 * (WIDTH + GAP);
        for (uint32_t row = top; row < top + HEIGHT; row++) {
            for (uint32_t k = left * 3; k < (left + WIDTH) * 3; k++) {
                assert_int_equal(pixels[row * image.width * 3 + k], i);
            }
        }
    }
}

TEST(a_png_of_one_picture_is_that_picture)
{
    uint8_t pixels[65536];
    aq_sheet *sheet = make(1);
    const png_image image = read_png(sheet, pixels, sizeof(pixels));
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    aq_sheet_destroy(NULL);
}

TEST(without_memory_there_is_neither_sheet_nor_png)
{
    aq_sheet *sheet;
    assert_made_despite_failures(sheet, aq_sheet_create(WIDTH, HEIGHT, &sheet));
    aq_sheet_destroy(sheet);
    sheet = make(3);
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        aq_buffer bytes;
        aq_buffer_init(&bytes, 1 << 20);
        rc = aq_sheet_png(sheet, &bytes);
        assert_true((bytes.size > 0) == (rc == 0));
        aq_buffer_fini(&bytes);
    }
}
