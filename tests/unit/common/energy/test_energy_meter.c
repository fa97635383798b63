/*
 * A meter in a machine of files: shares of what was measured, and what is left when nothing is.
 */
#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "common/energy/energy_meter.h"
#include "common/energy/processor_time.h"
#include "tests/support/test.h"
#include "tests/unit/common/energy/fake_tree.h"

#define RANGE UINT64_C(262143328850)

static char powercap[128], events[128], proc[128];

static int refuse_event(uint32_t type, uint64_t config, int cpu)
{
    (void)type;
    (void)config;
    (void)cpu;
    errno = EACCES;
    return -1;
}

static const aq_energy_places places = {powercap, events, proc, refuse_event};

/* Seconds of all processors, in ticks of the system. */
static void set_machine(const char *tree, double busy_s, double idle_s)
{
    double ticks = (double)sysconf(_SC_CLK_TCK);
    fake_tree_write(tree, "proc/stat", "cpu  %.0f 0 0 %.0f 0 0 0 99999 0 0\ncpu0 1 2 3 4 5 6 7\n",
                    busy_s * ticks, idle_s * ticks);
}

static char *open_machine(void)
{
    char *tree = file_folder_make();
    strcpy(powercap, file_in(tree, "powercap"));
    strcpy(events, file_in(tree, "events"));
    strcpy(proc, file_in(tree, "proc"));
    fake_tree_write(tree, "proc/sys/kernel/random/boot_id",
                    "0f0d7f9c-5d8e-4a52-8a76-33a1e8a3f0a1\n");
    set_machine(tree, 100, 100);
    return tree;
}

#define TEST_OF_MACHINE(name) TEST_OF(name, const char *tree, open_machine(), file_folder_remove)

TEST_ENDING(destroy_meter, aq_energy_meter_destroy);

static aq_energy_meter *make_meter(int64_t now_ns)
{
    aq_energy_meter *meter = NULL;
    assert_int_equal(aq_energy_meter_create(&places, now_ns, &meter), 0);
    at_end(destroy_meter, meter);
    return meter;
}

/* Of a machine with one package, whose counter stands at 0. */
static aq_energy_meter *meter_of_package(const char *tree)
{
    fake_tree_zone(tree, "intel-rapl:0", "package-0", 0, RANGE);
    return make_meter(0);
}

/* At least that much processor time of our own. */
static void burn(double seconds)
{
    double end_s = aq_processor_time_own_s(proc) + seconds;
    while (aq_processor_time_own_s(proc) < end_s) {
    }
}

/* ---- measured ------------------------------------------------------------------------------ */

TEST_OF_MACHINE(joules_are_shared_by_processor_time)
{
    aq_energy_meter *meter = meter_of_package(tree);
    aq_energy_reading before, after;
    aq_energy_meter_read(meter, 0, &before);
    burn(0.05);
    set_machine(tree, 103, 107); /* of ten processor seconds, three were busy */
    fake_tree_energy(tree, "intel-rapl:0", 50000000);
    aq_energy_meter_read(meter, AQ_NS_PER_S, &after);
    assert_string_equal(after.source, "rapl");
    assert_near(after.machine_j, 50, 5e-5);
    assert_near(after.idle_j, 50 * 0.7, 3e-5);
    double own_s = after.cpu_s - before.cpu_s;
    assert_true(own_s >= 0.05);
    /* The meter's own first reading is a little earlier than ours. */
    assert_true(after.measured_j >= 5 * own_s * (1 - 1e-9));
    assert_true(after.measured_j <= 5 * (own_s + 0.01));
}

TEST_OF_MACHINE(dram_is_of_the_machine)
{
    fake_tree_zone(tree, "intel-rapl:0:0", "dram", 0, RANGE);
    aq_energy_meter *meter = meter_of_package(tree);
    aq_energy_reading reading;
    fake_tree_energy(tree, "intel-rapl:0", 4000000);
    fake_tree_energy(tree, "intel-rapl:0:0", 1000000);
    set_machine(tree, 101, 101);
    aq_energy_meter_read(meter, AQ_NS_PER_S, &reading);
    assert_near(reading.machine_j, 5, 1e-6);
    assert_near(reading.dram_j, 1, 1e-6);
}

/* Ticks of the machine's time may be behind our own. */
TEST_OF_MACHINE(a_share_is_never_more_than_the_whole)
{
    aq_energy_meter *meter = meter_of_package(tree);
    aq_energy_reading reading;
    burn(0.02);
    fake_tree_energy(tree, "intel-rapl:0", 1000000); /* and the machine's time stood still */
    aq_energy_meter_read(meter, AQ_NS_PER_S, &reading);
    assert_near(reading.measured_j, 1, 1e-6);
    assert_true(reading.idle_j == 0);
}

TEST_OF_MACHINE(ours_and_idle_are_together_no_more_than_the_whole)
{
    aq_energy_meter *meter = meter_of_package(tree);
    aq_energy_reading reading;
    burn(0.05);
    set_machine(tree, 100, 100.06); /* our busy time is not among its ticks yet */
    fake_tree_energy(tree, "intel-rapl:0", 1000000);
    aq_energy_meter_read(meter, AQ_NS_PER_S, &reading);
    assert_near(reading.measured_j + reading.idle_j, 1, 1e-6);
}

