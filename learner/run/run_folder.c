/*
 * Run folder: see run_folder.h.
 */
#include "learner/run/run_folder.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "learner/run/checkpoint_store.h"

enum { IDENTITY_BYTES_MAX = 65536 };

static int path_of(const aq_run_folder *folder, const char *name, char *out, aq_error *error)
{
    return aq_path_in(out, PATH_MAX, folder->path, name, error);
}

static int write_identity(const aq_run_folder *folder, const char *path,
                          const aq_run_config *config, aq_error *error)
{
    char id[24];
    char made[32];
    time_t now = (time_t)(aq_clock_wall_ns() / AQ_NS_PER_S);
    struct tm utc;
    (void)snprintf(id, sizeof(id), "%016" PRIx64, folder->run_id);
    (void)strftime(made, sizeof(made), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));

    int rc = AQ_E_NOMEM;
    char *text = NULL;
    json_t *identity =
        json_pack("{s:s, s:s, s:I, s:s, s:s}", "run_id", id, "task", config->task, "seed",
                  (json_int_t)config->seed, "made", made, "software", AQ_VERSION);
    if (identity) {
        text = json_dumps(identity, JSON_INDENT(2));
    }
    if (text) {
        rc = aq_file_write_atomic(path, text, strlen(text), error);
    } else {
        (void)aq_fail(error, rc, "%s: out of memory", path);
    }
    free(text);
    json_decref(identity);
    return rc;
}

/* `text` as the identity of a run of `config`'s task. */
static int parse_identity(const char *path, const aq_buffer *text, const aq_run_config *config,
                          uint64_t *ret_run_id, aq_error *error)
{
    json_error_t where;
    const char *id = NULL;
    const char *task = NULL;
    int rc = 0;
    json_t *identity = json_loadb((const char *)text->data, text->size, 0, &where);
    if (!identity || json_unpack(identity, "{s:s, s:s}", "run_id", &id, "task", &task)) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: not the identity of a run", path);
        goto out;
    }
    uint64_t run_id = 0;
    if (aq_parse_id(id, &run_id) != 0 || run_id == 0) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: '%s' is not a run id", path, id);
        goto out;
    }
    if (strcmp(task, config->task) != 0) {
        rc = aq_fail(error, AQ_E_INVALID, "%s: the folder holds a run of %s, not of %s", path, task,
                     config->task);
        goto out;
    }
    *ret_run_id = run_id;
out:
    json_decref(identity);
    return rc;
}

static int read_identity(aq_run_folder *folder, const char *path, const aq_run_config *config,
                         aq_error *error)
{
    aq_buffer text;
    aq_buffer_init(&text, IDENTITY_BYTES_MAX);
    int rc = aq_file_read(path, &text, error);
    if (rc == 0) {
        rc = parse_identity(path, &text, config, &folder->run_id, error);
    }
    aq_buffer_fini(&text);
    return rc;
}

int aq_run_folder_write_config(const aq_run_folder *folder, const aq_run_config *config,
                               aq_error *error)
{
    char path[PATH_MAX];
    int rc = path_of(folder, "config.yaml", path, error);
    return rc == 0 ? aq_settings_write_file(aq_run_config_table(), path, config, error) : rc;
}

/* Without its run.json a run cannot be told from another, nor may a new one take its place. */
static int check_is_free(const aq_run_folder *folder, aq_error *error)
{
    aq_checkpoint_store *store = NULL;
    uint64_t count = 0;
    int rc = aq_checkpoint_store_open(folder->path, 1, &store, error);
    if (rc == 0) {
        rc = aq_checkpoint_store_count(store, &count, error);
    }
    aq_checkpoint_store_close(store);
    if (rc != 0 || count == 0) {
        return rc;
    }
    return aq_fail(
        error, AQ_E_CORRUPT,
        "%s: it holds checkpoints, but no run.json that says of which run; put that back, "
        "or take another folder",
        folder->path);
}

int aq_run_folder_open(const char *path, const aq_run_config *config, bool resume, uint64_t run_id,
                       aq_run_folder *ret_folder, aq_error *error)
{
    aq_run_folder folder = {0};
    char identity[PATH_MAX];
    if (aq_text_set(folder.path, sizeof(folder.path), path) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the run folder is too long");
    }
    int rc = path_of(&folder, "run.json", identity, error);
    if (rc != 0) {
        return rc;
    }
    folder.resumed = aq_path_exists(identity);
    if (folder.resumed && !resume) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s: the folder holds a run already; give --resume to go on with it, or "
                       "another folder",
                       path);
    }
    rc = folder.resumed ? read_identity(&folder, identity, config, error)
                        : check_is_free(&folder, error);
    if (rc == 0 && !folder.resumed) {
        folder.run_id = run_id != 0 ? run_id : aq_rng_system_seed() | 1;
    }
    if (rc == 0) {
        *ret_folder = folder;
    }
    return rc;
}

int aq_run_folder_begin(const aq_run_folder *folder, const aq_run_config *config, aq_error *error)
{
    char identity[PATH_MAX];
    if (folder->resumed) {
        return 0;
    }
    int rc = path_of(folder, "run.json", identity, error);
    if (rc == 0) {
        rc = aq_run_folder_write_config(folder, config, error);
    }
    return rc == 0 ? write_identity(folder, identity, config, error) : rc;
}

int aq_run_folder_write_policy(const aq_run_folder *folder, const aq_snapshot *snapshot,
                               const aq_snapshot *twin, aq_error *error)
{
    char path[PATH_MAX];
    int rc = path_of(folder, "policy.fp32.aq", path, error);
    if (rc == 0 && twin != NULL) {
        rc = aq_policy_file_write(path, twin, error);
    } else if (rc == 0) {
        (void)unlink(path); /* it is of another version */
    }
    if (rc == 0) {
        rc = path_of(folder, "policy.aq", path, error);
    }
    if (rc == 0) {
        rc = aq_policy_file_write(path, snapshot, error);
    }
    return rc;
}
