/*
 * Fuzz target: one decoder, or one service, that is given any bytes. It answers each input by
 * coming back: whatever a peer or a damaged file can do wrong is an error of theirs, and what is
 * wrong with us is an assertion or a sanitizer's report.
 *
 * A target is linked with libFuzzer, which makes up inputs (run_fuzz.sh), or with
 * fuzz_seeds_main.c, which goes through those that are kept (./test unit).
 */
#ifndef AQ_TESTS_FUZZ_FUZZ_TARGET_H
#define AQ_TESTS_FUZZ_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* The interface of libFuzzer. Returns 0. One thread. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a byte of an input chooses out of `count`: '0' is the first, so that people can write it. */
static inline size_t fuzz_choice(uint8_t byte, size_t count)
{
    return (uint8_t)(byte - '0') % count;
}

#endif
