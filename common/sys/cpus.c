/*
 * Sets of processors: see cpus.h. The kernel's masks are bits; lists are what people write.
 */
#define _GNU_SOURCE /* sched_setaffinity */

#include "common/sys/cpus.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "common/base/parse.h"

_Static_assert(AQ_CPUS_MAX == CPU_SETSIZE, "a set of ours is one of the kernel's");

void aq_cpus_allowed(aq_cpus *ret_cpus)
{
    cpu_set_t mask;
    /* More processors than a mask has room for: then nobody is pinned, and all count. */
    const bool is_known = sched_getaffinity(0, sizeof(mask), &mask) == 0;
    for (int i = 0; i < AQ_CPUS_MAX; i++) {
        ret_cpus->has[i] = !is_known || CPU_ISSET(i, &mask);
    }
}

/* A number from 0 to AQ_CPUS_MAX - 1, or -1; `*at` moves past it. */
static long read_number(const char **at)
{
    long number = -1;
    for (; **at >= '0' && **at <= '9' && number < AQ_CPUS_MAX; (*at)++) {
        number = (number < 0 ? 0 : number * 10) + (**at - '0');
    }
    return number < AQ_CPUS_MAX ? number : -1;
}

int aq_cpus_read(const char *text, const aq_cpus *allowed, aq_cpus *ret_cpus, aq_error *error)
{
    aq_cpus cpus = {{false}};
    char own[AQ_CPUS_TEXT_MAX];
    const char *at = text;
    do {
        const long first = read_number(&at);
        long last = first;
        if (*at == '-') {
            at++;
            last = read_number(&at);
        }
        if (first < 0 || last < first || (*at != ',' && *at != '\0')) {
            return aq_fail(error, AQ_E_INVALID, "'%s' is no list of processors such as 0,2-3",
                           text);
        }
        for (long i = first; i <= last; i++) {
            if (!allowed->has[i]) {
                aq_cpus_text(allowed, own, sizeof(own));
                return aq_fail(error, AQ_E_INVALID,
                               "processor %ld is not among those that this process may run on: %s",
                               i, own);
            }
            cpus.has[i] = true;
        }
    } while (*at++ == ',');
    *ret_cpus = cpus;
    return 0;
}

size_t aq_cpus_count(const aq_cpus *cpus)
{
    size_t count = 0;
    for (size_t i = 0; i < AQ_CPUS_MAX; i++) {
        count += cpus->has[i];
    }
    return count;
}

void aq_cpus_text(const aq_cpus *cpus, char *out, size_t size)
{
    out[0] = '\0';
    for (int first = 0, last; first < AQ_CPUS_MAX; first = last + 1) {
        last = first;
        if (!cpus->has[first]) {
            continue;
        }
        while (last + 1 < AQ_CPUS_MAX && cpus->has[last + 1]) {
            last++;
        }
        aq_text_append(out, size, last > first ? "%s%d-%d" : "%s%d", out[0] != '\0' ? "," : "",
                       first, last);
    }
}

int aq_cpus_use(const aq_cpus *cpus, aq_error *error)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int i = 0; i < AQ_CPUS_MAX; i++) {
        if (cpus->has[i]) {
            CPU_SET(i, &mask);
        }
    }
    if (sched_setaffinity(0, sizeof(mask), &mask) == 0) {
        return 0;
    }
    char text[AQ_CPUS_TEXT_MAX];
    aq_cpus_text(cpus, text, sizeof(text));
    return aq_fail(error, aq_error_from_errno(errno), "processors %s can't be used: %s", text,
                   strerror(errno));
}
