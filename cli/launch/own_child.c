/*
 * Own child: see own_child.h.
 */
#include "cli/launch/own_child.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/launch/words.h"
#include "common/sys/file.h"

enum { PROCESSORS_A_RUN = 2 }; /* one with two actors keeps about as many busy */

static void on_exit_of_child(uv_process_t *process, int64_t status, int signal_number)
{
    aq_own_child *child = process->data;
    child->is_running = false;
    uv_close((uv_handle_t *)process, NULL);
    child->ended(child, signal_number, status);
}

static int spawn(uv_loop_t *loop, aq_own_child *child, const aq_own_child_spec *spec,
                 const char **args, int out, int complaints)
{
    uv_stdio_container_t stdio[4] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = out},
        {.flags = UV_INHERIT_FD, .data.fd = complaints},
        {.flags = UV_INHERIT_FD, .data.fd = spec->lent_file},
    };
    const uv_process_options_t how = {
        .exit_cb = on_exit_of_child,
        .file = spec->program,
        .args = (char **)(uintptr_t)args,
        .stdio_count = spec->lent_file >= 0 ? 4 : 3,
        .stdio = stdio,
        .flags = UV_PROCESS_DETACHED,
    };
    child->process.data = child;
    const int problem = uv_spawn(loop, &child->process, &how);
    if (problem != 0) { /* the loop has it all the same */
        uv_close((uv_handle_t *)&child->process, NULL);
    }
    return problem;
}

/* Standard error without a path. */
static int open_file(const char *path, int flags, int *ret_file, aq_error *error)
{
    const int file =
        path != NULL ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644) : STDERR_FILENO;
    if (file < 0) {
        return aq_file_fail(error, path, "write");
    }
    *ret_file = file;
    return 0;
}

static void close_file(int file)
{
    if (file > STDERR_FILENO) {
        (void)close(file);
    }
}

int aq_own_child_start(uv_loop_t *loop, aq_own_child *child, const aq_own_child_spec *spec,
                       aq_error *error)
{
    char parent[24];
    aq_words words = {.count = 0};
    (void)snprintf(parent, sizeof(parent), "%d", (int)getpid());
    aq_words_add(&words, "actorq", NULL);
    for (const char *const *arg = spec->args; *arg != NULL; arg++) {
        aq_words_add(&words, *arg, NULL);
    }
    aq_words_add(&words, "--parent", parent);
    int out = -1, complaints = -1;
    int rc = open_file(spec->result_path, O_TRUNC, &out, error);
    rc = rc != 0 ? rc : open_file(spec->log_path, O_APPEND, &complaints, error);
    if (rc == 0) {
        const int problem = spawn(loop, child, spec, words.list, out, complaints);
        rc = problem != 0 ? aq_fail(error, AQ_E_IO, "actorq %s could not be started: %s",
                                    spec->args[0], uv_strerror(problem))
                          : 0;
    }
    close_file(out);
    close_file(complaints);
    child->is_running = rc == 0;
    return rc;
}

void aq_own_child_kill(aq_own_child *child, int signal_number)
{
    if (child->is_running) {
        (void)uv_process_kill(&child->process, signal_number);
    }
}

unsigned aq_own_child_runs_fitting(void)
{
    const unsigned fitting = uv_available_parallelism() / PROCESSORS_A_RUN;
    return fitting > 0 ? fitting : 1;
}
