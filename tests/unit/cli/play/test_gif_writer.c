/*
 * What the GIF writer makes is read back, pixel by pixel, by a reader of its own.
 */
#include "cli/play/gif_writer.h"
#include "tests/support/test.h"
#include "tests/unit/cli/gif_reader.h"

enum { PIXELS_MAX = GIF_SIDE_MAX * GIF_SIDE_MAX * 3 };

static uint8_t picture[PIXELS_MAX];
static gif_reader reader;

TEST_ENDING(end_gif, aq_gif_destroy);

static aq_gif *make(uint32_t width, uint32_t height)
{
    aq_gif *gif = NULL;
    assert_int_equal(aq_gif_create(width, height, 4, &gif), 0);
    at_end(end_gif, gif);
    return gif;
}

static void open_reader(aq_gif *gif)
{
    const aq_buffer *bytes;
    assert_int_equal(aq_gif_end(gif, &bytes), 0);
    gif_reader_open(&reader, bytes->data, bytes->size);
}

/* Every pixel is one of `colours` colours, drawn at random. */
static void fill_noise(aq_rng *rng, size_t pixels, uint32_t colours)
{
    for (size_t i = 0; i < pixels; i++) {
        const uint32_t colour = (uint32_t)aq_rng_below(rng, colours) * 7919;
        picture[i * 3] = (uint8_t)colour;
        picture[i * 3 + 1] = (uint8_t)(colour >> 8);
        picture[i * 3 + 2] = (uint8_t)(colour >> 16);
    }
}

static int largest_error(size_t pixels)
{
    int worst = 0;
    for (size_t i = 0; i < pixels * 3; i++) {
        const int error = abs(reader.pixels[i] - picture[i]);
        worst = error > worst ? error : worst;
    }
    return worst;
}

static void assert_one_frame_reads_back(uint32_t width, uint32_t height, int error_max)
{
    aq_gif *gif = make(width, height);
    assert_int_equal(aq_gif_add(gif, picture), 0);
    open_reader(gif);
    assert_true(gif_reader_next(&reader));
    assert_int_equal(reader.width, width);
    assert_int_equal(reader.height, height);
    assert_in_range(largest_error((size_t)width * height), 0, error_max);
    assert_false(gif_reader_next(&reader));
}

TEST(few_colours_read_back_as_they_were_at_any_size)
{
    static const uint32_t colours[] = {1, 2, 3, 4, 5, 16, 17, 128, 200, 256};
    static const uint32_t sides[] = {1, 2, 3, 17, 64, 100, 256};
    aq_rng rng = rng_of(1, 0);
    for (size_t c = 0; c < sizeof(colours) / sizeof(colours[0]); c++) {
        for (size_t s = 0; s < sizeof(sides) / sizeof(sides[0]); s++) {
            fill_noise(&rng, (size_t)sides[s] * 31, colours[c]);
            assert_one_frame_reads_back(sides[s], 31, 0);
        }
    }
}

/* The table of codes fills up, and the widths of codes change, at another pixel for each size. */
TEST(flat_pictures_of_every_length_read_back)
{
    memset(picture, 77, sizeof(picture));
    for (uint32_t width = 1; width <= 256; width++) {
        assert_one_frame_reads_back(width, width, 0);
        assert_one_frame_reads_back(width, 1, 0);
    }
}

TEST(patterns_of_every_length_read_back)
{
    aq_rng rng = rng_of(2, 0);
    fill_noise(&rng, (size_t)GIF_SIDE_MAX * 40, 9);
    for (uint32_t width = 1; width <= 256; width++) {
        assert_one_frame_reads_back(width, 40, 0);
    }
}

