/*
 * Processes: what this one ends with, may do and runs as, its children, and where this program's
 * neighbours are.
 */
#ifndef AQ_COMMON_SYS_PROCESS_H
#define AQ_COMMON_SYS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* From now on this process gets SIGTERM when process `parent` dies, however it dies, so that a
 * supervisor that is killed leaves nothing running. AQ_E_NOT_FOUND when it is dead already,
 * AQ_E_UNSUPPORTED where the system can't. */
int aq_process_follow_parent(int64_t parent, aq_error *error) AQ_MUST_USE;

/* Whether it followed one that has died. */
bool aq_process_lost_parent(void);

/* Writes to a closed pipe, or beyond the largest file allowed, become errors instead of ending the
 * process. */
void aq_process_let_writes_fail(void);

/* Whoever starts it may have closed standard input, output or error. What is opened next would take
 * their numbers: output would get into it, and libuv aborts. Before anything is opened. */
void aq_process_fill_standard_files(void);

/* The first process of a container has no default: until it watches SIGTERM and SIGINT it would not
 * hear of them, and be killed a while later. */
void aq_process_let_signals_end_it(void);

/* As many descriptors as the system lets this process have, instead of the fewer that it starts
 * with: each connection takes one. */
void aq_process_allow_descriptors(void);

/* How many children process `parent` has that have not ended, each of which gets that signal (0:
 * none); -1 where the system doesn't say. */
int aq_process_signal_children(int64_t parent, int signal_number) AQ_MUST_USE;

/* Runs this program's file again in place of this process, with `argv`, under the name that ps and
 * pgrep know it by. Returns where it can't: what errno said. */
int aq_process_start_anew(char **argv) AQ_MUST_USE;

/* The file of another program of ours: beside this one, or in the folder `folder` beside this one's
 * folder (the build tree). AQ_E_NOT_FOUND names both places. */
int aq_process_find_program(const char *name, const char *folder, char *ret_path, size_t size,
                            aq_error *error) AQ_MUST_USE;

/* The same of a module that is loaded, and that packages install as a library, not to be run. */
int aq_process_find_module(const char *name, const char *folder, char *ret_path, size_t size,
                           aq_error *error) AQ_MUST_USE;

#endif