TEST_OF_MACHINE(a_moment_is_too_short_for_a_sample)
{
    aq_energy_meter *meter = meter_of_package(tree);
    aq_energy_reading reading;
    fake_tree_energy(tree, "intel-rapl:0", 1000000);
    set_machine(tree, 101, 101);
    aq_energy_meter_read(meter, 199 * AQ_NS_PER_MS, &reading);
    assert_true(reading.machine_j == 0);
    assert_near(reading.wall_s, 0.199, 1e-6);
    aq_energy_meter_read(meter, 200 * AQ_NS_PER_MS, &reading);
    assert_near(reading.machine_j, 1, 1e-6);
}

TEST_OF_MACHINE(a_counter_that_fails_ends_measuring)
{
    aq_energy_meter *meter = meter_of_package(tree);
    aq_energy_reading reading;
    assert_string_equal(aq_energy_meter_why_not(meter), "");
    fake_tree_write(tree, "powercap/intel-rapl:0/energy_uj", "%s", "");
    aq_energy_meter_read(meter, AQ_NS_PER_S, &reading);
    assert_string_equal(reading.source, "");
    assert_true(reading.cpu_s > 0);
    assert_true(strlen(aq_energy_meter_why_not(meter)) > 0);
    fake_tree_energy(tree, "intel-rapl:0", 1000000);
    aq_energy_meter_read(meter, 2 * AQ_NS_PER_S, &reading);
    assert_string_equal(reading.source, "");
}

/* ---- not measured -------------------------------------------------------------------------- */

TEST_OF_MACHINE(where_nothing_can_be_read_it_says_why)
{
    aq_energy_meter *meter = make_meter(0);
    aq_energy_reading reading;
    aq_energy_meter_read(meter, 3 * AQ_NS_PER_S, &reading);
    assert_string_equal(reading.source, "");
    assert_true(reading.cpu_s > 0);
    assert_true(reading.cpus >= 1);
    assert_true(strlen(reading.processor) > 0);
    assert_near(reading.wall_s, 3, 1e-6);
    assert_says(aq_energy_meter_why_not(meter), "powercap");
    assert_says(aq_energy_meter_why_not(meter), "no such unit");
}

static void read_once(int64_t now_ns, aq_energy_reading *ret_reading)
{
    aq_energy_meter *meter = make_meter(now_ns);
    aq_energy_meter_read(meter, now_ns, ret_reading);
}

TEST_OF_MACHINE(all_processes_of_a_machine_know_it_by_one_number)
{
    aq_energy_reading first, second, other;
    read_once(0, &first);
    read_once(5, &second);
    fake_tree_write(tree, "proc/sys/kernel/random/boot_id", "another\n");
    read_once(0, &other);
    assert_true(first.machine == second.machine);
    assert_true(first.machine != other.machine);
}

TEST_OF_MACHINE(short_of_memory_there_is_no_meter)
{
    aq_energy_meter *meter = NULL;
    assert_fails_without_memory(aq_energy_meter_create(&places, 0, &meter));
    assert_null(meter);
}

/* ---- processor time ------------------------------------------------------------------------ */

TEST_OF_MACHINE(time_of_children_that_run_counts)
{
    double ticks = (double)sysconf(_SC_CLK_TCK);
    fake_tree_write(tree, "proc/self/task/7/children", "42 43 ");
    fake_tree_write(tree, "proc/self/task/8/children", "44 ");
    fake_tree_write(tree, "proc/42/stat",
                    "42 (a) b) 1 2) S 7 42 42 0 -1 4 0 0 0 0 %.0f %.0f 100 %.0f 20 0 1\n",
                    2 * ticks, 1 * ticks, 0 * ticks);
    fake_tree_write(tree, "proc/44/stat",
                    "44 (python3) R 7 44 44 0 -1 4 0 0 0 0 %.0f 0 0 0 20 0 1\n", 5 * ticks);
    double children_s = aq_processor_time_children_s(proc); /* 43 has just ended */
    assert_near(children_s, 2 + 1 + 100 / ticks + 5, 1e-6);
    assert_true(aq_processor_time_own_s(proc) >= children_s);
}

TEST_OF_MACHINE(time_of_a_child_stays_when_it_has_ended)
{
    double before_s = aq_processor_time_own_s("/proc");
    pid_t child = fork();
    if (child == 0) {
        clock_t end = clock() + CLOCKS_PER_SEC / 10;
        while (clock() < end) {
        }
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(aq_processor_time_own_s("/proc") - before_s >= 0.09);
}

TEST_OF_MACHINE(the_time_of_the_machine_leaves_out_what_others_stole)
{
    aq_machine_time time;
    set_machine(tree, 12, 30);
    assert_int_equal(aq_processor_time_machine(proc, &time), 0);
    assert_near(time.busy_s, 12, 1e-6);
    assert_near(time.idle_s, 30, 1e-6);
    fake_tree_write(tree, "proc/stat", "intr 1 2 3\n");
    assert_int_equal(aq_processor_time_machine(proc, &time), AQ_E_CORRUPT);
    assert_int_equal(unlink(file_in(tree, "proc/stat")), 0);
    assert_int_equal(aq_processor_time_machine(proc, &time), AQ_E_IO);
}
