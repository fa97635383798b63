/*
 * A tree of small files: see fake_tree.h.
 */
#include "tests/unit/common/energy/fake_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

fake_tree *fake_tree_open(void)
{
    fake_tree *tree = aq_alloc(1, sizeof(*tree));
    (void)snprintf(tree->root, sizeof(tree->root), "/tmp/aq-test-tree-XXXXXX");
    assert_non_null(mkdtemp(tree->root));
    assert_int_equal(chmod(tree->root, 0755), 0);
    return tree;
}

void fake_tree_close(fake_tree *tree)
{
    char command[128];
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", tree->root);
    assert_int_equal(system(command), 0);
    aq_free(tree);
}

const char *fake_tree_path(const fake_tree *tree, const char *path)
{
    static char whole[512];
    (void)snprintf(whole, sizeof(whole), "%s/%s", tree->root, path);
    return whole;
}

/* All folders of `whole` but the last name. */
static void make_parents(char *whole, size_t begin)
{
    for (char *at = whole + begin; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            assert_true(mkdir(whole, 0755) == 0 || errno == EEXIST);
            *at = '/';
        }
    }
}

void fake_tree_make_dir(const fake_tree *tree, const char *path)
{
    char whole[512];
    (void)snprintf(whole, sizeof(whole), "%s/%s/", tree->root, path);
    make_parents(whole, strlen(tree->root) + 1);
}

void fake_tree_write(const fake_tree *tree, const char *path, const char *format, ...)
{
    char whole[512];
    va_list values;
    (void)snprintf(whole, sizeof(whole), "%s/%s", tree->root, path);
    make_parents(whole, strlen(tree->root) + 1);
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    va_start(values, format);
    assert_true(vfprintf(file, format, values) >= 0);
    va_end(values);
    assert_int_equal(fclose(file), 0);
}

void fake_tree_energy(const fake_tree *tree, const char *zone, uint64_t energy_uj)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "powercap/%s/energy_uj", zone);
    fake_tree_write(tree, path, "%" PRIu64 "\n", energy_uj);
}

void fake_tree_zone(const fake_tree *tree, const char *zone, const char *name, uint64_t energy_uj,
                    uint64_t range_uj)
{
    char path[128];
    (void)snprintf(path, sizeof(path), "powercap/%s/name", zone);
    fake_tree_write(tree, path, "%s\n", name);
    (void)snprintf(path, sizeof(path), "powercap/%s/max_energy_range_uj", zone);
    fake_tree_write(tree, path, "%" PRIu64 "\n", range_uj);
    fake_tree_energy(tree, zone, energy_uj);
}
