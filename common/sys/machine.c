/*
 * Facts for reports, from libuv and /proc. The processor's name is read once and kept.
 */
#include "common/sys/machine.h"

#include <ctype.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char model[64]; /* set by `once`, then constant */

/* Vendors pad the name with blanks at either end and in between. */
static void copy_model(const char *name)
{
    size_t used = 0;

    for (size_t i = 0; name[i] != '\0' && used + 1 < sizeof(model); i++) {
        bool blank = isspace((unsigned char)name[i]) != 0;

        if (!blank) {
            model[used++] = name[i];
        } else if (used > 0 && model[used - 1] != ' ') {
            model[used++] = ' ';
        }
    }
    if (used > 0 && model[used - 1] == ' ') {
        used--;
    }
    model[used] = '\0';
}

static void detect_model(void)
{
    uv_cpu_info_t *cpus = NULL;
    int count = 0;

    if (uv_cpu_info(&cpus, &count) == 0) {
        if (count > 0 && cpus[0].model != NULL) {
            copy_model(cpus[0].model);
        }
        uv_free_cpu_info(cpus, count);
    }
    if (model[0] == '\0') {
        copy_model("unknown");
    }
}

const char *aq_machine_model(void)
{
    int rc = pthread_once(&once, detect_model);

    AQ_ASSERT(rc == 0);
    return model;
}

void aq_machine_host(char *out, size_t size)
{
    AQ_ASSERT(size > 0);
    if (gethostname(out, size) != 0) {
        out[0] = '\0';
    }
    out[size - 1] = '\0'; /* where what is cut is no failure */
}

unsigned aq_machine_cpu_count(void)
{
    return uv_available_parallelism();
}

double aq_machine_load(void)
{
    double load[3] = {0};
    uv_loadavg(load);
    return load[0];
}

/* "size resident shared …" in pages; see proc(5). */
uint64_t aq_machine_resident_bytes(void)
{
    char text[128];
    char *rest = NULL;
    uint64_t pages;
    long page_bytes = sysconf(_SC_PAGESIZE);

    if (!aq_file_peek(text, sizeof(text), "/proc/self/statm") || page_bytes <= 0 ||
        strtok_r(text, " ", &rest) == NULL) {
        return 0;
    }
    const char *resident = strtok_r(NULL, " ", &rest);
    if (resident == NULL || aq_parse_u64(resident, &pages) < 0) {
        return 0;
    }
    return pages * (uint64_t)page_bytes;
}
