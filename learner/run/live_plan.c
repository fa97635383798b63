/*
 * Live plan: see live_plan.h.
 */
#include "learner/run/live_plan.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buffer.h"
#include "common/base/memory.h"
#include "common/settings/settings.h"
#include "common/sys/file.h"

enum { CONFIG_TEXT_MAX = 1 << 20 };

static int print(aq_live_plan *live)
{
    aq_buffer text;
    aq_buffer_init(&text, CONFIG_TEXT_MAX);
    int rc = aq_settings_print_yaml(aq_run_config_table(), &live->now.config, &text);
    if (rc == 0) {
        rc = aq_buffer_append(&text, "", 1);
    }
    if (rc != 0) {
        aq_buffer_fini(&text);
        return rc;
    }
    aq_free(live->text);
    live->text = (char *)text.data;
    return 0;
}

/* ---- config.given.yaml ---------------------------------------------------------------------- */

/* *ret_is_there: a change is. */
static int find_given(const char *run_dir, char path[PATH_MAX], bool *ret_is_there, aq_error *error)
{
    int rc = aq_path_in(path, PATH_MAX, run_dir, "config.given.yaml", error);
    *ret_is_there = rc == 0 && aq_path_exists(path);
    return rc;
}

static int read_config(const char *path, aq_run_config *ret_config, aq_error *error)
{
    aq_settings_init(aq_run_config_table(), ret_config);
    return aq_settings_read_file(aq_run_config_table(), path, ret_config, error);
}

/* At a start with `config`: takes up what the run was changed to. */
static int take_up(const char *run_dir, aq_run_config *config, aq_error *error)
{
    char path[PATH_MAX];
    bool is_there;
    aq_run_config given, used;
    int rc = find_given(run_dir, path, &is_there, error);
    if (rc != 0 || !is_there) {
        return rc;
    }
    rc = read_config(path, &given, error);
    if (rc == 0) {
        rc = aq_path_in(path, sizeof(path), run_dir, "config.yaml", error);
    }
    if (rc == 0) {
        rc = read_config(path, &used, error);
    }
    if (rc == 0) {
        aq_settings_keep_live(aq_run_config_table(), &given, &used, config);
    }
    return rc;
}

static int on_difference(void *user, const aq_setting *row, const char *before, const char *after)
{
    bool *differs = user;
    (void)before;
    (void)after;
    *differs = *differs || row->is_live;
    return 0;
}

static int settle_given(const aq_live_plan *live, const char *path, aq_error *error)
{
    const aq_settings_table *table = aq_run_config_table();
    bool differs = false;
    int rc = aq_settings_compare(table, &live->given, &live->now.config, on_difference, &differs);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: %s", path, aq_error_text(rc));
    }
    if (differs) {
        return aq_settings_write_file(table, path, &live->given, error);
    }
    return unlink(path) && errno != ENOENT
               ? aq_fail(error, aq_error_from_errno(errno), "%s: %s", path, strerror(errno))
               : 0;
}

/* ---- the plan ------------------------------------------------------------------------------- */

int aq_live_plan_make(const aq_run_config *given, const char *resumed_dir, aq_live_plan *live,
                      aq_error *error)
{
    aq_run_config config = *given;
    live->given = *given;
    int rc = resumed_dir != NULL ? take_up(resumed_dir, &config, error) : 0;
    if (rc == 0) {
        rc = aq_run_plan_make(&config, &live->now, error);
    }
    if (rc == 0 && print(live) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    return rc;
}

void aq_live_plan_fini(aq_live_plan *live)
{
    aq_free(live->text);
    live->text = NULL;
}

int aq_live_plan_settle(const aq_live_plan *live, const aq_run_folder *folder, aq_error *error)
{
    char path[PATH_MAX];
    bool is_there;
    int rc = aq_run_folder_write_config(folder, &live->now.config, error);
    if (rc == 0) {
        rc = find_given(folder->path, path, &is_there, error);
    }
    return rc == 0 && is_there ? settle_given(live, path, error) : rc;
}

int aq_live_plan_change(aq_live_plan *live, const aq_run_folder *folder, const aq_run_plan *next,
                        aq_error *error)
{
    char path[PATH_MAX];
    bool is_there;
    int rc = find_given(folder->path, path, &is_there, error);
    if (rc == 0 && !is_there) { /* the first change */
        rc = aq_settings_write_file(aq_run_config_table(), path, &live->given, error);
    }
    if (rc == 0) {
        rc = aq_run_folder_write_config(folder, &next->config, error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "nothing was changed, as it can't be kept");
    }
    live->now = *next;
    rc = print(live);
    (void)rc; /* without memory, checkpoints show the settings as they were */
    return 0;
}
