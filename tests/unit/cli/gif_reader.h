/*
 * GIF reader: takes an animation apart as a browser does, and fails the test at anything that
 * GIF89a does not allow.
 */
#ifndef AQ_TESTS_UNIT_CLI_GIF_READER_H
#define AQ_TESTS_UNIT_CLI_GIF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GIF_SIDE_MAX = 256 };

typedef struct gif_reader {
    const uint8_t *bytes;
    size_t size, at;
    uint32_t width, height;
    bool repeats;
    uint32_t delay_cs;                                   /* of the frame read last */
    uint32_t left, top, frame_width, frame_height;       /* likewise: the part that it stores */
    uint8_t pixels[GIF_SIDE_MAX * GIF_SIDE_MAX * 3];     /* what is shown now */
    uint8_t indices[GIF_SIDE_MAX * GIF_SIDE_MAX + 4096]; /* of the part */
} gif_reader;

void gif_reader_open(gif_reader *reader, const uint8_t *bytes, size_t size);

/* Reads and shows the next frame; false at the end, with nothing left behind it. */
bool gif_reader_next(gif_reader *reader);

#endif
