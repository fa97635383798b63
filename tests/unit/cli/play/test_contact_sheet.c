/*
 * A contact sheet keeps pictures that are evenly spaced over a run of any length, and its PNG is
 * what libpng reads back.
 */
#include <png.h>

#include "cli/play/contact_sheet.h"
#include "tests/support/test.h"

enum { WIDTH = 8, HEIGHT = 6, BYTES = WIDTH * HEIGHT * 3, GAP = 2, MARK = 255 };

TEST_ENDING(end_sheet, aq_sheet_destroy);

/* A sheet of a run of `count` pictures; the pixels of picture i are its number and MARK. */
static aq_sheet *make(uint32_t count)
{
    uint8_t picture[BYTES];
    aq_sheet *sheet = NULL;
    assert_int_equal(aq_sheet_create(WIDTH, HEIGHT, &sheet), 0);
    at_end(end_sheet, sheet);
    for (uint32_t i = 0; i < count; i++) {
        for (size_t at = 0; at < sizeof(picture); at += 3) {
            picture[at] = (uint8_t)i;
            picture[at + 1] = (uint8_t)(i >> 8);
            picture[at + 2] = MARK;
        }
        aq_sheet_add(sheet, picture);
    }
    return sheet;
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

/* The numbers of the pictures that its PNG has, in rows of six, and how many they are. */
static uint32_t read_numbers(const aq_sheet *sheet, uint32_t ret_numbers[AQ_SHEET_PICTURES_MAX])
{
    uint8_t pixels[65536];
    const png_image image = read_png(sheet, pixels, sizeof(pixels));
    uint32_t count = 0;
    for (uint32_t top = 0; top < image.height; top += HEIGHT + GAP) {
        for (uint32_t left = 0; left < image.width; left += WIDTH + GAP) {
            const uint8_t *first = &pixels[(top * image.width + left) * 3];
            if (first[2] != MARK) { /* the last row is not full */
                return count;
            }
            for (uint32_t row = top; row < top + HEIGHT; row++) {
                for (uint32_t column = left; column < left + WIDTH; column++) {
                    assert_memory_equal(&pixels[(row * image.width + column) * 3], first, 3);
                }
            }
            assert_in_range(count, 0, AQ_SHEET_PICTURES_MAX - 1);
            ret_numbers[count++] = first[0] + 256U * first[1];
        }
    }
    return count;
}

TEST(a_short_run_is_kept_whole)
{
    uint32_t numbers[AQ_SHEET_PICTURES_MAX];
    for (uint32_t count = 1; count <= AQ_SHEET_PICTURES_MAX; count++) {
        assert_int_equal(read_numbers(make(count), numbers), count);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(numbers[i], i);
        }
    }
}

TEST(a_long_run_is_kept_in_even_steps_from_the_start)
{
    uint32_t numbers[AQ_SHEET_PICTURES_MAX];
    for (uint32_t count = AQ_SHEET_PICTURES_MAX + 1; count < 1000; count++) {
        const uint32_t kept = read_numbers(make(count), numbers), stride = numbers[1];
        assert_in_range(kept, AQ_SHEET_PICTURES_MAX / 2, AQ_SHEET_PICTURES_MAX);
        assert_int_equal(stride & (stride - 1), 0);
        for (uint32_t i = 0; i < kept; i++) {
            assert_int_equal(numbers[i], i * stride);
        }
        assert_in_range(count - 1 - (kept - 1) * stride, 0, stride - 1); /* up to the end */
    }
}

TEST(a_png_is_as_large_as_its_pictures_and_the_gaps)
{
    uint8_t pixels[65536];
    const png_image image = read_png(make(8), pixels, sizeof(pixels));
    assert_int_equal(image.width, 6 * (WIDTH + GAP) - GAP);
    assert_int_equal(image.height, 2 * (HEIGHT + GAP) - GAP);
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
