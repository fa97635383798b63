/*
 * A start without an operating system's library, for the harness on Arm: the code is a
 * microcontroller's, and the three calls that it cannot do without are Linux's, which QEMU answers.
 */
#include <stddef.h>
#include <sys/types.h>

int main(void);
_Noreturn void _start(void);
ssize_t read(int file, void *bytes, size_t size);
ssize_t write(int file, const void *bytes, size_t size);

enum { CALL_EXIT = 1, CALL_READ = 3, CALL_WRITE = 4 };

static long call(long number, long first, long second, long third)
{
    register long r7 __asm__("r7") = number;
    register long r0 __asm__("r0") = first;
    register long r1 __asm__("r1") = second;
    register long r2 __asm__("r2") = third;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
    return r0;
}

ssize_t read(int file, void *bytes, size_t size)
{
    return call(CALL_READ, file, (long)bytes, (long)size);
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return call(CALL_WRITE, file, (long)bytes, (long)size);
}

void _start(void)
{
    const int status = main();
    for (;;) {
        (void)call(CALL_EXIT, status, 0, 0);
    }
}
