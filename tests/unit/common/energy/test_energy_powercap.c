/*
 * Which zones of powercap are added up, and what their counters say.
 */
#include <sys/stat.h>

#include "common/energy/energy_powercap.h"
#include "common/sys/file.h"
#include "tests/support/test.h"
#include "tests/unit/common/energy/fake_tree.h"

#define RANGE  UINT64_C(262143328850) /* a quarter of a megajoule, as on servers */
#define NOBODY 65534

#define TEST_OF_TREE(name) TEST_OF(name, const char *tree, file_folder_make(), file_folder_remove)

static aq_energy_counters open_tree(const char *tree)
{
    aq_energy_counters counters = {0};
    assert_succeeds(aq_energy_powercap_open(file_in(tree, "powercap"), &counters, &refusal));
    return counters;
}

static void assert_counted(const char *tree, size_t count)
{
    aq_energy_counters counters = open_tree(tree);
    assert_int_equal(counters.count, count);
    aq_energy_counters_fini(&counters);
}

static void refuse(const char *tree, int code, const char *words)
{
    aq_energy_counters counters = {0};
    assert_refused(aq_energy_powercap_open(file_in(tree, "powercap"), &counters, &refusal), code,
                   words);
    assert_int_equal(counters.count, 0);
}

static aq_energy_spent advance(aq_energy_counters *counters, double elapsed_s)
{
    aq_energy_spent spent = {-1, -1};
    assert_true(aq_energy_counters_advance(counters, elapsed_s, &spent));
    return spent;
}

/* ---- which zones --------------------------------------------------------------------------- */

TEST_OF_TREE(a_package_is_counted_and_its_parts_are_not)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 1000000, RANGE);
    fake_tree_zone(tree, "intel-rapl:0:0", "core", 500000, RANGE);
    fake_tree_zone(tree, "intel-rapl:0:1", "uncore", 100000, RANGE);
    assert_succeeds(aq_dir_create(file_in(tree, "powercap/intel-rapl"), &refusal)); /* the type */
    aq_energy_counters counters = open_tree(tree);
    assert_int_equal(counters.count, 1);
    assert_string_equal(counters.domains[0].name, "package-0");
    assert_string_equal(counters.source, "rapl");
    fake_tree_energy(tree, "intel-rapl:0", 3500000);
    fake_tree_energy(tree, "intel-rapl:0:0", 2500000);
    aq_energy_spent spent = advance(&counters, 1);
    assert_near(spent.package_j, 2.5, 0.0001);
    assert_true(spent.dram_j == 0);
    aq_energy_counters_fini(&counters);
}

TEST_OF_TREE(the_platform_which_holds_the_package_is_not_counted)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:1", "psys", 0, RANGE);
    assert_counted(tree, 1);
}

TEST_OF_TREE(a_package_that_is_shown_twice_is_counted_once)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl-mmio:0", "package-0", 0, RANGE);
    assert_counted(tree, 1);
}

TEST_OF_TREE(dram_is_counted_apart_once)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:0:0", "dram", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl-mmio:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl-mmio:0:0", "dram", 0, RANGE);
    aq_energy_counters counters = open_tree(tree);
    assert_int_equal(counters.count, 2);
    fake_tree_energy(tree, "intel-rapl:0", 4000000);
    fake_tree_energy(tree, "intel-rapl:0:0", 1000000);
    fake_tree_energy(tree, "intel-rapl-mmio:0", 4000000);
    fake_tree_energy(tree, "intel-rapl-mmio:0:0", 1000000);
    aq_energy_spent spent = advance(&counters, 1);
    assert_true(spent.package_j == 4);
    assert_true(spent.dram_j == 1);
    aq_energy_counters_fini(&counters);
}

TEST_OF_TREE(all_dies_of_all_sockets_are_added_up)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0-die-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:1", "package-0-die-1", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:2", "package-1-die-0", 0, RANGE);
    aq_energy_counters counters = open_tree(tree);
    assert_int_equal(counters.count, 3);
    fake_tree_energy(tree, "intel-rapl:0", 1000000);
    fake_tree_energy(tree, "intel-rapl:1", 2000000);
    fake_tree_energy(tree, "intel-rapl:2", 4000000);
    aq_energy_spent spent = advance(&counters, 1);
    assert_true(spent.package_j == 7);
    aq_energy_counters_fini(&counters);
}

/* ---- what can't be had --------------------------------------------------------------------- */

TEST_OF_TREE(without_the_folder_nothing_is_found)
{
    refuse(tree, AQ_E_NOT_FOUND, "powercap");
}

