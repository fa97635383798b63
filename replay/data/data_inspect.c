/*
 * actorq replay inspect: what is in a store, a shard that runs, or a data set, and whether it is
 * whole. All of it is read and every check sum looked at.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/sys/daemon.h"
#include "replay/data/data_audit.h"
#include "replay/data/data_command.h"
#include "replay/data/data_origin.h"

typedef struct inspect_arguments {
    const char *from;
    bool verify, quiet;
    aq_json_form json;
} inspect_arguments;

typedef struct inspecting {
    aq_data_origin origin;
    aq_data_audit *audit;
    json_t *damages; /* texts */
    uint64_t damage_count;
    json_t *segments; /* {number, bytes} */
    uint64_t bytes;
} inspecting;

enum { ACTORS_SHOWN = 16 };

static const aq_option option_rows[] = {
    {"verify", 0, NULL,
     "fail if anything is damaged, or was sent twice or not at all between others",
     AQ_TO_FLAG(inspect_arguments, verify)},
    AQ_JSON_OPTION_ROW(inspect_arguments, json, "the facts"),
    {"quiet", 'q', NULL, "show no progress", AQ_TO_FLAG(inspect_arguments, quiet)},
    AQ_CREDENTIAL_OPTION_ROWS,
};

static const aq_options options_page = {
    .program = "actorq replay inspect",
    .usage = "DIR|FILE|ENDPOINT [options]",
    .summary = "Shows what is in a store's folder, a data set or a running shard: steps, episodes "
               "and their returns, policy versions, who sent it, the files. What is damaged is "
               "named by file and offset.",
    .details = "Examples:\n"
               "  actorq replay inspect runs/first/replay-0\n"
               "  actorq replay inspect steps.aqds --verify\n"
               "  actorq replay inspect tcp://127.0.0.1:5560 --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("DIR, FILE or ENDPOINT", inspect_arguments, from)},
};

/* ---- reading --------------------------------------------------------------------------------- */

static int out_of_memory(int rc, aq_error *error)
{
    return rc != 0 ? aq_fail(error, rc, "the account of it: %s", aq_error_text(rc)) : 0;
}

static int on_block(void *user, const aq_data_set_block *block, aq_error *error)
{
    const inspecting *work = user;
    return out_of_memory(aq_data_audit_block(work->audit, block), error);
}

static int on_message(void *user, uint64_t actor, uint64_t incarnation, uint64_t seq,
                      aq_error *error)
{
    const inspecting *work = user;
    return out_of_memory(aq_data_audit_message(work->audit, actor, incarnation, seq), error);
}

static int on_mark(void *user, uint64_t actor, uint64_t incarnation, uint64_t acknowledged,
                   aq_error *error)
{
    const inspecting *work = user;
    return out_of_memory(aq_data_audit_mark(work->audit, actor, incarnation, acknowledged), error);
}

static void on_damage(void *user, const char *what)
{
    inspecting *work = user;
    char plain[AQ_ERROR_TEXT_MAX];
    work->damage_count++; /* whether or not there is room for its words */
    (void)json_array_append_new(work->damages,
                                json_string(aq_plain_text(plain, sizeof(plain), what)));
}

static int list_segments(inspecting *work, aq_error *error)
{
    const aq_segment_folder *folder = &work->origin.folder;
    char path[PATH_MAX];
    uint64_t *numbers;
    size_t count;
    int rc = aq_segment_folder_list(folder, &numbers, &count, error);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        if (stat(aq_segment_path(folder->path, numbers[i], path), &status) == 0) {
            work->bytes += (uint64_t)status.st_size;
            (void)json_array_append_new(work->segments,
                                        json_pack("{s:I, s:I}", "number", (json_int_t)numbers[i],
                                                  "bytes", (json_int_t)status.st_size));
        }
    }
    aq_free(numbers);
    return 0;
}

static int look(inspecting *work, aq_data_line *line, aq_error *error)
{
    const aq_data_sink sink = {
        .user = work,
        .block = on_block,
        .message = on_message,
        .mark = on_mark,
        .damage = on_damage,
        .progress = {aq_data_line_show, line},
    };
    struct stat status;
    if (work->origin.live != NULL) {
        aq_data_audit_pass_over_holes(work->audit);
    }
    int rc = work->origin.has_folder ? list_segments(work, error) : 0;
    if (rc == 0 && work->origin.reader != NULL && stat(work->origin.name, &status) == 0) {
        work->bytes = (uint64_t)status.st_size;
    }
    if (rc == 0) {
        rc = aq_data_origin_read(&work->origin, &sink, error);
    }
    return rc;
}

