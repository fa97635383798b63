/*
 * actorq replay import: a data set as a new store, or into a shard that runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/rng.h"
#include "common/sys/daemon.h"
#include "replay/data/data_command.h"
#include "replay/data/data_import.h"
#include "replay/data/data_live_net.h"
#include "replay/data/data_origin.h"

typedef struct import_arguments {
    const char *path;
    const char *to;
    const char *task;
    uint64_t run_id, n_step, chunk_length, message_bytes, segment_bytes, least;
    bool standard_columns, compressed, quiet;
    aq_json_form json;
} import_arguments;

static const aq_option option_rows[] = {
    {"task", 0, "TASK", "refuse a data set of another task", AQ_TO_TEXT(import_arguments, task)},
    {"run-id", 0, "ID", "of a new store: the run that may open it, 16 hexadecimal digits",
     AQ_TO(aq_option_take_id, import_arguments, run_id)},
    {"standard-columns", 0, NULL,
     "of a new store: leave out what was recorded besides them, for a run that records nothing",
     AQ_TO_FLAG(import_arguments, standard_columns)},
    {"n-step", 0, "N",
     "of a new store: the most steps that an item of the run spans (default: the data set's)",
     AQ_TO_NUMBER(import_arguments, n_step, 1, 1024)},
    {"chunk-length", 0, "N", "of a new store: steps of a chunk (default 64)",
     AQ_TO_NUMBER(import_arguments, chunk_length, 1, AQ_CHUNK_LENGTH_MAX)},
    {"message-bytes", 0, "N",
     "of a new store: the largest message, unless a chunk takes more (default 262144)",
     AQ_TO_NUMBER(import_arguments, message_bytes, 4096, 67108864)},
    {"segment-bytes", 0, "N", "of a new store: the size of a file (default 67108864)",
     AQ_TO_NUMBER(import_arguments, segment_bytes, 65536, UINT64_C(4294967296))},
    {"compress", 0, NULL, "of a new store: compress its records",
     AQ_TO_FLAG(import_arguments, compressed)},
    {"least", 0, "N", "of a new store: fail where fewer steps than these make items",
     AQ_TO_NUMBER(import_arguments, least, 1, UINT64_MAX)},
    AQ_JSON_OPTION_ROW(import_arguments, json, "the counts"),
    {"quiet", 'q', NULL, "say nothing but what is wrong", AQ_TO_FLAG(import_arguments, quiet)},
    AQ_PARENT_OPTION_ROW,
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq replay import",
    .usage = "FILE DIR|ENDPOINT [options]",
    .summary = "Brings a data set into a new store's folder, or into a shard that runs: there its "
               "steps count as an actor's, and wait when the rate limiter makes actors wait. To "
               "train from a data set alone, 'actorq train --offline' does all of it.",
    .details = "Examples:\n"
               "  actorq replay import steps.aqds tcp://127.0.0.1:5560\n"
               "  actorq replay import steps.aqds store --run-id 00c0ffee00c0ffee\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("FILE", import_arguments, path),
                 AQ_OPERAND("DIR or ENDPOINT", import_arguments, to)},
};

/* What only those options fill in that are of a new store. */
static bool asks_for_new_store(const import_arguments *arguments)
{
    return (arguments->run_id | arguments->n_step | arguments->chunk_length |
            arguments->message_bytes | arguments->segment_bytes | arguments->least) != 0 ||
           arguments->standard_columns || arguments->compressed;
}

static uint64_t given_or(uint64_t given, uint64_t otherwise)
{
    return given != 0 ? given : otherwise;
}

static int bring(const import_arguments *arguments, aq_data_set_reader *reader, aq_data_line *line,
                 aq_data_imported *ret_imported, aq_error *error)
{
    const aq_data_set_info *info = aq_data_set_reader_info(reader);
    if (arguments->task != NULL && strcmp(arguments->task, info->task) != 0) {
        return aq_fail(error, AQ_E_SCHEMA, "%s is of %s, not of %s", arguments->path, info->task,
                       arguments->task);
    }
    const aq_data_progress progress = {aq_data_line_show, line};
    if (aq_data_is_url(arguments->to)) {
        aq_data_live *live;
        int rc = aq_data_live_open(arguments->to, &live, error);
        if (rc == 0) {
            rc = aq_data_live_import(live, reader, &progress, ret_imported, error);
            aq_data_live_close(live);
        }
        return rc;
    }
    const aq_data_import import = {
        .folder = arguments->to,
        .run_id = given_or(arguments->run_id, aq_rng_system_seed() | 1),
        .standard_columns = arguments->standard_columns,
        .n_step = (uint32_t)given_or(arguments->n_step, info->counts.n_step),
        .chunk_length = (uint32_t)given_or(arguments->chunk_length, 64),
        .message_bytes = given_or(arguments->message_bytes, 262144),
        .segment_bytes = given_or(arguments->segment_bytes, 67108864),
        .compressed = arguments->compressed,
        .least = arguments->least,
        .progress = progress,
    };
    aq_data_end_in_order();
    return aq_data_import_folder(reader, &import, ret_imported, error);
}

static int show(const import_arguments *arguments, const aq_data_imported *imported,
                aq_error *error)
{
    if (arguments->quiet && !arguments->json) {
        return 0;
    }
    if (arguments->json) {
        return aq_print_json(
            json_pack("{s:I, s:I, s:I, s:I}", "transitions", (json_int_t)imported->transitions,
                      "messages", (json_int_t)imported->messages, "known",
                      (json_int_t)imported->known, "left_out", (json_int_t)imported->left_out),
            arguments->json, error);
    }
    (void)printf("%s: %" PRIu64 " steps", arguments->to, imported->transitions);
    if (imported->known > 0) {
        (void)printf("; %" PRIu64 " were there from an earlier import", imported->known);
    }
    if (imported->left_out > 0) {
        (void)printf("; %" PRIu64 " left out, as too few follow them to make an item",
                     imported->left_out);
    }
    (void)printf("\n");
    return 0;
}

static const import_arguments defaults = {0};

static int import(void *given, aq_error *error)
{
    const import_arguments *arguments = given;
    aq_data_set_reader *reader;
    aq_data_imported imported;
    aq_data_line line;
    if (aq_data_is_url(arguments->to) && asks_for_new_store(arguments)) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s is a shard that runs: it takes no option of a new store", arguments->to);
    }
    aq_data_line_init(&line, "importing", arguments->quiet);
    int rc = aq_data_set_reader_open(arguments->path, &reader, error);
    if (rc == 0) {
        rc = bring(arguments, reader, &line, &imported, error);
        aq_data_set_reader_close(reader);
    }
    aq_data_line_clear(&line);
    return rc == 0 ? show(arguments, &imported, error) : rc;
}

const aq_command aq_data_command_import = {
    .name = "import",
    .summary = "bring a data set into a new store or a running shard",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = import,
};
