/*
 * Disks that are full because the operating system says so: a limit on files, and a small file
 * system. The log stops and goes on, and the process lives.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

static segment_kit kit;
static segment_harvest harvest;

static int set_up(void **state)
{
    (void)state;
    segment_kit_init(&kit);
    kit.config.segment_bytes = 1 << 20;
    harvest = (segment_harvest){.keeps_frames = true};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    segment_kit_fini(&kit);
    segment_harvest_fini(&harvest);
    return 0;
}

static bool is_durable_and_loose(const aq_log_progress *progress, uint64_t number)
{
    return progress->durable >= number && !progress->stuck;
}

/* A limit of the operating system on files; its signal must not end the process. */
static int run_into_file_limit(void)
{
    const struct rlimit limit = {.rlim_cur = 5000, .rlim_max = RLIM_INFINITY};
    const struct rlimit none = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    segment_kit_open(&kit, NULL);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        return 1;
    }
    segment_kit_append(&kit, 60);
    const aq_log_progress progress = segment_kit_wait(&kit, segment_kit_is_stuck, true);
    if (progress.durable >= 60 || strstr(progress.reason, "File too large") == NULL) {
        return 2;
    }
    if (setrlimit(RLIMIT_FSIZE, &none) != 0) {
        return 3;
    }
    segment_kit_wait(&kit, is_durable_and_loose, 60);
    segment_kit_close(&kit);
    return 0;
}

TEST_WITH(a_limit_on_file_sizes_is_a_full_disk_and_no_signal, set_up, tear_down)
{
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(run_into_file_limit());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    segment_kit_open(&kit, &harvest);
    segment_harvest_assert_range(&harvest, 1, 60);
    assert_int_equal(harvest.damages, 0);
}

TEST_WITH(a_small_file_system_fills_up_and_recovers, set_up, tear_down)
{
    char ballast[96];
    assert_int_equal(mkdir(kit.folder, 0755), 0);
    if (mount("none", kit.folder, "tmpfs", 0, "size=256k") != 0) {
        print_message("no file system can be mounted here\n");
        skip();
    }
    kit.frame_bytes = 3000;
    segment_kit_open(&kit, NULL);
    segment_kit_append(&kit, 5);
    segment_kit_settle(&kit);
    snprintf(ballast, sizeof(ballast), "%s/ballast", kit.folder);
    static const uint8_t filling[64 * 1024];
    segment_kit_file_put(ballast, filling, sizeof(filling));
    segment_kit_append(&kit, 100);
    const aq_log_progress progress = segment_kit_wait(&kit, segment_kit_is_stuck, true);
    assert_non_null(strstr(progress.reason, "No space left on device"));
    assert_true(progress.durable < 105);
    assert_int_equal(unlink(ballast), 0);
    segment_kit_wait(&kit, segment_kit_is_durable, progress.durable + 10);
    segment_kit_close(&kit);
    segment_kit_open(&kit, &harvest);
    assert_int_equal(harvest.damages, 0);
    assert_true(harvest.count >= progress.durable + 10);
    segment_harvest_assert_range(&harvest, 1, harvest.count);
    segment_kit_close(&kit);
    segment_harvest_fini(&harvest);
    assert_int_equal(umount(kit.folder), 0);
}
