/*
 * actorq replay export: what a store or a running shard holds, as a data set.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/base/plain_text.h"
#include "common/data_set/data_set_writer.h"
#include "common/sys/daemon.h"
#include "replay/data/data_command.h"
#include "replay/data/data_origin.h"

typedef struct export_arguments {
    const char *from;
    const char *path;
    bool force, quiet;
    aq_json_form json;
} export_arguments;

typedef struct exporting {
    aq_data_set_writer *writer;
    aq_data_line *line;
    uint64_t damages;
} exporting;

static const aq_option option_rows[] = {
    {"force", 0, NULL, "replace the file if there is one", AQ_TO_FLAG(export_arguments, force)},
    AQ_JSON_OPTION_ROW(export_arguments, json, "the counts"),
    {"quiet", 'q', NULL, "show no progress", AQ_TO_FLAG(export_arguments, quiet)},
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq replay export",
    .usage = "DIR|ENDPOINT FILE [options]",
    .summary = "Writes the steps of a store's folder, or of a shard that runs, into a data set. "
               "Of the folder, it is every step that is still there; of the shard, every message "
               "of which a table holds something. The file is there once it is complete.",
    .details = "Examples:\n"
               "  actorq replay export runs/first/replay-0 steps.aqds\n"
               "  actorq replay export tcp://127.0.0.1:5560 steps.aqds --force\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("DIR or ENDPOINT", export_arguments, from),
                 AQ_OPERAND("FILE", export_arguments, path)},
};

static int on_block(void *user, const aq_data_set_block *block, aq_error *error)
{
    const exporting *work = user;
    return aq_data_set_writer_add(work->writer, block, error);
}

/* What is damaged is not in the data set; the rest is. */
static void on_damage(void *user, const char *what)
{
    exporting *work = user;
    work->damages++;
    aq_data_line_clear(work->line);
    aq_print_line(stderr, "actorq replay export: %s", what);
}

/* Names may hold any bytes; the header is for people and is UTF-8. */
static void put_source(const char *from, aq_data_set_info *info)
{
    (void)snprintf(info->source, sizeof(info->source), "%.400s", from);
    for (char *at = info->source; *at != '\0'; at++) {
        *at = *at >= ' ' && *at <= '~' ? *at : '?';
    }
    (void)snprintf(info->software, sizeof(info->software), "actorq %s", AQ_VERSION);
}

static int copy(const export_arguments *arguments, aq_data_origin *origin, exporting *work,
                aq_error *error)
{
    aq_data_set_info info = origin->info;
    const aq_data_sink sink = {
        .user = work,
        .block = on_block,
        .damage = on_damage,
        .progress = {aq_data_line_show, work->line},
    };
    put_source(arguments->from, &info);
    aq_data_end_in_order();
    int rc =
        aq_data_set_writer_create(arguments->path, &info, arguments->force, &work->writer, error);
    if (rc == 0) {
        rc = aq_data_origin_read(origin, &sink, error);
    }
    return rc == 0 ? aq_data_set_writer_finish(work->writer, error) : rc;
}

static int show(const export_arguments *arguments, const exporting *work, aq_error *error)
{
    const aq_data_set_counts counts = aq_data_set_writer_counts(work->writer);
    if (arguments->json) {
        return aq_print_json(
            json_pack("{s:I, s:I, s:I, s:I, s:I}", "transitions", (json_int_t)counts.transitions,
                      "episodes", (json_int_t)counts.episodes, "blocks", (json_int_t)counts.blocks,
                      "n_step", (json_int_t)counts.n_step, "damages", (json_int_t)work->damages),
            arguments->json, error);
    }
    (void)printf("%s: %" PRIu64 " steps, %" PRIu64 " ends of episodes\n", arguments->path,
                 counts.transitions, counts.episodes);
    return 0;
}

static const export_arguments defaults = {0};

static int export(void *given, aq_error *error)
{
    const export_arguments *arguments = given;
    aq_data_origin origin;
    aq_data_line line;
    exporting work = {.line = &line};
    aq_data_line_init(&line, "exporting", arguments->quiet);
    int rc = aq_data_origin_open(arguments->from, &origin, error);
    if (rc == 0) {
        rc = copy(arguments, &origin, &work, error);
        aq_data_origin_close(&origin);
    }
    aq_data_line_clear(&line);
    rc = rc == 0 ? show(arguments, &work, error) : rc;
    aq_data_set_writer_destroy(work.writer);
    return rc;
}

const aq_command aq_data_command_export = {
    .name = "export",
    .summary = "write what a store or a shard holds into a data set",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = export,
};
