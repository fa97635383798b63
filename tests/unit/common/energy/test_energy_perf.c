/*
 * Energy through perf: what the unit says of itself, and counters of 8 bytes. Opening an event is
 * opening a file of the tree.
 */
#include <errno.h>
#include <fcntl.h>

#include "common/energy/energy_perf.h"
#include "tests/support/test.h"
#include "tests/unit/common/energy/fake_tree.h"

static const char *current; /* of the test that runs */
static int calls;
static int refused_cpu = -1;
static aq_energy_counters counters;

static void set_count(uint64_t config, int cpu, uint64_t count)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "count-%d-%d", (int)config, cpu);
    FILE *file = fopen(file_in(current, name), "a");
    assert_non_null(file);
    assert_int_equal(fwrite(&count, sizeof(count), 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

/* Each read takes the next count of the file, as each read of an event gives the count now. */
static int open_fake(uint32_t type, uint64_t config, int cpu)
{
    char name[64];
    assert_int_equal(type, 23);
    calls++;
    if (cpu == refused_cpu) {
        errno = EACCES;
        return -1;
    }
    set_count(config, cpu, 1000);
    (void)snprintf(name, sizeof(name), "count-%d-%d", (int)config, cpu);
    return open(file_in(current, name), O_RDONLY);
}

static char *describe_unit(void)
{
    char *tree = file_folder_make();
    calls = 0;
    refused_cpu = -1;
    counters = (aq_energy_counters){0};
    current = tree;
    fake_tree_write(current, "events/power/type", "23\n");
    fake_tree_write(current, "events/power/cpumask", "0,2\n");
    fake_tree_write(current, "events/power/events/energy-pkg", "event=0x02\n");
    fake_tree_write(current, "events/power/events/energy-pkg.scale",
                    "2.3283064365386962890625e-10\n");
    return tree;
}

static void close_unit(char *tree)
{
    aq_energy_counters_fini(&counters);
    file_folder_remove(tree);
}

#define TEST_OF_UNIT(name) TEST_OF(name, const char *tree, describe_unit(), close_unit)

static int open_unit(void)
{
    refusal = (aq_error){0};
    return aq_energy_perf_open(file_in(current, "events"), open_fake, &counters, &refusal);
}

TEST_OF_UNIT(each_socket_is_counted_once)
{
    aq_energy_spent spent;
    assert_int_equal(open_unit(), 0);
    assert_string_equal(counters.source, "perf");
    assert_int_equal(counters.count, 2);
    set_count(2, 0, 1000 + (UINT64_C(3) << 32)); /* 2^32 counts are a joule */
    set_count(2, 2, 1000 + (UINT64_C(4) << 32));
    assert_true(aq_energy_counters_advance(&counters, 1e6, &spent)); /* 64 bits never come round */
    assert_true(spent.package_j == 7);
    assert_true(spent.dram_j == 0);
}

TEST_OF_UNIT(memory_is_counted_where_it_is_told)
{
    aq_energy_spent spent;
    fake_tree_write(current, "events/power/events/energy-ram", "event=0x03\n");
    fake_tree_write(current, "events/power/events/energy-ram.scale", "1e-3\n");
    fake_tree_write(current, "events/power/cpumask", "0\n");
    assert_int_equal(open_unit(), 0);
    assert_int_equal(counters.count, 2);
    set_count(2, 0, 1000);
    set_count(3, 0, 3000);
    assert_true(aq_energy_counters_advance(&counters, 1, &spent));
    assert_true(spent.package_j == 0);
    assert_true(spent.dram_j == 2);
}

TEST_OF_UNIT(a_range_of_processors_is_understood)
{
    fake_tree_write(current, "events/power/cpumask", "0-2,7\n");
    assert_int_equal(open_unit(), 0);
    assert_int_equal(calls, 4);
}

TEST_OF_UNIT(one_socket_that_is_refused_refuses_all)
{
    refused_cpu = 2;
    assert_int_equal(open_unit(), AQ_E_IO);
    assert_int_equal(counters.count, 0);
    assert_says(refusal.text, "Permission denied");
}

TEST_OF_UNIT(without_the_unit_nothing_is_found)
{
    assert_int_equal(unlink(file_in(current, "events/power/type")), 0);
    assert_int_equal(open_unit(), AQ_E_NOT_FOUND);
}

TEST(a_unit_that_describes_itself_otherwise_is_left_alone)
{
    static const struct {
        const char *path, *text;
    } odd[] = {
        {"events/power/type", "many\n"},
        {"events/power/events/energy-pkg", "event=0x02,umask=0x1\n"},
        {"events/power/events/energy-pkg.scale", "-1\n"},
        {"events/power/cpumask", "0,x\n"},
        {"events/power/cpumask", "3-1\n"},
        {"events/power/cpumask", "\n"},
    };
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        char *tree = describe_unit();
        fake_tree_write(current, odd[i].path, "%s", odd[i].text);
        assert_int_equal(open_unit(), AQ_E_CORRUPT);
        assert_int_equal(counters.count, 0);
        close_unit(tree);
    }
}
