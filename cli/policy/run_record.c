/*
 * Run record: see run_record.h.
 */
#include "cli/policy/run_record.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/text/json_file.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "common/wire/wire_policy.h"

enum { IDENTITY_BYTES_MAX = 65536 };

typedef struct record_reader {
    const char *folder;
    char path[PATH_MAX]; /* of the file at hand */
    aq_run_record *record;
} record_reader;

/* More than there is room for are not kept: the first ones say what is wrong. */
static void add_problem(record_reader *reader, const aq_error *problem)
{
    aq_run_record *record = reader->record;
    if (record->problem_count < AQ_RUN_PROBLEMS_MAX) {
        (void)snprintf(record->problems[record->problem_count++], AQ_ERROR_TEXT_MAX, "%s",
                       problem->text);
    }
}

/* The longest name in the folder was checked to fit when the reading began. */
static const char *file_of(record_reader *reader, const char *name)
{
    (void)snprintf(reader->path, sizeof(reader->path), "%s/%s", reader->folder, name);
    return reader->path;
}

/* ---- the files ------------------------------------------------------------------------------ */

static int take_identity(aq_run_record *record, json_t *identity)
{
    const char *run_id, *task, *made = "", *software = "";
    json_int_t seed = 0;
    if (json_unpack(identity, "{s:s, s:s, s?s, s?s, s?I}", "run_id", &run_id, "task", &task, "made",
                    &made, "software", &software, "seed", &seed)) {
        return AQ_E_CORRUPT;
    }
    record->seed = (uint64_t)seed;
    return aq_text_set(record->run_id, sizeof(record->run_id), run_id) != 0 ||
                   aq_text_set(record->task, sizeof(record->task), task) != 0 ||
                   aq_text_set(record->made, sizeof(record->made), made) != 0 ||
                   aq_text_set(record->software, sizeof(record->software), software) != 0
               ? AQ_E_CORRUPT
               : 0;
}

static int read_identity(record_reader *reader, aq_error *error)
{
    json_t *identity = NULL;
    const char *path = file_of(reader, "run.json");
    if (!aq_path_exists(path)) {
        return aq_fail(error, AQ_E_NOT_FOUND, "%s is no run folder: it has no run.json",
                       reader->folder);
    }
    int rc = aq_json_file_read(path, IDENTITY_BYTES_MAX, &identity, error);
    if (rc == 0 && take_identity(reader->record, identity) != 0) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: not the identity of a run", path);
    }
    json_decref(identity);
    return rc;
}

static void read_config(record_reader *reader)
{
    aq_error problem;
    aq_run_record *record = reader->record;
    aq_settings_init(aq_run_config_table(), &record->config);
    if (aq_settings_read_file(aq_run_config_table(), file_of(reader, "config.yaml"),
                              &record->config, &problem) != 0) {
        add_problem(reader, &problem);
    } else {
        record->has_config = true;
    }
}

static void on_passed(void *user, const aq_error *error)
{
    add_problem(user, error);
}

static void read_newest(record_reader *reader)
{
    aq_error problem;
    char folder[PATH_MAX];
    aq_run_record *record = reader->record;
    (void)snprintf(folder, sizeof(folder), "%s", file_of(reader, "checkpoints"));
    int rc = aq_checkpoint_folder_newest(folder, on_passed, reader, &record->newest, &problem);
    record->has_checkpoint = rc == 0;
    if (rc != 0 && rc != AQ_E_NOT_FOUND) { /* a young run has none */
        add_problem(reader, &problem);
    }
}

static void read_policy(record_reader *reader)
{
    aq_error problem;
    aq_run_record *record = reader->record;
    int rc = aq_policy_file_read(file_of(reader, "policy.aq"), &record->policy, &problem);
    if (rc != 0 && rc != AQ_E_NOT_FOUND) {
        add_problem(reader, &problem);
    }
    record->has_policy_fp32 = aq_path_exists_in(reader->folder, "policy.fp32.aq");
}

static void read_rest(record_reader *reader)
{
    aq_error problem;
    aq_run_record *record = reader->record;
    int rc = aq_metrics_digest_read(reader->folder, &record->metrics, &problem);
    if (rc != 0 && rc != AQ_E_NOT_FOUND) {
        add_problem(reader, &problem);
    }
    record->is_live = aq_folder_lock_check(reader->folder, NULL) == AQ_E_EXISTS;
}

int aq_run_record_read(const char *path, aq_run_record **ret_record, aq_error *error)
{
    record_reader reader = {.folder = path};
    if (strlen(path) + sizeof("/checkpoints/") + 64 > PATH_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the run folder is too long");
    }
    reader.record = aq_alloc(1, sizeof(*reader.record));
    if (!reader.record) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = read_identity(&reader, error);
    if (rc != 0) {
        aq_run_record_free(reader.record);
        return rc;
    }
    read_config(&reader);
    read_rest(&reader);
    *ret_record = reader.record;
    return 0;
}

void aq_run_record_read_policies(const char *path, aq_run_record *record)
{
    record_reader reader = {.folder = path, .record = record};
    read_newest(&reader);
    read_policy(&reader);
}

void aq_run_record_free(aq_run_record *record)
{
    if (!record) {
        return;
    }
    if (record->has_checkpoint) {
        aq_checkpoint_fini(&record->newest.checkpoint);
    }
    aq_metrics_digest_fini(&record->metrics);
    aq_snapshot_unref(record->policy);
    aq_free(record);
}

const char *aq_run_record_state(const aq_run_record *record)
{
    const char *end = json_string_value(json_object_get(record->metrics.end, "state"));
    return record->is_live ? "running" : end != NULL ? end : "interrupted";
}
