/*
 * vector_instruction sse42|avx2|avx512: executes one instruction of that set without asking whether
 * the processor has it. What a test learns from this is whether an emulator refuses what the
 * processor that it plays lacks; without that, nothing that runs there would prove anything.
 */
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

/* volatile: the compiler must not compute the result itself. */
static volatile int input = 3;

__attribute__((target("sse4.2"))) static int run_sse42(void)
{
    return (int)_mm_crc32_u32(0, (unsigned)input);
}

__attribute__((target("avx2"))) static int run_avx2(void)
{
    const __m256i vector = _mm256_set1_epi32(input);
    return _mm256_extract_epi32(_mm256_mullo_epi32(vector, vector), 7);
}

__attribute__((target("avx512f"))) static int run_avx512(void)
{
    const __m512i vector = _mm512_set1_epi32(input);
    return _mm512_reduce_add_epi32(_mm512_mullo_epi32(vector, vector));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } sets[] = {{"sse42", run_sse42}, {"avx2", run_avx2}, {"avx512", run_avx512}};

    for (size_t i = 0; argc == 2 && i < sizeof(sets) / sizeof(sets[0]); i++) {
        if (strcmp(argv[1], sets[i].name) == 0) {
            printf("%d\n", sets[i].run());
            return 0;
        }
    }
    return 2;
}
