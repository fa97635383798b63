/*
 * A store says of which task it is and what its observations are; the hash tells which columns were
 * recorded besides.
 */
#include "replay/data/data_origin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/parse.h"
#include "common/experience/column_catalog.h"
#include "common/sys/file.h"
#include "common/wire/wire_run.h"

enum { CONFIG_BYTES_MAX = 1 << 20 };

/* Of a run's config.yaml. */
static const char in_memory[] = "\n  storage: memory\n";

bool aq_data_is_url(const char *name)
{
    return strstr(name, "://") != NULL;
}

/* What the steps of info->task, whose schema is there, are of, by their layout's hash. AQ_E_SCHEMA
 * where it is another, or the steps have columns that are not known here. */
static int find_columns(aq_data_set_info *info, uint64_t layout_hash, aq_error *error)
{
    info->schema_hash = aq_schema_hash(&info->schema);
    if (aq_columns_of_hash(&info->schema, layout_hash, info->recorded, &info->recorded_count) !=
        0) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "what was kept are no steps of %s as it is known here: the task was "
                       "another one, or actors recorded columns that are not known, or sent "
                       "gradients (actor.gradients); the layout is %016" PRIx64
                       ", that of the task %016" PRIx64,
                       info->task, layout_hash, info->schema_hash);
    }
    return 0;
}

/* Whether the run of that folder kept its steps in memory alone. Its settings stand there as it
 * wrote them, a line each. */
static bool kept_no_steps(const char *run_dir)
{
    char path[PATH_MAX];
    aq_buffer text;
    aq_error ignored;
    aq_buffer_init(&text, CONFIG_BYTES_MAX);
    const bool is_so = aq_text_format(path, sizeof(path), "%s/config.yaml", run_dir) == 0 &&
                       aq_file_read(path, &text, &ignored) == 0 &&
                       aq_buffer_append(&text, "", 1) == 0 &&
                       strstr((const char *)text.data, in_memory) != NULL;
    aq_buffer_fini(&text);
    return is_so;
}

static int refuse_unkept(const char *run_dir, aq_error *error)
{
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "%s kept no steps in files (replay.storage=memory): train with --set "
                   "replay.storage=segments",
                   run_dir);
}

static int open_folder(aq_data_origin *origin, aq_error *error)
{
    char inner[PATH_MAX];
    int rc = aq_segment_folder_open_any(origin->name, &origin->folder, error);
    if (rc == AQ_E_EXISTS) {
        return aq_fail(error, rc,
                       "%s is in use: name the address of the shard that uses it instead, which "
                       "'actorq status' shows",
                       origin->name);
    }
    if (rc != 0 && aq_text_format(inner, sizeof(inner), "%s/replay-0", origin->name) == 0 &&
        aq_path_exists(inner)) {
        return aq_fail(error, AQ_E_INVALID, "%s is the folder of a run; name one of its stores, %s",
                       origin->name, inner);
    }
    if (rc != 0 && kept_no_steps(origin->name)) {
        return refuse_unkept(origin->name, error);
    }
    if (rc == AQ_E_NOT_FOUND || rc == AQ_E_FOREIGN) {
        return aq_fail(error, rc, "%s: not the folder of a replay store", origin->name);
    }
    if (rc != 0) {
        return rc;
    }
    origin->has_folder = true;
    const aq_store_identity *identity = &origin->folder.identity;
    origin->info.run_id = identity->run_id;
    rc = aq_text_set(origin->info.task, sizeof(origin->info.task), identity->task);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: the name of its task is too long", origin->name);
    }
    if (identity->schema_bytes == 0) {
        return aq_fail(error, AQ_E_VERSION,
                       "%s was made by an older version, and does not say what its observations "
                       "are",
                       origin->name);
    }
    rc = aq_wire_schema_unpack(identity->schema, identity->schema_bytes, &origin->info.schema,
                               error);
    return rc != 0 ? rc : find_columns(&origin->info, identity->schema_hash, error);
}

static int open_live(aq_data_origin *origin, aq_error *error)
{
    int rc = aq_data_live_open(origin->name, &origin->live, error);
    if (rc != 0) {
        return rc;
    }
    const aq_data_live_info *info = aq_data_live_about(origin->live);
    origin->info.run_id = info->run_id;
    memcpy(origin->info.task, info->task, sizeof(origin->info.task));
    origin->info.schema = info->schema;
    return find_columns(&origin->info, info->schema_hash, error);
}

static int open_file(aq_data_origin *origin, aq_error *error)
{
    int rc = aq_data_set_reader_open(origin->name, &origin->reader, error);
    if (rc == 0) {
        origin->info = *aq_data_set_reader_info(origin->reader);
    }
    return rc;
}

/* Of a store that is not there, errno being why. Tables keep none, unless they are told to. */
static int refuse_absent(const char *name, aq_error *error)
{
    char run_dir[PATH_MAX] = "";
    const char *why = strerror(errno);
    int rc = aq_error_from_errno(errno);
    const char *slash = strrchr(name, '/');
    (void)snprintf(run_dir, sizeof(run_dir), "%.*s", slash != NULL ? (int)(slash - name) : 1,
                   slash != NULL ? name : ".");
    return kept_no_steps(run_dir) ? refuse_unkept(run_dir, error)
                                  : aq_fail(error, rc, "%s: %s", name, why);
}

int aq_data_origin_open(const char *name, aq_data_origin *ret_origin, aq_error *error)
{
    struct stat status;
    aq_data_origin origin = {.name = name};
    int rc;
    if (aq_data_is_url(name)) {
        rc = open_live(&origin, error);
    } else if (stat(name, &status) != 0) {
        rc = refuse_absent(name, error);
    } else if (S_ISDIR(status.st_mode)) {
        rc = open_folder(&origin, error);
    } else {
        rc = open_file(&origin, error);
    }
    if (rc != 0) {
        aq_data_origin_close(&origin);
        return rc;
    }
    *ret_origin = origin;
    return 0;
}

void aq_data_origin_close(aq_data_origin *origin)
{
    if (origin->has_folder) {
        aq_segment_folder_close(&origin->folder);
    }
    aq_data_set_reader_close(origin->reader);
    aq_data_live_close(origin->live);
    *origin = (aq_data_origin){0};
}

static int read_file(aq_data_origin *origin, const aq_data_sink *sink, aq_error *error)
{
    aq_data_set_block block;
    bool more = true;
    for (;;) {
        int rc = aq_data_set_reader_next(origin->reader, &more, &block, error);
        if (rc == 0 && more) {
            rc = sink->block(sink->user, &block, error);
        }
        if (rc == 0 && more) {
            rc = aq_data_progress_tell(&sink->progress, aq_data_set_reader_done(origin->reader),
                                       error);
        }
        if (rc != 0 || !more) {
            return rc;
        }
    }
}

int aq_data_origin_read(aq_data_origin *origin, const aq_data_sink *sink, aq_error *error)
{
    if (origin->reader != NULL) {
        return read_file(origin, sink, error);
    }
    if (origin->live != NULL) {
        return aq_data_live_read(origin->live, &origin->info, sink, error);
    }
    return aq_data_source_read(&origin->folder, &origin->info, sink, error);
}
