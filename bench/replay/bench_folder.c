/*
 * See bench_folder.h.
 */
#include "bench/replay/bench_folder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sys/file.h"

static void kill_child(uv_handle_t *handle, void *user)
{
    (void)user;
    if (handle->type == UV_PROCESS) {
        (void)uv_process_kill((uv_process_t *)handle, SIGKILL);
    }
}

/* Nobody waits for figures any more. The folder goes when nobody writes there. */
static void on_signal(uv_signal_t *handle, int number)
{
    uv_walk(handle->loop, kill_child, NULL);
    while (wait(NULL) > 0) {
    }
    (void)aq_dir_remove(handle->data);
    _exit(128 + number);
}

int aq_bench_folder_init(const char *parent, aq_bench_folder *folder, aq_error *error)
{
    int rc = aq_path_in(folder->path, sizeof(folder->path), parent, "actorq-bench-XXXXXX", error);
    if (rc != 0) {
        return rc;
    }
    if (mkdtemp(folder->path) == NULL) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: no folder can be made there: %s",
                       parent, strerror(errno));
    }
    if (uv_loop_init(&folder->loop) != 0) {
        (void)rmdir(folder->path);
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    rc = aq_loop_watch_signals(&folder->loop, &folder->signals, on_signal, folder->path, error);
    for (int i = 0; i < AQ_END_SIGNALS; i++) {
        uv_unref((uv_handle_t *)&folder->signals.handles[i]);
    }
    if (rc != 0) {
        aq_bench_folder_fini(folder);
    }
    return rc;
}

void aq_bench_folder_fini(aq_bench_folder *folder)
{
    (void)uv_run(&folder->loop, UV_RUN_DEFAULT); /* what is closed is given back */
    (void)aq_loop_close(&folder->loop);
    (void)aq_dir_remove(folder->path);
}
