/*
 * Stream: an input as a row of steps, for targets that keep something between one message and the
 * next. A step is a byte that says what is done, two bytes that say with how many bytes
 * (little-endian, cut at the end of the input), and those bytes.
 */
#ifndef AQ_TESTS_FUZZ_FUZZ_STREAM_H
#define AQ_TESTS_FUZZ_FUZZ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_STREAM_STEPS_MAX = 64, FUZZ_STREAM_HEADER_BYTES = 3 };

/* What a step does: fuzz_choice of its first byte. */
enum fuzz_step_kind {
    FUZZ_STEP_REQUEST,    /* the payload of an RPC request, whose frame is right */
    FUZZ_STEP_EXPERIENCE, /* the payload of an experience message, whose frame is right */
    FUZZ_STEP_BYTES,      /* what comes instead of a request's frame */
    FUZZ_STEP_TIME,       /* so many milliseconds pass: the first two bytes */
    FUZZ_STEP_KINDS
};

typedef struct fuzz_stream {
    const uint8_t *bytes;
    size_t left;
    size_t steps;
} fuzz_stream;

typedef struct fuzz_step {
    enum fuzz_step_kind kind;
    const uint8_t *bytes; /* [size] */
    size_t size;
} fuzz_step;

/* False at the end, and after FUZZ_STREAM_STEPS_MAX steps. */
bool fuzz_stream_next(fuzz_stream *stream, fuzz_step *ret_step);

/* Of FUZZ_STEP_TIME. */
int64_t fuzz_step_ms(const fuzz_step *step);

#endif
