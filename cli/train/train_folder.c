/*
 * Train folder: see train_folder.h.
 */
#include "cli/train/train_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/train/checkpoint_folder.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

/* Of runs that nobody named. */
static const char runs[] = "runs";

int aq_train_name_folder(const char *parent, const char *task, char *out, size_t size)
{
    char when[32];
    time_t now = (time_t)(aq_clock_wall_ns() / AQ_NS_PER_S);
    struct tm utc;
    (void)strftime(when, sizeof(when), "%Y%m%d-%H%M%S", gmtime_r(&now, &utc));
    const char *slash = strrchr(task, '/'); /* of a plug-in's path, the file alone */
    int rc = aq_text_format(out, size, "%s/%.*s%s-%s", parent,
                            slash != NULL ? (int)strcspn(task, "/") : 0, task,
                            slash != NULL ? slash + 1 : task, when);
    for (char *letter = out + strlen(parent) + 1; rc == 0 && *letter != '\0'; letter++) {
        if (strchr(":/?&=", *letter) != NULL) {
            *letter = '-';
        }
    }
    return rc;
}

/* runs/gym-CartPole-v1-20260131-120000-s7: what it is, when, and from which seed. */
static int name_run(const aq_run_config *config, char *out, size_t size)
{
    char name[AQ_CLI_PATH_MAX];
    int rc = aq_train_name_folder(runs, config->task, name, sizeof(name));
    return rc != 0             ? rc
           : config->seed == 0 ? aq_text_set(out, size, name) /* of several */
                               : aq_text_format(out, size, "%s-s%" PRIu64, name, config->seed);
}

int aq_train_folder_choose(const aq_run_config *config, aq_train_options *options, aq_error *error)
{
    char name[AQ_CLI_PATH_MAX];
    if (options->run_dir[0] == '\0') {
        if (name_run(config, name, sizeof(name))) {
            return aq_fail(error, AQ_E_TOO_BIG, "the name of the run folder is too long");
        }
        (void)snprintf(options->run_dir, sizeof(options->run_dir), "%s", name);
        for (int i = 2; aq_path_exists(options->run_dir) && i < 1000; i++) {
            if (aq_text_format(options->run_dir, sizeof(options->run_dir), "%s-%d", name, i) != 0) {
                return aq_fail(error, AQ_E_TOO_BIG, "the name of the run folder is too long");
            }
        }
    }
    if (!options->resume && aq_path_exists(options->run_dir)) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s exists already; give --resume to go on with it, or another --run",
                       options->run_dir);
    }
    int rc = aq_folder_lock_check(options->run_dir, error);
    return rc != 0 ? rc : aq_dir_create(options->run_dir, error);
}

static bool is_trained_in(const char *run_dir)
{
    char policy[AQ_CLI_PATH_MAX + 16];
    uint64_t step;
    (void)snprintf(policy, sizeof(policy), "%s/policy.aq", run_dir);
    return aq_path_exists(policy) || aq_checkpoint_newest_step(run_dir, &step);
}

void aq_train_folder_drop(const char *run_dir)
{
    if (is_trained_in(run_dir)) {
        return;
    }
    aq_dir_remove(run_dir);
    if (strncmp(run_dir, runs, strlen(runs)) == 0 && run_dir[strlen(runs)] == '/') {
        (void)rmdir(runs); /* unless others are in it */
    }
}

int aq_train_write_config(const aq_run_config *config, const char *path, aq_error *error)
{
    aq_buffer yaml;
    aq_buffer_init(&yaml, CONFIG_BYTES_MAX);
    int rc = aq_settings_print_yaml(aq_run_config_table(), config, &yaml);
    rc = rc != 0 ? aq_fail(error, rc, "the configuration could not be printed")
                 : aq_file_write_atomic(path, yaml.data, yaml.size, error);
    aq_buffer_fini(&yaml);
    return rc;
}
