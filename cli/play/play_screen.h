/*
 * Play screen: shows picture after picture on standard output at a steady pace. On a terminal each
 * is drawn over the one before, in the colours that it has; elsewhere they follow each other
 * in plain characters and without waiting. One thread.
 */
#ifndef AQ_CLI_PLAY_PLAY_SCREEN_H
#define AQ_CLI_PLAY_PLAY_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/play/terminal_picture.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "envs/canvas.h"

typedef struct aq_play_screen {
    bool is_terminal;
    enum aq_terminal_colours colours;
    int64_t period_ns; /* between two pictures */
    int64_t due_ns;    /* when the next one may be shown */
    uint32_t lines;    /* of the picture that stands there; 0: none does */
    aq_buffer text;
} aq_play_screen;

void aq_play_screen_init(aq_play_screen *screen, uint32_t pictures_per_second);
void aq_play_screen_fini(aq_play_screen *screen);

/* The size of a square picture, or one of that many cells, that fits the window. */
void aq_play_screen_size(uint32_t rows, uint32_t columns, uint32_t *ret_width,
                         uint32_t *ret_height);

/* Waits until it is time, and shows the picture, or `text` where it is not NULL, with a caption
 * below. AQ_E_NOMEM; AQ_E_IO when nobody reads. */
int aq_play_screen_show(aq_play_screen *screen, const aq_canvas *canvas, const char *text,
                        const char *caption, aq_error *error) AQ_MUST_USE;

#endif
