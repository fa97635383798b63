/*
 * A picture as text: two pixels a character, in colours or without.
 */
#include "cli/play/terminal_picture.h"
#include "tests/support/test.h"

#define BLOCK "\xe2\x96\x80"

static void assert_text(const uint8_t *pixels, uint32_t width, uint32_t height,
                        enum aq_terminal_colours colours, const char *text)
{
    uint8_t copy[256];
    assert_true((size_t)width * height * 3 <= sizeof(copy));
    memcpy(copy, pixels, (size_t)width * height * 3);
    const aq_canvas canvas = {width, height, copy};
    aq_buffer *out = buffer_up_to(4096);
    assert_int_equal(aq_terminal_picture(&canvas, colours, out), 0);
    assert_int_equal(out->size, strlen(text));
    assert_memory_equal(out->data, text, out->size);
}

TEST(a_character_shows_two_pixels_in_colour)
{
    static const uint8_t pixels[] = {1, 2, 3, 200, 100, 50};
    assert_text(pixels, 1, 2, AQ_TERMINAL_24_BIT,
                "\x1b[38;2;1;2;3m\x1b[48;2;200;100;50m" BLOCK "\x1b[0m\n");
}

TEST(older_terminals_get_the_nearest_of_256)
{
    static const struct {
        uint8_t above[3], below[3];
        const char *text;
    } rows[] = {
        {{0, 0, 0}, {255, 255, 255}, "\x1b[38;5;16m\x1b[48;5;231m"},
        {{255, 0, 0}, {0, 95, 135}, "\x1b[38;5;196m\x1b[48;5;24m"},
        {{8, 8, 8}, {238, 238, 238}, "\x1b[38;5;232m\x1b[48;5;255m"},
        {{100, 101, 99}, {250, 205, 60}, "\x1b[38;5;241m\x1b[48;5;221m"},
    };
    char text[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t pixels[6];
        memcpy(pixels, rows[i].above, 3);
        memcpy(pixels + 3, rows[i].below, 3);
        (void)snprintf(text, sizeof(text), "%s%s", rows[i].text, BLOCK "\x1b[0m\n");
        assert_text(pixels, 1, 2, AQ_TERMINAL_256, text);
    }
}

TEST(a_colour_is_named_where_it_changes)
{
    static const uint8_t pixels[] = {1, 1, 1, 1, 1, 1, 9, 9, 9, 5, 5, 5, 5, 5, 5, 5, 5, 5};
    assert_text(pixels, 3, 2, AQ_TERMINAL_24_BIT,
                "\x1b[38;2;1;1;1m\x1b[48;2;5;5;5m" BLOCK BLOCK "\x1b[38;2;9;9;9m" BLOCK
                "\x1b[0m\n");
}

TEST(every_line_names_its_colours_anew)
{
    static const uint8_t pixels[4 * 3] = {0};
    assert_text(pixels, 1, 4, AQ_TERMINAL_24_BIT,
                "\x1b[38;2;0;0;0m\x1b[48;2;0;0;0m" BLOCK "\x1b[0m\n"
                "\x1b[38;2;0;0;0m\x1b[48;2;0;0;0m" BLOCK "\x1b[0m\n");
}

TEST(an_odd_last_row_stands_above_black)
{
    static const uint8_t pixels[] = {7, 7, 7};
    assert_text(pixels, 1, 1, AQ_TERMINAL_24_BIT,
                "\x1b[38;2;7;7;7m\x1b[48;2;0;0;0m" BLOCK "\x1b[0m\n");
}

TEST(without_colours_the_brighter_pixel_counts)
{
    static const uint8_t pixels[] = {0,   0,   0, 255, 255, 255, 0, 0, 0, 0,  255, 0,
                                     255, 255, 0, 0,   0,   0,   0, 0, 0, 26, 26,  26};
    assert_text(pixels, 4, 2, AQ_TERMINAL_PLAIN, "%@ +\n");
}

TEST(a_full_buffer_is_said)
{
    uint8_t pixels[12] = {0};
    const aq_canvas canvas = {2, 2, pixels};
    aq_buffer *small = buffer_up_to(20), *large = buffer_up_to(4096);
    assert_int_equal(aq_terminal_picture(&canvas, AQ_TERMINAL_24_BIT, small), AQ_E_TOO_BIG);
    aq_memory_fail_at(1, 1);
    assert_int_equal(aq_terminal_picture(&canvas, AQ_TERMINAL_PLAIN, large), AQ_E_NOMEM);
}
