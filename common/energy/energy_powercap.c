/*
 * Zones stand side by side in the folder: "intel-rapl:0" is a package or the whole platform (psys),
 * "intel-rapl:0:2" a part of the first, "intel-rapl-mmio:0" the same package by another way. Only
 * the file `name` says what each is.
 */
#include "common/energy/energy_powercap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/sys/file.h"

enum { ZONES_MAX = 4 * AQ_ENERGY_DOMAINS_MAX, ZONE_BYTES = 64, PATH_BYTES = 512 };

static const double MICROJOULE_J = 1e-6;

typedef struct zone_list {
    char names[ZONES_MAX][ZONE_BYTES]; /* of folders, sorted */
    size_t count;
} zone_list;

typedef struct powercap_search {
    const char *dir;
    aq_energy_counters counters;
    char unread[AQ_ENERGY_NAME_MAX]; /* a package that is shown and can't be read; "": none */
    int unread_errno;
} powercap_search;

static int compare_zones(const void *left, const void *right)
{
    return strcmp(left, right);
}

static int list_zones(const char *dir, zone_list *zones, aq_error *error)
{
    DIR *folder = opendir(dir);
    zones->count = 0;
    if (!folder) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s: %s", dir, strerror(errno));
    }
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        /* A control type ("intel-rapl") has no number. */
        if (entry->d_name[0] == '.' || !strchr(entry->d_name, ':') ||
            strlen(entry->d_name) >= ZONE_BYTES || zones->count == ZONES_MAX) {
            continue;
        }
        (void)snprintf(zones->names[zones->count++], ZONE_BYTES, "%s", entry->d_name);
    }
    (void)closedir(folder);
    qsort(zones->names, zones->count, ZONE_BYTES, compare_zones);
    return 0;
}

/* The first line of DIR/ZONE/FILE; false when it can't be read, errno says why. */
static bool read_line(const char *dir, const char *zone, const char *name, char *out, size_t size)
{
    const bool is_there = aq_file_peek(out, size, "%s/%s/%s", dir, zone, name);
    out[strcspn(out, "\n")] = '\0';
    return is_there;
}

static aq_energy_domain *find_domain(aq_energy_counters *counters, const char *name)
{
    for (size_t i = 0; i < counters->count; i++) {
        if (strcmp(counters->domains[i].name, name) == 0) {
            return &counters->domains[i];
        }
    }
    return NULL;
}

/* Whether the zone's energy can be read; then it is one of the domains. */
static bool open_domain(powercap_search *search, const char *zone, const char *name, bool is_dram)
{
    char path[PATH_BYTES];
    char range[32];
    aq_energy_domain domain = {.is_text = true, .is_dram = is_dram, .count_j = MICROJOULE_J};
    (void)snprintf(domain.name, sizeof(domain.name), "%s", name);
    if (aq_text_format(path, sizeof(path), "%s/%s/energy_uj", search->dir, zone) != 0) {
        return false;
    }
    domain.file = open(path, O_RDONLY | O_CLOEXEC);
    if (domain.file < 0) {
        return false;
    }
    if (!read_line(search->dir, zone, "max_energy_range_uj", range, sizeof(range)) ||
        aq_parse_u64(range, &domain.range) != 0 || !aq_energy_domain_read(&domain, &domain.last)) {
        (void)close(domain.file);
        return false;
    }
    search->counters.domains[search->counters.count++] = domain;
    return true;
}

/* Packages alone are at the top: psys holds them, and dram at the top would be a platform's. */
static int take_package(powercap_search *search, const char *zone, aq_error *error)
{
    char name[AQ_ENERGY_NAME_MAX - sizeof("/dram")];
    if (!read_line(search->dir, zone, "name", name, sizeof(name)) ||
        strncmp(name, "package-", strlen("package-")) != 0 ||
        find_domain(&search->counters, name)) {
        return 0;
    }
    if (search->counters.count == AQ_ENERGY_DOMAINS_MAX) {
        return aq_fail(error, AQ_E_FULL, "%s: more than %d domains", search->dir,
                       AQ_ENERGY_DOMAINS_MAX);
    }
    errno = 0;
    if (open_domain(search, zone, name, false)) {
        if (strcmp(search->unread, name) == 0) {
            search->unread[0] = '\0'; /* the other way to the same package */
        }
    } else if (search->unread[0] == '\0') {
        (void)snprintf(search->unread, sizeof(search->unread), "%s", name);
        search->unread_errno = errno ? errno : EIO;
    }
    return 0;
}

/* `zone` is "X:0:2"; its package, "X:0", has been taken or not. Dram that can't be read is left
 * out: it lies beside the package, whose sum stays whole. */
static void take_dram(powercap_search *search, const char *zone)
{
    char part[AQ_ENERGY_NAME_MAX];
    char package[AQ_ENERGY_NAME_MAX - sizeof("/dram")];
    char name[AQ_ENERGY_NAME_MAX];
    char parent[ZONE_BYTES];
    (void)snprintf(parent, sizeof(parent), "%s", zone);
    *strrchr(parent, ':') = '\0';
    if (!read_line(search->dir, zone, "name", part, sizeof(part)) || strcmp(part, "dram") != 0 ||
        !read_line(search->dir, parent, "name", package, sizeof(package)) ||
        !find_domain(&search->counters, package)) {
        return;
    }
    (void)snprintf(name, sizeof(name), "%s/dram", package);
    if (!find_domain(&search->counters, name) && search->counters.count < AQ_ENERGY_DOMAINS_MAX) {
        (void)open_domain(search, zone, name, true);
    }
}

static bool is_part(const char *zone)
{
    return strchr(zone, ':') != strrchr(zone, ':');
}

int aq_energy_powercap_open(const char *dir, aq_energy_counters *ret_counters, aq_error *error)
{
    zone_list zones;
    powercap_search search = {.dir = dir};
    int rc = list_zones(dir, &zones, error);
    for (size_t i = 0; rc == 0 && i < zones.count; i++) {
        rc = is_part(zones.names[i]) ? 0 : take_package(&search, zones.names[i], error);
    }
    if (rc == 0 && search.unread[0] != '\0') {
        rc = aq_fail(error, AQ_E_IO, "%s: the energy of %s can't be read: %s", dir, search.unread,
                     strerror(search.unread_errno));
    }
    if (rc == 0 && search.counters.count == 0) {
        rc = aq_fail(error, AQ_E_NOT_FOUND, "%s: no package is shown", dir);
    }
    for (size_t i = 0; rc == 0 && i < zones.count; i++) {
        if (is_part(zones.names[i])) {
            take_dram(&search, zones.names[i]);
        }
    }
    if (rc != 0) {
        aq_energy_counters_fini(&search.counters);
        return rc;
    }
    (void)snprintf(search.counters.source, sizeof(search.counters.source), "rapl");
    *ret_counters = search.counters;
    return 0;
}