TEST(many_colours_lose_their_low_bits_alone)
{
    for (uint32_t i = 0; i < 64 * 64; i++) { /* 4096 colours that lie close */
        picture[i * 3] = (uint8_t)(100 + i / 64 % 16);
        picture[i * 3 + 1] = (uint8_t)(100 + i % 64 % 16);
        picture[i * 3 + 2] = (uint8_t)(100 + i % 16);
    }
    assert_one_frame_reads_back(64, 64, 1);
    aq_rng rng = rng_of(3, 0);
    for (size_t i = 0; i < PIXELS_MAX; i++) {
        picture[i] = (uint8_t)aq_rng_next(&rng);
    }
    assert_one_frame_reads_back(256, 256, 63); /* any colour at all */
}

TEST(frames_follow_each_other_and_repeat)
{
    enum { FRAMES = 30, WIDTH = 60, HEIGHT = 40 };
    static uint8_t shown[FRAMES][WIDTH * HEIGHT * 3];
    aq_gif *gif = make(WIDTH, HEIGHT);
    aq_rng rng = rng_of(4, 0);
    memset(picture, 0, sizeof(picture));
    for (int i = 0; i < FRAMES; i++) { /* a few more pixels change from frame to frame */
        for (int k = 0; k < i; k++) {
            picture[aq_rng_below(&rng, WIDTH * HEIGHT * 3)] = (uint8_t)(8 * i);
        }
        memcpy(shown[i], picture, sizeof(shown[i]));
        assert_int_equal(aq_gif_add(gif, picture), 0);
    }
    open_reader(gif);
    for (int i = 0; i < FRAMES; i++) {
        assert_true(gif_reader_next(&reader));
        assert_memory_equal(reader.pixels, shown[i], sizeof(shown[i]));
        assert_int_equal(reader.delay_cs, 4);
    }
    assert_false(gif_reader_next(&reader));
    assert_true(reader.repeats);
}

TEST(only_what_changed_is_stored)
{
    aq_gif *gif = make(100, 50);
    memset(picture, 10, sizeof(picture));
    assert_int_equal(aq_gif_add(gif, picture), 0);
    picture[(20 * 100 + 30) * 3] = 200;
    picture[(24 * 100 + 25) * 3 + 2] = 200;
    assert_int_equal(aq_gif_add(gif, picture), 0);
    assert_int_equal(aq_gif_add(gif, picture), 0);
    open_reader(gif);
    assert_true(gif_reader_next(&reader));
    assert_int_equal(reader.frame_width, 100);
    assert_int_equal(reader.frame_height, 50);
    assert_true(gif_reader_next(&reader));
    assert_int_equal(reader.left, 25);
    assert_int_equal(reader.top, 20);
    assert_int_equal(reader.frame_width, 6);
    assert_int_equal(reader.frame_height, 5);
    assert_true(gif_reader_next(&reader)); /* nothing: a frame has one pixel at least */
    assert_int_equal(reader.frame_width, 1);
    assert_int_equal(reader.frame_height, 1);
    assert_memory_equal(reader.pixels, picture, 100 * 50 * 3);
}

TEST(the_frame_that_was_added_last_can_stay_longer)
{
    static const uint32_t delays[] = {4, 304, 4};
    aq_gif *gif = make(20, 20);
    EACH_ROW(i, delays) {
        assert_int_equal(aq_gif_add(gif, picture), 0);
        if (i == 1) {
            aq_gif_hold(gif, 300);
        }
    }
    open_reader(gif);
    EACH_ROW(i, delays) {
        assert_true(gif_reader_next(&reader));
        assert_int_equal(reader.delay_cs, delays[i]);
    }
}

TEST(a_writer_without_memory_is_not_made)
{
    aq_gif *gif;
    assert_made_despite_failures(gif, aq_gif_create(20, 20, 2, &gif));
    aq_gif_destroy(gif);
}

TEST(a_frame_without_memory_is_refused)
{
    aq_rng rng = rng_of(5, 0);
    fill_noise(&rng, 10000, 256);
    aq_gif *gif = make(100, 100);
    aq_memory_fail_at(1, 1);
    assert_int_equal(aq_gif_add(gif, picture), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    aq_gif_destroy(NULL);
}