/* ---- showing --------------------------------------------------------------------------------- */

static json_t *actors_json(const inspecting *work)
{
    const aq_data_lanes *actors = aq_data_audit_actors(work->audit);
    json_t *list = json_array();
    for (size_t i = 0; i < aq_data_lanes_count(actors); i++) {
        const aq_data_lane *lane = aq_data_lanes_at(actors, i);
        const aq_data_actor *actor = lane->memory;
        char incarnation[24];
        (void)snprintf(incarnation, sizeof(incarnation), "%016" PRIx64, lane->incarnation);
        (void)json_array_append_new(
            list,
            json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:I}", "actor", (json_int_t)lane->actor,
                      "incarnation", incarnation, "transitions", (json_int_t)actor->transitions,
                      "messages", (json_int_t)actor->messages, "first_seq",
                      (json_int_t)actor->first_seq, "last_seq", (json_int_t)actor->last_seq,
                      "head_mark", (json_int_t)actor->acknowledged));
    }
    return list;
}

/* The names of the columns that were recorded besides. */
static json_t *recorded_json(const aq_data_set_info *info)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < info->recorded_count; i++) {
        (void)json_array_append_new(list, json_string(info->recorded[i].name));
    }
    return list;
}

static int print_json(const inspecting *work, aq_json_form json, aq_error *error)
{
    const aq_data_summary summary = aq_data_audit_summary(work->audit);
    const aq_data_set_info *info = &work->origin.info;
    char hash[24], run[24], schema[256], task[AQ_TASK_NAME_MAX];
    (void)snprintf(hash, sizeof(hash), "%016" PRIx64, info->schema_hash);
    (void)snprintf(run, sizeof(run), "%016" PRIx64, info->run_id);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}",
        "task", aq_plain_text(task, sizeof(task), info->task), "schema",
        aq_schema_text(&info->schema, schema, sizeof(schema)), "schema_hash", hash, "run_id", run,
        "bytes", (json_int_t)work->bytes, "blocks", (json_int_t)summary.blocks, "transitions",
        (json_int_t)summary.transitions, "episodes", (json_int_t)summary.episodes, "whole_episodes",
        (json_int_t)summary.whole_episodes, "return_mean", aq_json_number(summary.return_mean),
        "return_std", aq_json_number(summary.return_std), "return_min",
        aq_json_number(summary.return_min), "return_max", aq_json_number(summary.return_max),
        "length_mean", aq_json_number(summary.length_mean), "version_min",
        (json_int_t)summary.version_min, "version_max", (json_int_t)summary.version_max,
        "random_transitions", (json_int_t)summary.random_transitions);
    json_t *rest = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:s, s:O, s:O, s:o, s:o}", "lanes", (json_int_t)summary.lanes,
        "gaps", (json_int_t)summary.gaps, "doubles", (json_int_t)summary.doubles, "seq_holes",
        (json_int_t)summary.seq_holes, "seq_doubles", (json_int_t)summary.seq_doubles,
        "first_fault", summary.first_fault, "damages", work->damages, "segments", work->segments,
        "actors", actors_json(work), "recorded", recorded_json(info));
    if (object == NULL || rest == NULL || json_object_update(object, rest) != 0) {
        json_decref(object);
        object = NULL;
    }
    json_decref(rest);
    return aq_print_json(object, json, error);
}

static void print_actors(const inspecting *work)
{
    const aq_data_lanes *actors = aq_data_audit_actors(work->audit);
    const size_t count = aq_data_lanes_count(actors);
    for (size_t i = 0; i < count && i < ACTORS_SHOWN; i++) {
        const aq_data_lane *lane = aq_data_lanes_at(actors, i);
        const aq_data_actor *actor = lane->memory;
        (void)printf("  actor %" PRIu64 " (%016" PRIx64 "): %" PRIu64 " steps", lane->actor,
                     lane->incarnation, actor->transitions);
        if (actor->messages > 0) {
            (void)printf(", messages %" PRIu64 " to %" PRIu64, actor->first_seq, actor->last_seq);
        }
        (void)printf("\n");
    }
    if (count > ACTORS_SHOWN) {
        (void)printf("  ... and %zu more\n", count - ACTORS_SHOWN);
    }
}

