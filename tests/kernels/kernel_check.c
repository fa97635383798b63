/*
 * The checker's memory and its counting.
 */
#include "tests/kernels/kernel_check.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

enum { FAILURES_PRINTED_MAX = 10 };

void kernel_check_case(kernel_check *check, bool good, const char *detail, ...)
{
    check->cases++;
    if (good) {
        return;
    }
    check->failures++;
    if (check->planted || check->failures > FAILURES_PRINTED_MAX) {
        return;
    }
    va_list args;
    va_start(args, detail);
    fprintf(stderr, "FAILED %s: ", check->rung->name);
    vfprintf(stderr, detail, args);
    fputc('\n', stderr);
    va_end(args);
}

bool kernel_check_is_over(const kernel_check *check)
{
    return check->planted && check->failures > 0;
}

void *guarded_input(unsigned slot, size_t bytes)
{
    static unsigned char *slots[GUARDED_SLOTS];
    AQ_ASSERT(slot < GUARDED_SLOTS);
    AQ_ASSERT(bytes <= GUARDED_BYTES_MAX);
    if (slots[slot] == NULL) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        const int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
        AQ_ASSERT(zero >= 0);
        void *block =
            mmap(NULL, GUARDED_BYTES_MAX + page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
        AQ_ASSERT(block != MAP_FAILED);
        close(zero);
        slots[slot] = block;
        const int rc = mprotect(slots[slot] + GUARDED_BYTES_MAX, page, PROT_NONE);
        AQ_ASSERT(rc == 0);
    }
    return slots[slot] + GUARDED_BYTES_MAX - bytes;
}

void output_pair_init(output_pair *pair, size_t bytes, size_t misaligned)
{
    const size_t whole = OUTPUT_MARGIN + misaligned + bytes + OUTPUT_MARGIN;
    *pair = (output_pair){.bytes = bytes};
    for (int i = 0; i < 2; i++) {
        pair->block[i] = must_alloc(1, whole);
        memset(pair->block[i], OUTPUT_POISON, whole);
    }
    pair->expected = pair->block[0] + OUTPUT_MARGIN + misaligned;
    pair->got = pair->block[1] + OUTPUT_MARGIN + misaligned;
}

void output_pair_fini(output_pair *pair)
{
    aq_free(pair->block[0]);
    aq_free(pair->block[1]);
}

static bool is_poison(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != OUTPUT_POISON) {
            return false;
        }
    }
    return true;
}

bool output_pair_margins_hold(const output_pair *pair)
{
    return is_poison(pair->expected - OUTPUT_MARGIN, OUTPUT_MARGIN) &&
           is_poison(pair->expected + pair->bytes, OUTPUT_MARGIN) &&
           is_poison(pair->got - OUTPUT_MARGIN, OUTPUT_MARGIN) &&
           is_poison(pair->got + pair->bytes, OUTPUT_MARGIN);
}

float random_scaled(aq_rng *rng, int low, int high)
{
    const double sign = aq_rng_below(rng, 2) == 0 ? 1.0 : -1.0;
    return (float)(sign * exp2(aq_rng_range(rng, low, high)));
}
