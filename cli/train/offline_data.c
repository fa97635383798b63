/*
 * The import is what `actorq replay import` does. Standard output is for the result of the run, so
 * what that prints goes to standard error.
 */
#include "cli/train/offline_data.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "cli/launch/own_child.h"
#include "cli/launch/own_loop.h"
#include "cli/launch/words.h"
#include "common/base/buffer.h"
#include "common/base/parse.h"
#include "common/config/run_rules.h"
#include "common/config/run_tables.h"
#include "common/data_set/data_set_reader.h"
#include "common/sys/file.h"
#include "common/sys/process.h"
#include "envs/env_open.h"

enum { NUMBER_TEXT_MAX = 24 };

/* In the folder of a run from a data set: the file that says which, so that the run is resumed as
 * one. */
static const char mark_name[] = "offline";

/* There, too: the store of its shard. */
static const char store_name[] = "replay-0";

int aq_offline_task(const char *path, char *task, aq_error *error)
{
    aq_data_set_reader *reader;
    int rc = aq_data_set_reader_open(path, &reader, error);
    if (rc == 0) {
        rc = aq_text_set(task, AQ_TASK_NAME_MAX, aq_data_set_reader_info(reader)->task);
        aq_data_set_reader_close(reader);
    }
    return rc;
}

static int check_task(const char *path, const aq_data_set_info *info, const aq_run_config *config,
                      aq_error *error)
{
    aq_env *env;
    int rc = aq_env_open_to_act(config->task, &env, error);
    if (rc != 0) {
        return rc;
    }
    if (strcmp(env->name, info->task) != 0) {
        rc = aq_fail(error, AQ_E_SCHEMA, "%s is of %s, not of %s", path, info->task, env->name);
    } else if (aq_schema_hash(&env->schema) != info->schema_hash) {
        rc = aq_fail(error, AQ_E_SCHEMA,
                     "%s is of another %s: its schema is %016" PRIx64
                     ", that of the task here is %016" PRIx64,
                     path, info->task, info->schema_hash, aq_schema_hash(&env->schema));
    } else {
        rc = aq_algorithm_check_data_set(config->learner.algorithm, env->name, &env->schema, error);
    }
    aq_env_unref(env);
    return rc;
}

/* Room for `room` steps, of which `start` are enough to begin with; nobody steps besides. */
static int set_alone(uint64_t room, uint64_t start, aq_run_config *config, aq_error *error)
{
    if (config->limits.learner_steps == 0 && config->limits.wall_s <= 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "nothing would end this run; say how many gradient steps it has, such as "
                       "--set limits.learner_steps=20000");
    }
    config->replay.capacity = room > config->replay.capacity ? room : config->replay.capacity;
    config->replay.min_size = start < config->replay.min_size ? start : config->replay.min_size;
    config->replay.samples_per_insert = 0;
    config->replay.shards = 1;
    config->replay.storage = AQ_STORAGE_SEGMENTS;
    config->limits.env_steps = 0;
    return aq_run_rules_check(config, error);
}

int aq_offline_settings(const char *path, aq_run_config *config, aq_error *error)
{
    aq_data_set_reader *reader;
    int rc = aq_data_set_reader_open(path, &reader, error);
    if (rc != 0) {
        return rc;
    }
    const aq_data_set_info info = *aq_data_set_reader_info(reader);
    const uint64_t steps = info.counts.transitions;
    aq_data_set_reader_close(reader);
    rc = check_task(path, &info, config, error);
    if (rc != 0) {
        return rc;
    }
    if (steps == 0) {
        return aq_fail(error, AQ_E_INVALID, "%s holds no steps", path);
    }
    memcpy(config->task, info.task, sizeof(config->task)); /* as the run will name it */
    /* Chunks repeat a few steps each, which count as room. */
    const uint64_t room = steps + steps / 2 + config->replay.chunk_length + 100;
    return set_alone(room, steps > 1 ? steps / 2 : 1, config, error);
}

/* The most steps that an item of any table spans. */
static int span_of(const aq_run_config *config, uint32_t *ret_span, aq_error *error)
{
    aq_run_tables tables;
    uint32_t span = 1;
    int rc = aq_run_tables_make(config, &tables, error);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < tables.count; i++) {
        const uint32_t wanted = aq_table_spec_span(&tables.specs[i]);
        span = wanted > span ? wanted : span;
    }
    *ret_span = span;
    return 0;
}

/* A shard leaves out chunks that were cut for other items or are longer than the run's. */
static int check_cut(const aq_run_config *last, const aq_run_config *config, aq_error *error)
{
    uint32_t was = 0, span = 0;
    int rc = span_of(last, &was, error);
    rc = rc != 0 ? rc : span_of(config, &span, error);
    if (rc == 0 && span != was) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "the data set of this run was cut for items of %" PRIu32 " steps, not of "
                     "%" PRIu32 "; begin another run with --offline to cut it anew",
                     was, span);
    } else if (rc == 0 && config->replay.chunk_length < last->replay.chunk_length) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "the data set of this run was cut into chunks of up to %" PRIu64 " steps "
                     "(replay.chunk_length); begin another run with --offline to cut it anew",
                     last->replay.chunk_length);
    }
    return rc;
}