static void print_text(const inspecting *work)
{
    const aq_data_summary summary = aq_data_audit_summary(work->audit);
    const aq_data_set_info *info = &work->origin.info;
    char schema[256], bytes[32];
    aq_print_line(stdout, "%s: %s, %s", work->origin.name, info->task,
                  aq_schema_text(&info->schema, schema, sizeof(schema)));
    for (uint32_t i = 0; i < info->recorded_count; i++) {
        (void)printf(i == 0 ? "recorded   %s" : ", %s", info->recorded[i].name);
    }
    (void)printf("%ssteps      %" PRIu64 " in %" PRIu64 " chunks",
                 info->recorded_count > 0 ? "\n" : "", summary.transitions, summary.blocks);
    if (work->bytes > 0) {
        (void)printf(", %s", aq_text_bytes(bytes, sizeof(bytes), (double)work->bytes));
    }
    (void)printf("\nepisodes   %" PRIu64 " end here, %" PRIu64 " of them are whole",
                 summary.episodes, summary.whole_episodes);
    if (summary.whole_episodes > 0) {
        (void)printf(": returns %.2f ± %.2f, %.2f to %.2f; %.1f steps", summary.return_mean,
                     summary.return_std, summary.return_min, summary.return_max,
                     summary.length_mean);
    }
    (void)printf("\nversions   %u to %u; %" PRIu64 " steps at random\n", summary.version_min,
                 summary.version_max, summary.random_transitions);
    if (work->origin.has_folder) {
        (void)printf("segments   %zu\n", json_array_size(work->segments));
    }
    (void)printf("senders    %zu, %" PRIu64 " lanes\n",
                 aq_data_lanes_count(aq_data_audit_actors(work->audit)), summary.lanes);
    print_actors(work);
    (void)printf("wholeness  ");
    if (work->origin.live == NULL) {
        (void)printf("%" PRIu64 " messages missing between others, ", summary.seq_holes);
    }
    (void)printf("%" PRIu64 " messages twice; lanes: %" PRIu64 " gaps, %" PRIu64 " steps twice\n",
                 summary.seq_doubles, summary.gaps, summary.doubles);
    if (summary.first_fault[0] != '\0') {
        aq_print_line(stdout, "           first: %s", summary.first_fault);
    }
    for (size_t i = 0; i < json_array_size(work->damages); i++) {
        (void)printf("damaged    %s\n", json_string_value(json_array_get(work->damages, i)));
    }
}

/* Lanes of a store have gaps where there are several shards; its messages have none but where a
 * segment was dropped. */
static int verify(const inspecting *work, aq_error *error)
{
    const aq_data_summary summary = aq_data_audit_summary(work->audit);
    if (work->damage_count == 0 && summary.seq_holes == 0 && summary.seq_doubles == 0 &&
        summary.doubles == 0) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT,
                   "%s is not whole: %" PRIu64 " damages, %" PRIu64 " messages missing, %" PRIu64
                   " twice, %" PRIu64 " steps twice",
                   work->origin.name, work->damage_count, summary.seq_holes, summary.seq_doubles,
                   summary.doubles);
}

static int show(const inspect_arguments *arguments, const inspecting *work, aq_error *error)
{
    int rc = 0;
    if (arguments->json) {
        rc = print_json(work, arguments->json, error);
    } else {
        print_text(work);
    }
    return rc == 0 && arguments->verify ? verify(work, error) : rc;
}

static const inspect_arguments defaults = {0};

static int inspect(void *given, aq_error *error)
{
    const inspect_arguments *arguments = given;
    inspecting work = {.damages = NULL};
    aq_data_line line;
    aq_data_line_init(&line, "reading", arguments->quiet);
    int rc = aq_data_origin_open(arguments->from, &work.origin, error);
    if (rc != 0) {
        return rc;
    }
    work.damages = json_array();
    work.segments = json_array();
    rc = aq_data_audit_create(&work.audit);
    rc = rc != 0 ? aq_fail(error, rc, "out of memory") : look(&work, &line, error);
    aq_data_line_clear(&line);
    rc = rc == 0 ? show(arguments, &work, error) : rc;
    aq_data_audit_destroy(work.audit);
    json_decref(work.damages);
    json_decref(work.segments);
    aq_data_origin_close(&work.origin);
    return rc;
}

const aq_command aq_data_command_inspect = {
    .name = "inspect",
    .summary = "show what is in a store, a data set or a shard, and whether it is whole",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = inspect,
};
