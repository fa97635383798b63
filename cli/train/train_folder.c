/*
 * Train folder: see train_folder.h.
 */
#include "cli/train/train_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/checkpoint_folder.h"
#include "cli/run/run_paths.h"
#include "cli/text/shell_text.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "envs/env_code.h"

enum { RUNS_MAX = 10000, COMMAND_BYTES = 2 * PATH_MAX + 64 };

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
    char name[PATH_MAX];
    int rc = aq_train_name_folder(runs, config->task, name, sizeof(name));
    return rc != 0             ? rc
           : config->seed == 0 ? aq_text_set(out, size, name) /* of several */
                               : aq_text_format(out, size, "%s-s%" PRIu64, name, config->seed);
}

bool aq_train_folder_is_free(const char *dir)
{
    DIR *folder = opendir(dir);
    bool is_free = folder != NULL || !aq_path_exists(dir);
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        is_free = is_free && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return is_free;
}

/* The first run that is in `dir`, which may be its own; "": there is none. */
static void find_run(const char *dir, char out[PATH_MAX])
{
    aq_run_paths runs_in = {0};
    aq_error ignored;
    int rc = aq_run_paths_add(&runs_in, dir, RUNS_MAX, &ignored);
    (void)snprintf(out, PATH_MAX, "%s",
                   rc != AQ_E_NOMEM && runs_in.count > 0 ? runs_in.paths[0] : "");
    aq_run_paths_fini(&runs_in);
}

/* The option that loads the code of the run's task; "": it needs none. */
static const char *trust_of(const char *run)
{
    char path[PATH_MAX + 16];
    (void)snprintf(path, sizeof(path), "%s/run.json", run);
    json_t *json = json_load_file(path, 0, NULL);
    const char *task = json_string_value(json_object_get(json, "task"));
    const char *option = task != NULL ? aq_env_code_option(task) : "";
    json_decref(json);
    return option;
}

/* "actorq train --run runs/three/seed-1 --resume" */
static const char *resuming(const char *run, char out[COMMAND_BYTES])
{
    char program[PATH_MAX], word[PATH_MAX];
    (void)snprintf(out, COMMAND_BYTES, "%s train --run %s --resume%s",
                   aq_shell_program(program, sizeof(program)),
                   aq_shell_word(word, sizeof(word), run), trust_of(run));
    return out;
}

/* Several runs can't be resumed at once. */
static int refuse_taken(const char *dir, bool wants_several, aq_error *error)
{
    char run[PATH_MAX], command[COMMAND_BYTES];
    find_run(dir, run);
    if (run[0] == '\0') {
        return aq_fail(error, AQ_E_EXISTS, "%s exists already and is no run: give another --run",
                       dir);
    }
    if (!wants_several && strcmp(run, dir) == 0) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s exists already; give --resume to go on with it, or another --run", dir);
    }
    return aq_fail(error, AQ_E_EXISTS,
                   "%s exists already; give another --run (one run of it goes on with '%s')", dir,
                   resuming(run, command));
}

int aq_train_folder_check_resumed(const aq_train_options *options, aq_error *error)
{
    char run[PATH_MAX], command[COMMAND_BYTES];
    if (!options->resume) {
        return 0;
    }
    if (options->run_dir[0] == '\0') {
        return aq_fail(error, AQ_E_INVALID, "--resume needs --run DIR");
    }
    find_run(options->run_dir, run);
    if (strcmp(run, options->run_dir) == 0) {
        return 0;
    }
    return run[0] != '\0'
               ? aq_fail(error, AQ_E_NOT_FOUND,
                         "%s holds runs, and is none itself; one of them goes on with '%s'",
                         options->run_dir, resuming(run, command))
               : aq_fail(error, AQ_E_NOT_FOUND,
                         "%s holds no run to resume (there is no %s/run.json)", options->run_dir,
                         options->run_dir);
}

int aq_train_folder_claim(const char *dir, int *ret_folder, aq_error *error)
{
    const int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        (void)close(folder);
        return aq_fail(error, AQ_E_EXISTS, "%s: in use by another command", dir);
    }
    *ret_folder = folder;
    return 0;
}

/* A shard may take longer to end than its learner. */
static int check_daemons(const char *dir, aq_error *error)
{
    int rc = aq_folder_lock_check(dir, error);
    DIR *folder = rc == 0 ? opendir(dir) : NULL;
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char shard[PATH_MAX];
        if (rc == 0 && strncmp(entry->d_name, "replay-", strlen("replay-")) == 0) {
            rc = aq_path_in(shard, sizeof(shard), dir, entry->d_name, error);
            rc = rc != 0 ? rc : aq_folder_lock_check(shard, error);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return rc;
}

int aq_train_folder_check_unused(const char *dir, aq_error *error)
{
    int folder = -1;
    int rc = check_daemons(dir, error);
    rc = rc != 0 ? rc : aq_train_folder_claim(dir, &folder, error);
    if (folder >= 0) {
        (void)close(folder);
    }
    return rc;
}

int aq_train_folder_choose(const aq_run_config *config, aq_train_options *options, aq_error *error)
{
    char name[PATH_MAX];
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
    if (!options->resume && !aq_train_folder_is_free(options->run_dir)) {
        return refuse_taken(options->run_dir, config->seed == 0, error);
    }
    /* Open until this process ends, before and after its learner has the folder's lock, too. */
    int folder = -1;
    int rc = check_daemons(options->run_dir, error);
    rc = rc != 0 ? rc : aq_dir_create(options->run_dir, error);
    rc = rc != 0 ? rc : aq_train_folder_claim(options->run_dir, &folder, error);
    if (rc == 0 && !options->resume && !aq_train_folder_is_free(options->run_dir)) {
        return refuse_taken(options->run_dir, config->seed == 0, error); /* another was quicker */
    }
    return rc;
}

/* Also when nobody can tell. */
static bool is_trained_in(const char *run_dir)
{
    uint64_t step;
    return aq_path_exists_in(run_dir, "policy.aq") ||
           aq_checkpoint_newest_step(run_dir, &step, NULL) != AQ_E_NOT_FOUND;
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

typedef struct given_paths {
    char file[PATH_MAX + 32], aside[PATH_MAX + 32];
} given_paths;

static given_paths find_given(const char *run_dir)
{
    given_paths paths;
    (void)snprintf(paths.file, sizeof(paths.file), "%s/config.given.yaml", run_dir);
    (void)snprintf(paths.aside, sizeof(paths.aside), "%s/config.given.yaml.aside", run_dir);
    return paths;
}

void aq_train_folder_hide_given(const char *run_dir)
{
    const given_paths paths = find_given(run_dir);
    if (rename(paths.file, paths.aside) != 0) {
        (void)unlink(paths.aside); /* of a command that was killed */
    }
}

void aq_train_folder_settle_given(const char *run_dir, bool is_untouched)
{
    const given_paths paths = find_given(run_dir);
    if (!is_untouched || rename(paths.aside, paths.file) != 0) {
        (void)unlink(paths.aside);
    }
}
