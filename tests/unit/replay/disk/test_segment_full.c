/*
 * Disks that are full because the operating system says so: a limit on files, and a small file
 * system. The log stops and goes on, and the process lives.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/support/file_kit.h"
#include "tests/support/small_disk.h"
#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

typedef segment_kit wide_store;
#define wide_store_teardown segment_kit_teardown

static void wide_store_setup(wide_store *kit)
{
    segment_kit_setup(kit);
    kit->config.segment_bytes = 1 << 20;
}

/* A limit of the operating system on files; its signal must not end the process. */
static int run_into_file_limit(segment_kit *kit)
{
    const struct rlimit limit = {.rlim_cur = 5000, .rlim_max = RLIM_INFINITY};
    const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    segment_kit_open(kit, NULL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    segment_kit_append(kit, 60);
    const aq_log_progress progress = segment_kit_wait(kit, segment_kit_is_stuck, true);
    if (progress.durable >= 60 || strstr(progress.reason, "File too large") == NULL) {
        return 2;
    }
    if (setrlimit(RLIMIT_FSIZE, &none) != 0) {
        return 3;
    }
    segment_kit_wait(kit, segment_kit_is_loose, 60);
    segment_kit_close(kit);
    return 0;
}

TEST_IN(wide_store, kit, a_limit_on_file_sizes_is_a_full_disk_and_no_signal)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(run_into_file_limit(kit));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    segment_kit_assert_recovers(kit, 60);
}

TEST_IN(wide_store, kit, a_small_file_system_fills_up_and_recovers)
{
    assert_int_equal(mkdir(kit->folder, 0755), 0);
    if (!small_disk_mount(kit->folder, 256 << 10)) {
        skip(); /* not allowed to mount here */
    }
    kit->frame_bytes = 3000;
    segment_kit_write(kit, 5);
    const char *ballast = file_in(kit->folder, "ballast");
    static const uint8_t filling[64 * 1024];
    file_put(ballast, filling, sizeof(filling));
    segment_kit_append(kit, 100);
    const aq_log_progress progress = segment_kit_wait(kit, segment_kit_is_stuck, true);
    assert_says(progress.reason, "No space left on device");
    assert_true(progress.durable < 105);
    assert_int_equal(unlink(ballast), 0);
    segment_kit_wait(kit, segment_kit_is_durable, progress.durable + 10);
    segment_kit_reopen(kit);
    assert_true(kit->harvest.count >= progress.durable + 10);
    segment_harvest_assert_recovered(&kit->harvest, kit->harvest.count);
    segment_kit_close(kit);
    segment_harvest_fini(&kit->harvest);
}
