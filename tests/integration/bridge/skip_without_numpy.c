/*
 * Stands for a test that needs a Python with NumPy where there is none: Meson shows it as skipped.
 */
#include <stdio.h>

enum { SKIPPED = 77 };

int main(void)
{
    puts("no Python with NumPy (Debian's package is python3-numpy)");
    return SKIPPED;
}
