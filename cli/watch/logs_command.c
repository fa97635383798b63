/*
 * actorq logs: the logs of all daemons of a run as one, in the order of time.
 */
#include <stdio.h>

#include "cli/text/command.h"
#include "cli/text/terminal_colours.h"
#include "cli/watch/log_filter.h"
#include "cli/watch/log_merge.h"
#include "cli/watch/log_view.h"
#include "common/base/clock.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"
#include "common/sys/process.h"

/* One that has died is started again within five seconds (supervisor.h); one that begins may wait
 * for two minutes for what its task imports. */
enum { LOOK_MS = 200, REFRESH_LOOKS = 5, RESTART_LOOKS = 40, START_LOOKS = 650 };

typedef struct logs_arguments {
    const char *folder;
    aq_log_filter filter;
    bool follow;
    bool json;
} logs_arguments;

static int take_role(void *filter, const char *value, aq_error *error)
{
    return aq_log_filter_role(filter, value, error);
}

static int take_id(void *filter, const char *value, aq_error *error)
{
    uint64_t id = 0;
    int rc = aq_option_number(value, 0, UINT32_MAX, &id, error);
    ((aq_log_filter *)filter)->id = (int64_t)id;
    return rc;
}

static int take_level(void *filter, const char *value, aq_error *error)
{
    enum aq_log_level level;
    if (aq_log_level_from_text(value, &level) != 0 || level == AQ_LOG_OFF) { /* no line has it */
        return aq_fail(error, AQ_E_INVALID, "'%s' is not one of debug, info, warn, error", value);
    }
    ((aq_log_filter *)filter)->level = level;
    return 0;
}

static int take_since(void *filter, const char *value, aq_error *error)
{
    return aq_log_filter_since(filter, value, aq_clock_wall_ns(), error);
}

static const aq_option option_rows[] = {
    {"follow", 'f', NULL, "go on with what is logged from now on, until the run is over or Ctrl-C",
     AQ_TO_FLAG(logs_arguments, follow)},
    {"role", 0, "ROLE", "only learner, replay, actor or evaluator",
     AQ_TO(take_role, logs_arguments, filter)},
    {"id", 0, "N", "only the daemons with this number (actor-3 has 3)",
     AQ_TO(take_id, logs_arguments, filter)},
    {"level", 0, "LEVEL", "only debug, info, warn or error, and what is worse",
     AQ_TO(take_level, logs_arguments, filter)},
    {"event", 0, "EVENT", "only this event; docs/events.md lists them",
     AQ_TO_TEXT(logs_arguments, filter.event)},
    {"since", 0, "TIME", "only from 30s, 15m, 2h or 1d ago on, or from 2026-11-20T10:30 (UTC) on",
     AQ_TO(take_since, logs_arguments, filter)},
    {"json", 0, NULL, "one JSON object a line", AQ_TO_FLAG(logs_arguments, json)},
};

static const aq_options options_page = {
    .program = "actorq logs",
    .usage = "FOLDER [options]",
    .summary = "Shows the logs of all daemons of a run as one, in the order of time, whether they "
               "are logfmt or JSON. FOLDER is a run's, or any that holds files *.log, such as "
               "those collected from several hosts.",
    .details = "What is no log line (a refusal at a start, the last words of a crash) is shown "
               "with the time of\nthe line above it, and '-' for its level.\n"
               "\n"
               "Examples:\n"
               "  actorq logs runs/first --level warn\n"
               "  actorq logs runs/first --follow --role actor --id 3\n"
               "  actorq logs runs/first --event member_lost --since 1h --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("FOLDER", logs_arguments, folder)},
};

/* True when there was something. */
static bool show_all(aq_log_merge *merge, const logs_arguments *arguments, aq_log_view *view,
                     bool is_final)
{
    const char *name, *time;
    const aq_log_line *line;
    bool any = false;
    while ((line = aq_log_merge_next(merge, is_final, &name, &time)) != NULL) {
        any = true;
        if (aq_log_filter_passes(&arguments->filter, line, name, time)) {
            aq_log_view_print(view, stdout, line, name, time);
        }
    }
    (void)fflush(stdout); /* a failure leaves its mark on the stream */
    return any;
}

/* A run folder has an endpoint.json while its run goes on, and after `actorq train` was killed. */
static bool has_endpoint(const char *folder)
{
    return aq_path_exists_in(folder, "endpoint.json");
}

static int follow(aq_log_merge *merge, const logs_arguments *arguments, aq_log_view *view,
                  aq_error *error)
{
    const char *folder = arguments->folder;
    const bool is_run = aq_path_exists_in(folder, "run.json"); /* and no logs that were collected */
    bool was_live = has_endpoint(folder), was_held = false;
    int free_looks = 0; /* for how many of them no learner has held the folder */
    for (int looks = 1; !ferror(stdout); looks++) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + LOOK_MS * AQ_NS_PER_MS);
        int rc = looks % REFRESH_LOOKS == 0 ? aq_log_merge_refresh(merge, error) : 0;
        if (rc != 0) {
            return rc;
        }
        const bool is_named = has_endpoint(folder);
        const bool is_held = aq_folder_lock_check(folder, NULL) == AQ_E_EXISTS;
        free_looks = is_held ? 0 : free_looks + 1;
        was_held |= is_held;
        was_live |= is_named;
        const bool is_over =
            was_live ? !is_named || free_looks >= (was_held ? RESTART_LOOKS : START_LOOKS)
                     : is_run && free_looks >= RESTART_LOOKS;
        if (!show_all(merge, arguments, view, false) && is_over) {
            (void)show_all(merge, arguments, view, true);
            return 0;
        }
    }
    return 0;
}

static const logs_arguments defaults = {.filter = {.id = -1, .level = AQ_LOG_DEBUG}};

static int logs(void *given, aq_error *error)
{
    const logs_arguments *arguments = given;
    aq_log_merge *merge = NULL;
    aq_log_view view = {
        .as_json = arguments->json,
        .has_colour = !arguments->json && aq_terminal_colours_of_output() != AQ_TERMINAL_PLAIN,
    };
    aq_process_allow_descriptors(); /* each log is open */
    int rc = aq_log_merge_open(arguments->folder, &merge, error);
    if (rc == 0) {
        (void)show_all(merge, arguments, &view, !arguments->follow);
    }
    if (rc == 0 && arguments->follow) {
        rc = follow(merge, arguments, &view, error);
    }
    aq_log_merge_close(merge);
    return rc;
}

const aq_command aq_command_logs = {
    .name = "logs",
    .summary = "show the logs of a run's daemons as one",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = logs,
};
