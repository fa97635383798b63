/*
 * The subcommands of `actorq replay`, and what they share. Standard output is for results, standard
 * error for everything else. Private to actorq-data.
 */
#ifndef AQ_REPLAY_DATA_DATA_COMMAND_H
#define AQ_REPLAY_DATA_DATA_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/sys/command_page.h"
#include "common/sys/print_json.h"

extern const aq_command aq_data_command_export;
extern const aq_command aq_data_command_import;
extern const aq_command aq_data_command_inspect;

/* A line on standard error that says how far the work is, on a terminal only, a few times a
 * second. */
typedef struct aq_data_line {
    const char *what; /* "exporting" */
    bool is_shown;
    bool is_drawn;
    int64_t next_ns;
} aq_data_line;

void aq_data_line_init(aq_data_line *line, const char *what, bool quiet);

/* Of aq_data_progress. AQ_E_IO when the work is interrupted. */
int aq_data_line_show(void *line, double done, aq_error *error) AQ_MUST_USE;
void aq_data_line_clear(aq_data_line *line);

/* From now on SIGINT and SIGTERM end the work where it next tells how far it is, so that nothing
 * half-made is left behind; again, they end it at once. */
void aq_data_end_in_order(void);

#endif
