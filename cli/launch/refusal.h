/*
 * Refusal: what a daemon said when it ended itself, read from its log: the last line that begins
 * with the program's name.
 */
#ifndef AQ_CLI_LAUNCH_REFUSAL_H
#define AQ_CLI_LAUNCH_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/launch/supervisor.h"

/* The words without the name, cut to fit, looked for from that byte on: what earlier lives said is
 * in the log, too. False when there are none, and `out` is untouched. */
bool aq_refusal_read(const char *log_path, int64_t from, char *out, size_t size);

/* Why a child was given up: AQ_E_PEER, in its own words, when it refused its first start; else
 * AQ_E_IO, in its words, or with the last lines of its log on standard error. */
void aq_refusal_tell(const aq_child_end *end, aq_error *error);

#endif
