/*
 * Seeds: messages and files of ours, written where the fuzz targets look for them, in the form that
 * each target takes. What cannot be written ends the program.
 */
#ifndef AQ_TESTS_FUZZ_FUZZ_SEED_H
#define AQ_TESTS_FUZZ_FUZZ_SEED_H

#include <protobuf-c/protobuf-c.h>

#include "common/base/buffer.h"
#include "tests/fuzz/fuzz_stream.h"

enum { FUZZ_SEED_BYTES_MAX = 1 << 20 };

/* The folder with a folder for each target. */
void fuzz_seed_at(const char *root);

/* ROOT/TARGET/TARGET_NAME.bin. */
void fuzz_seed_write(const char *target, const char *name, const aq_buffer *bytes);

void fuzz_seed_put(aq_buffer *out, const void *bytes, size_t size);
void fuzz_seed_put_message(aq_buffer *out, const ProtobufCMessage *message);

/* A step of a stream. */
void fuzz_seed_put_step(aq_buffer *out, enum fuzz_step_kind kind, const void *bytes, size_t size);
void fuzz_seed_put_wait(aq_buffer *out, uint16_t ms);

/* A call as a step: "actorq.v1.Flow/Credit". Request ids count from 1. */
void fuzz_seed_put_call(aq_buffer *out, const char *method, const ProtobufCMessage *request);

/* Calls, replies and the experience between them: fuzz_seeds_calls.c. */
void fuzz_seeds_make_calls(void);

#endif
