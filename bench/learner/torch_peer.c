/*
 * PyTorch beside us: one JSON object, which the script writes into a file without a name.
 */
#include "bench/learner/torch_peer.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "common/sys/process.h"

#define SCRIPT "torch_steps.py" /* beside this program, or where it is installed */

enum { NAME_BYTES = 64 };

/* The first of them that has PyTorch is taken: the system's may have it where another has not. */
static const char *const pythons[] = {"python3", "/usr/bin/python3"};

static void on_exit(uv_process_t *process, int64_t status, int signal)
{
    int64_t *result = process->data;
    *result = signal != 0 ? -1 : status;
    uv_close((uv_handle_t *)process, NULL);
}

/* What the script says goes to `out`; python's exit status, or -1. */
static int64_t run_python(const char *python, char *script, const char *only, FILE *out)
{
    uv_loop_t loop;
    uv_process_t process;
    int64_t status = -1;
    char name[NAME_BYTES]; /* from which python tells its own place */
    char text[NAME_BYTES];
    char *arguments[] = {name, script, text, NULL};
    uv_stdio_container_t streams[] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = fileno(out)},
        {.flags = UV_IGNORE},
    };
    const uv_process_options_t options = {
        .exit_cb = on_exit,
        .file = python,
        .args = arguments,
        .stdio_count = sizeof(streams) / sizeof(streams[0]),
        .stdio = streams,
    };
    (void)snprintf(name, sizeof(name), "%s", python);
    (void)snprintf(text, sizeof(text), "%s", only);
    if (uv_loop_init(&loop) != 0) {
        return -1;
    }
    process.data = &status;
    if (uv_spawn(&loop, &process, &options) != 0) {
        uv_close((uv_handle_t *)&process, NULL);
    }
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    return status;
}

static json_t *read_figures(FILE *from)
{
    json_error_t problem;
    rewind(from);
    json_t *figures = json_loadf(from, 0, &problem);
    if (!json_is_string(json_object_get(figures, "version")) ||
        !json_is_array(json_object_get(figures, "rows"))) {
        json_decref(figures);
        return NULL;
    }
    return figures;
}

int aq_torch_measure(const char *only, json_t **ret_figures, aq_error *error)
{
    char script[PATH_MAX];
    int rc = aq_process_find_program(SCRIPT, "share/actorq", script, sizeof(script), error);
    if (rc != 0) {
        return rc;
    }
    json_t *figures = NULL;
    for (size_t i = 0; figures == NULL && i < sizeof(pythons) / sizeof(pythons[0]); i++) {
        FILE *out = tmpfile();
        if (out == NULL) {
            return aq_fail(error, AQ_E_UNSUPPORTED, "no temporary file for PyTorch's figures");
        }
        if (run_python(pythons[i], script, only, out) == 0) {
            figures = read_figures(out);
        }
        (void)fclose(out);
    }
    if (figures == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "PyTorch can't be measured: is there a python3 with torch (Debian: "
                       "python3-torch), and %s?",
                       script);
    }
    *ret_figures = figures;
    return 0;
}

double aq_torch_steps_per_s(const json_t *figures, const char *name, uint32_t threads)
{
    const json_t *rows = json_object_get(figures, "rows");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *found = json_string_value(json_object_get(row, "name"));
        if (found != NULL && strcmp(found, name) == 0 &&
            json_integer_value(json_object_get(row, "threads")) == (json_int_t)threads) {
            return json_number_value(json_object_get(row, "steps_per_s"));
        }
    }
    return NAN;
}
