/*
 * Daemon process: one of our programs run as a process, life after life, all of whose lives write
 * into one log file. What goes wrong in starting it fails the test.
 *
 * One thread.
 */
#ifndef AQ_TESTS_INTEGRATION_CLUSTER_DAEMON_PROCESS_H
#define AQ_TESTS_INTEGRATION_CLUSTER_DAEMON_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DAEMON_ARGUMENTS_MAX = 64 };

typedef struct daemon_process {
    char name[32];
    char log_path[256];
    pid_t pid;      /* 0: not running */
    int exit_code;  /* of the life that ended last: 0 to 255, or the negative signal */
    unsigned lives; /* started so far */
    size_t life_at; /* where the log of this life begins, in bytes */
} daemon_process;

/* Its log will be FOLDER/NAME.log. */
void daemon_process_init(daemon_process *process, const char *folder, const char *name);

/* argv[0] is the file to run; NULL ends the list. Standard output and error go to the log. */
void daemon_process_start(daemon_process *process, const char *const *argv);

/* Whether it runs; takes note of its end. */
bool daemon_process_runs(daemon_process *process);

void daemon_process_signal(const daemon_process *process, int number);

/* Kills it, if it runs, and waits until it is gone. */
void daemon_process_kill(daemon_process *process);

/* What it wrote, in this life or in all; aq_free it. Never NULL. */
char *daemon_process_log(const daemon_process *process, bool all_lives);

/* Whether a line of this life has these words, such as "event=ready". */
bool daemon_process_said(const daemon_process *process, const char *words);

/* The first line of this life with these words into ret_line, cut to fit; false when there is
 * none. */
bool daemon_process_line(const daemon_process *process, const char *words, char *ret_line,
                         size_t size);

/* The whole number behind "KEY=" in a line; fails the test when it is not there. */
uint64_t daemon_line_number(const char *line, const char *key);

/* NULL, or the words in a log that a sanitizer or an assertion left there. Static storage. */
const char *daemon_log_fault(const char *path);

/* How it fares, to standard error. */
void daemon_process_print(const daemon_process *process);

/* The last lines of a log to standard error. */
void daemon_log_print_tail(const char *path);

/* Of /proc/PID/status, such as "VmHWM" (kB) or "Threads"; 0 when it can't be told. */
uint64_t process_figure(pid_t pid, const char *key);

#endif