TEST_OF_TREE(a_folder_without_packages_is_nothing)
{
    fake_tree_zone(tree, "dtpm:0", "soc", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:0", "psys", 0, RANGE);
    refuse(tree, AQ_E_NOT_FOUND, "no package is shown");
}

TEST_OF_TREE(what_a_user_may_not_read_is_told_apart)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    assert_int_equal(chmod(tree, 0755), 0);
    assert_int_equal(chmod(file_in(tree, "powercap/intel-rapl:0/energy_uj"), 0000), 0);
    bool is_root = geteuid() == 0;
    if (is_root) {
        assert_int_equal(seteuid(NOBODY), 0);
    }
    refuse(tree, AQ_E_IO, "package-0 can't be read: Permission denied");
    if (is_root) {
        assert_int_equal(seteuid(0), 0);
    }
}

TEST_OF_TREE(one_socket_of_two_is_no_measurement)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:1", "package-1", 0, RANGE);
    assert_int_equal(unlink(file_in(tree, "powercap/intel-rapl:1/energy_uj")), 0);
    refuse(tree, AQ_E_IO, "package-1");
}

TEST_OF_TREE(the_other_way_to_a_package_serves_too)
{
    fake_tree_zone(tree, "intel-rapl-mmio:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    assert_int_equal(unlink(file_in(tree, "powercap/intel-rapl-mmio:0/energy_uj")), 0);
    assert_counted(tree, 1);
}

TEST_OF_TREE(dram_that_cannot_be_read_leaves_the_package)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    fake_tree_zone(tree, "intel-rapl:0:0", "dram", 0, RANGE);
    assert_int_equal(unlink(file_in(tree, "powercap/intel-rapl:0:0/energy_uj")), 0);
    assert_counted(tree, 1);
}

TEST_OF_TREE(a_counter_of_words_is_refused)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    fake_tree_write(tree, "powercap/intel-rapl:0/energy_uj", "lots\n");
    refuse(tree, AQ_E_IO, "package-0");
}

/* ---- counting ------------------------------------------------------------------------------ */

TEST_OF_TREE(a_counter_that_came_round_goes_on)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", RANGE - 2000000, RANGE);
    aq_energy_counters counters = open_tree(tree);
    fake_tree_energy(tree, "intel-rapl:0", 3000000);
    aq_energy_spent spent = advance(&counters, 1);
    assert_near(spent.package_j, 5, 0.0001);
    fake_tree_energy(tree, "intel-rapl:0", 4000000);
    spent = advance(&counters, 1);
    assert_true(spent.package_j == 1);
    aq_energy_counters_fini(&counters);
}

/* At a kilowatt, the counter of a quarter of a megajoule may come round every 262 s. */
TEST_OF_TREE(a_counter_that_may_have_come_round_twice_tells_nothing)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    aq_energy_counters counters = open_tree(tree);
    aq_energy_spent spent = {-1, -1};
    fake_tree_energy(tree, "intel-rapl:0", 5000000);
    assert_false(aq_energy_counters_advance(&counters, 263, &spent));
    assert_true(spent.package_j == -1);
    fake_tree_energy(tree, "intel-rapl:0", 6000000);
    spent = advance(&counters, 261);
    assert_true(spent.package_j == 1);
    aq_energy_counters_fini(&counters);
}

/* It goes on while the machine is suspended, and the clock does not; or it begins at 0 again. */
TEST_OF_TREE(a_counter_that_leaps_tells_nothing)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 1000000, RANGE);
    aq_energy_counters counters = open_tree(tree);
    aq_energy_spent spent = {-1, -1};
    fake_tree_energy(tree, "intel-rapl:0", 2001000000);
    assert_true(aq_energy_counters_advance(&counters, 1, &spent));
    spent.package_j = -1;
    fake_tree_energy(tree, "intel-rapl:0", 4002000000);
    assert_false(aq_energy_counters_advance(&counters, 1, &spent));
    fake_tree_energy(tree, "intel-rapl:0", 5000000);
    assert_false(aq_energy_counters_advance(&counters, 1, &spent));
    assert_true(spent.package_j == -1);
    fake_tree_energy(tree, "intel-rapl:0", 6000000);
    spent = advance(&counters, 1);
    assert_true(spent.package_j == 1);
    aq_energy_counters_fini(&counters);
}

TEST_OF_TREE(a_counter_that_can_no_longer_be_read_tells_nothing)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    aq_energy_counters counters = open_tree(tree);
    aq_energy_spent spent;
    fake_tree_write(tree, "powercap/intel-rapl:0/energy_uj", "%s", "");
    assert_false(aq_energy_counters_advance(&counters, 1, &spent));
    aq_energy_counters_fini(&counters);
}
