/*
 * The cursor is moved up over the last picture and never hidden, and every line gives the
 * terminal's colours back: there is nothing to restore when the program is interrupted.
 */
#include "cli/play/play_screen.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"

enum {
    TEXT_BYTES_MAX = 16 << 20,
    LINE_BYTES = 160,
    COLUMNS_DEFAULT = 80,
    LINES_DEFAULT = 24,
    LINES_BESIDE = 3, /* the caption, and the prompt that comes after */
    SIDE_MIN = 10,
    SIDE_MAX = 120, /* more is slow on most terminals */
};

void aq_play_screen_init(aq_play_screen *screen, uint32_t pictures_per_second)
{
    *screen = (aq_play_screen){
        .is_terminal = isatty(STDOUT_FILENO),
        .colours = aq_terminal_colours_of_output(),
        .period_ns = AQ_NS_PER_S / pictures_per_second,
    };
    aq_buffer_init(&screen->text, TEXT_BYTES_MAX);
}

void aq_play_screen_fini(aq_play_screen *screen)
{
    aq_buffer_fini(&screen->text);
}

/* The largest multiple of `cells` up to `side`, or `side` when not even one fits or there are none.
 */
static uint32_t fit_cells(uint32_t side, uint32_t cells)
{
    return cells > 0 && cells <= side ? side - side % cells : side;
}

void aq_play_screen_size(uint32_t rows, uint32_t columns, uint32_t *ret_width, uint32_t *ret_height)
{
    uint32_t width = COLUMNS_DEFAULT, lines = LINES_DEFAULT;
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
        width = window.ws_col;
        lines = window.ws_row;
    }
    const uint32_t height = lines > LINES_BESIDE ? 2 * (lines - LINES_BESIDE) : 0;
    uint32_t side = width < height ? width : height;
    side = side < SIDE_MIN ? SIDE_MIN : side > SIDE_MAX ? SIDE_MAX : side;
    *ret_width = fit_cells(side, columns);
    *ret_height = fit_cells(side, rows);
}

static int put(aq_buffer *text, const char *line)
{
    return aq_buffer_append(text, line, strlen(line));
}

/* The lines of a text, each over what stood there before, and how many. */
static int put_lines(aq_play_screen *screen, const char *lines, uint32_t *ret_count)
{
    int rc = 0;
    *ret_count = 0;
    while (rc == 0 && *lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        rc = aq_buffer_append(&screen->text, lines, length);
        rc = rc != 0 ? rc : put(&screen->text, screen->is_terminal ? "\x1b[0m\x1b[K\n" : "\n");
        lines += length + (lines[length] == '\n');
        *ret_count += 1;
    }
    return rc;
}

static int compose(aq_play_screen *screen, const aq_canvas *canvas, const char *words,
                   const char *caption)
{
    char line[LINE_BYTES];
    aq_buffer *text = &screen->text;
    int rc = 0;
    aq_buffer_clear(text);
    if (screen->is_terminal && screen->lines > 0) {
        rc = aq_text_format(line, sizeof(line), "\r\x1b[%uA", screen->lines);
        rc = rc != 0 ? rc : put(text, line);
    }
    uint32_t lines = (canvas->height + 1) / 2;
    if (rc == 0) {
        rc = words != NULL ? put_lines(screen, words, &lines)
                           : aq_terminal_picture(canvas, screen->colours, text);
    }
    rc = rc != 0 ? rc : put(text, caption);
    rc = rc != 0 ? rc : put(text, screen->is_terminal ? "\x1b[J\n" : "\n\n");
    screen->lines = lines + 1;
    return rc;
}

int aq_play_screen_show(aq_play_screen *screen, const aq_canvas *canvas, const char *text,
                        const char *caption, aq_error *error)
{
    int rc = compose(screen, canvas, text, caption);
    if (rc != 0) {
        return aq_fail(error, rc, "the picture: %s", aq_error_text(rc));
    }
    if (screen->is_terminal) {
        const int64_t now_ns = aq_clock_monotonic_ns();
        aq_clock_wait_until(screen->due_ns);
        screen->due_ns = (screen->due_ns > now_ns ? screen->due_ns : now_ns) + screen->period_ns;
    }
    if (fwrite(screen->text.data, 1, screen->text.size, stdout) != screen->text.size ||
        fflush(stdout) == EOF) {
        return aq_fail(error, AQ_E_IO, "the picture could not be written");
    }
    return 0;
}
