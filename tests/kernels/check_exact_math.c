/*
 * The exact functions give here what they gave where these hashes were taken (x86-64, GCC 12).
 */
#include <string.h>

#include "common/base/exact_math.h"
#include "common/base/fnv1a.h"
#include "common/base/rng.h"
#include "tests/kernels/kernel_check.h"

enum { DRAWS = 20000 };

static uint64_t hash_double(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return aq_fnv1a_word(aq_fnv1a_word(hash, (uint32_t)bits), (uint32_t)(bits >> 32));
}

/* Half of the draws fall into the middle thousandth. */
static uint64_t hash_of(double (*function)(double x), double low, double high)
{
    uint64_t hash = AQ_FNV1A_START;
    aq_rng rng;
    aq_rng_init(&rng, 1, 0);
    for (int draw = 0; draw < DRAWS; draw++) {
        const double scale = draw % 2 == 0 ? 1.0 : 1e-3;
        hash = hash_double(hash, function(scale * (low + (high - low) * aq_rng_uniform(&rng))));
    }
    return hash;
}

static uint64_t hash_of_normals(void)
{
    uint64_t hash = AQ_FNV1A_START;
    aq_rng rng;
    aq_rng_init(&rng, 2, 0);
    for (int draw = 0; draw < DRAWS; draw++) {
        const uint64_t bits = aq_rng_next(&rng);
        hash = hash_double(hash, aq_exact_normal(bits, aq_rng_next(&rng)));
    }
    return hash;
}

void check_exact_math(kernel_check *check)
{
    const struct {
        const char *name;
        uint64_t hash, expected;
    } functions[] = {
        {"exp", hash_of(aq_exact_exp, -750.0, 711.0), UINT64_C(0x1ea2d5e93c1cedba)},
        {"log", hash_of(aq_exact_log, 0.0, 1e3), UINT64_C(0x1a42066da38da5db)},
        {"tanh", hash_of(aq_exact_tanh, -21.0, 21.0), UINT64_C(0x3fd8624754ce5bda)},
        {"softplus", hash_of(aq_exact_softplus, -750.0, 750.0), UINT64_C(0xa405caced33681f8)},
        {"normal", hash_of_normals(), UINT64_C(0xcd0f9dfd40752831)},
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        kernel_check_case(check, functions[i].hash == functions[i].expected, "%s: %#llx",
                          functions[i].name, (unsigned long long)functions[i].hash);
    }
}
