/*
 * vector_instruction sse42|avx2|avx512: executes one instruction of that set without asking whether
 * the processor has it. What a test learns from this is whether an emulator refuses what the
 * processor that it plays lacks; without that, nothing that runs there would prove anything.
 */
#include <stddef.h>
#include <string.h>

static void run_sse42(void)
{
    __asm__ volatile("pcmpgtq %%xmm0, %%xmm0" ::: "xmm0");
}

static void run_avx2(void)
{
    __asm__ volatile("vpaddd %%ymm0, %%ymm0, %%ymm0" ::: "xmm0");
}

static void run_avx512(void)
{
    __asm__ volatile("vpaddd %%zmm0, %%zmm0, %%zmm0" ::: "xmm0");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } sets[] = {{"sse42", run_sse42}, {"avx2", run_avx2}, {"avx512", run_avx512}};

    for (size_t i = 0; argc == 2 && i < sizeof(sets) / sizeof(sets[0]); i++) {
        if (strcmp(argv[1], sets[i].name) == 0) {
            sets[i].run();
            return 0;
        }
    }
    return 2;
}
