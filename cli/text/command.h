/*
 * The subcommands of actorq, a file each, and how they print JSON.
 */
#ifndef AQ_CLI_TEXT_COMMAND_H
#define AQ_CLI_TEXT_COMMAND_H

#include <jansson.h>
#include <stdint.h>

#include "common/sys/command_page.h"
#include "common/sys/print_json.h"

extern const aq_command aq_command_train;
extern const aq_command aq_command_compare;
extern const aq_command aq_command_eval;
extern const aq_command aq_command_play;
extern const aq_command aq_command_inspect;
extern const aq_command aq_command_status;
extern const aq_command aq_command_logs;
extern const aq_command aq_command_set;
extern const aq_command aq_command_checkpoint;
extern const aq_command aq_command_drain;
extern const aq_command aq_command_stop;
extern const aq_command aq_command_call;
extern const aq_command aq_command_certs;
extern const aq_command aq_command_env;
extern const aq_command aq_command_envs;
extern const aq_command aq_command_export;
extern const aq_command aq_command_import;
extern const aq_command aq_command_bench;
extern const aq_command aq_command_plot;
extern const aq_command aq_command_dashboard;
extern const aq_command aq_command_quantize;
extern const aq_command aq_command_health;
extern const aq_command aq_command_replay;
extern const aq_command aq_command_runs;
extern const aq_command aq_command_sweep;
extern const aq_command aq_command_sweep_work;
extern const aq_command aq_command_sweep_status;
extern const aq_command aq_command_sweep_prune;

/* What every JSON reader keeps whole; and the default of commands that else draw a seed. */
#define AQ_JSON_SEED_MAX  ((UINT64_C(1) << 53) - 1)
#define AQ_JSON_SEED_DRAW UINT64_MAX

void aq_command_draw_seed(uint64_t *seed); /* one that was given stays */

/* For AQ_TO: "320x240", into an aq_command_size whose bounds are set. */
typedef struct aq_command_size {
    uint32_t width, height;
    uint32_t min, max;
    bool is_given;
} aq_command_size;

int aq_command_take_size(void *size, const char *value, aq_error *error) AQ_MUST_USE;

/* The number of that name in an object; NaN when there is none. A count: 0. */
double aq_json_number_of(const json_t *object, const char *key);
uint64_t aq_json_count_of(const json_t *object, const char *key);

/* Appends to a list. One that there was no memory for makes the list NULL, with which nothing can
 * be packed: the whole is refused, and not told with a part missing. */
void aq_json_add(json_t **list, json_t *value);

/* A JSON string of a text from elsewhere, such as a path: where it is not UTF-8, it is made plain
 * (plain_text.h). */
json_t *aq_json_text(const char *text);

#endif
