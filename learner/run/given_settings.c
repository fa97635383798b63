/*
 * Given settings: see given_settings.h.
 */
#include "learner/run/given_settings.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/sys/file.h"

static int path_of_given(const char *run_dir, char *out, aq_error *error)
{
    return aq_path_in(out, PATH_MAX, run_dir, "config.given.yaml", error);
}

int aq_given_settings_keep(const char *run_dir, const aq_run_config *given, aq_error *error)
{
    char path[PATH_MAX];
    int rc = path_of_given(run_dir, path, error);
    if (rc != 0 || aq_path_exists(path)) {
        return rc;
    }
    return aq_settings_write_file(aq_run_config_table(), path, given, error);
}

static int read_config(const char *path, aq_run_config *ret_config, aq_error *error)
{
    aq_settings_init(aq_run_config_table(), ret_config);
    return aq_settings_read_file(aq_run_config_table(), path, ret_config, error);
}

int aq_given_settings_take_up(const char *run_dir, aq_run_config *config, aq_error *error)
{
    char path[PATH_MAX];
    aq_run_config given;
    aq_run_config used;
    int rc = path_of_given(run_dir, path, error);
    if (rc != 0 || !aq_path_exists(path)) {
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

int aq_given_settings_settle(const char *run_dir, const aq_run_config *given,
                             const aq_run_config *used, aq_error *error)
{
    char path[PATH_MAX];
    bool differs = false;
    int rc = path_of_given(run_dir, path, error);
    if (rc != 0 || !aq_path_exists(path)) {
        return rc;
    }
    rc = aq_settings_compare(aq_run_config_table(), given, used, on_difference, &differs);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: %s", path, aq_error_text(rc));
    }
    if (differs) {
        return aq_settings_write_file(aq_run_config_table(), path, given, error);
    }
    return unlink(path) && errno != ENOENT
               ? aq_fail(error, aq_error_from_errno(errno), "%s: %s", path, strerror(errno))
               : 0;
}