int aq_offline_settings_resumed(const aq_run_config *last, aq_run_config *config, aq_error *error)
{
    int rc = check_cut(last, config, error);
    return rc != 0 ? rc : set_alone(last->replay.capacity, last->replay.min_size, config, error);
}

typedef struct importing {
    aq_own_loop loop;
    aq_own_child child;
    bool is_done, is_interrupted;
} importing;

static void on_ended(aq_own_child *child, int signal_number, int64_t status)
{
    importing *work = child->user;
    work->is_done = signal_number == 0 && status == 0;
    uv_stop(&work->loop.uv);
}

/* What is left behind goes with the run's folder. */
static void on_signal(void *user, int number)
{
    importing *work = user;
    work->is_interrupted = true;
    aq_own_child_kill(&work->child, number);
}

static int run_and_wait(const aq_own_child_spec *spec, aq_error *error)
{
    importing work = {.child = {.user = &work, .ended = on_ended}};
    int rc = aq_own_loop_init(&work.loop, on_signal, &work, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_own_child_start(&work.loop.uv, &work.child, spec, error);
    if (rc == 0) {
        (void)uv_run(&work.loop.uv, UV_RUN_DEFAULT);
    }
    aq_own_loop_fini(&work.loop);
    return rc != 0               ? rc
           : work.is_interrupted ? aq_fail(error, AQ_E_IO, "interrupted: there is no run yet")
           : work.is_done        ? 0
                                 : aq_fail(error, AQ_E_IO, "the data set could not be imported");
}

/* ---- the run's folder ------------------------------------------------------------------------ */

static int write_mark(const char *path, const char *run_dir, aq_error *error)
{
    char mark[PATH_MAX];
    int rc = aq_path_in(mark, sizeof(mark), run_dir, mark_name, error);
    return rc != 0 ? rc : aq_file_write_atomic(mark, path, strlen(path), error);
}

int aq_offline_read_mark(const char *run_dir, char *data_set, size_t size, aq_error *error)
{
    char mark[PATH_MAX];
    aq_buffer text;
    data_set[0] = '\0';
    int rc = aq_path_in(mark, sizeof(mark), run_dir, mark_name, error);
    if (rc != 0 || !aq_path_exists(mark)) {
        return rc;
    }
    aq_buffer_init(&text, size - 1);
    rc = aq_file_read(mark, &text, error);
    if (rc == 0) {
        (void)snprintf(data_set, size, "%.*s", (int)text.size, (const char *)text.data);
    }
    aq_buffer_fini(&text);
    if (rc == 0 && !aq_path_exists_in(run_dir, store_name)) { /* it would wait for steps for ever */
        rc = aq_fail(error, AQ_E_NOT_FOUND,
                     "the steps of this run, from %s, are gone with %s/%s; begin another run with "
                     "--offline",
                     data_set, run_dir, store_name);
    }
    return rc;
}

int aq_offline_import(const char *path, const char *run_dir, const aq_run_config *config,
                      uint64_t run_id, bool quiet, aq_error *error)
{
    char program[PATH_MAX], store[PATH_MAX];
    char id[NUMBER_TEXT_MAX], span_text[NUMBER_TEXT_MAX], chunk[NUMBER_TEXT_MAX];
    char message[NUMBER_TEXT_MAX], segment[NUMBER_TEXT_MAX], least[NUMBER_TEXT_MAX];
    uint32_t span = 0;
    int rc = aq_process_find_program("actorq", "cli", program, sizeof(program), error);
    rc = rc != 0 ? rc : span_of(config, &span, error);
    rc = rc != 0 ? rc : aq_path_in(store, sizeof(store), run_dir, store_name, error);
    rc = rc != 0 ? rc : write_mark(path, run_dir, error);
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(id, sizeof(id), "%016" PRIx64, run_id);
    (void)snprintf(span_text, sizeof(span_text), "%" PRIu32, span);
    (void)snprintf(chunk, sizeof(chunk), "%" PRIu64, config->replay.chunk_length);
    (void)snprintf(message, sizeof(message), "%" PRIu64, config->net.message_bytes);
    (void)snprintf(segment, sizeof(segment), "%" PRIu64, config->replay.segment_bytes);
    (void)snprintf(least, sizeof(least), "%" PRIu64, config->replay.min_size);
    aq_words words = {.count = 0};
    aq_words_add(&words, "replay", "import");
    aq_words_add(&words, path, store);
    aq_words_add(&words, "--task", config->task);
    aq_words_add(&words, "--run-id", id);
    aq_words_add(&words, "--standard-columns",
                 NULL); /* who learns from data sets reads no others */
    aq_words_add(&words, "--n-step", span_text);
    aq_words_add(&words, "--chunk-length", chunk);
    aq_words_add(&words, "--message-bytes", message);
    aq_words_add(&words, "--segment-bytes", segment);
    aq_words_add(&words, "--least", least); /* or nobody would ever sample */
    if (config->replay.compression) {
        aq_words_add(&words, "--compress", NULL);
    }
    if (quiet) {
        aq_words_add(&words, "--quiet", NULL);
    }
    const aq_own_child_spec spec = {.program = program, .args = words.list, .lent_file = -1};
    return run_and_wait(&spec, error);
}
