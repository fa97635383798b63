/*
 * A tree of small files: see fake_tree.h.
 */
#include "tests/unit/common/energy/fake_tree.h"

#include <inttypes.h>

#include "common/sys/file.h"

void fake_tree_write(const char *tree, const char *path, const char *format, ...)
{
    char folder[512];
    va_list values;
    (void)snprintf(folder, sizeof(folder), "%s/%s", tree, path);
    *strrchr(folder, '/') = '\0';
    assert_succeeds(aq_dir_create(folder, &refusal));
    FILE *file = fopen(file_in(tree, path), "w");
    assert_non_null(file);
    va_start(values, format);
    assert_true(vfprintf(file, format, values) >= 0);
    va_end(values);
    assert_int_equal(fclose(file), 0);
}

void fake_tree_energy(const char *tree, const char *zone, uint64_t energy_uj)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "powercap/%s/energy_uj", zone);
    fake_tree_write(tree, path, "%" PRIu64 "\n", energy_uj);
}

void fake_tree_zone(const char *tree, const char *zone, const char *name, uint64_t energy_uj,
                    uint64_t range_uj)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "powercap/%s/name", zone);
    fake_tree_write(tree, path, "%s\n", name);
    (void)snprintf(path, sizeof(path), "powercap/%s/max_energy_range_uj", zone);
    fake_tree_write(tree, path, "%" PRIu64 "\n", range_uj);
    fake_tree_energy(tree, zone, energy_uj);
}
