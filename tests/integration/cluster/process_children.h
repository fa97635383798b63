/*
 * Process children: who a process has started, as /proc tells it.
 */
#ifndef AQ_TESTS_INTEGRATION_CLUSTER_PROCESS_CHILDREN_H
#define AQ_TESTS_INTEGRATION_CLUSTER_PROCESS_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROCESS_CHILDREN_MAX = 32 };

typedef struct process_child {
    pid_t pid;
    char name[32]; /* the first word of its command line */
} process_child;

/* Fills children[PROCESS_CHILDREN_MAX]; returns how many there are. */
size_t process_children(pid_t parent, process_child *children);

/* The child of that name; 0 when there is none. */
pid_t process_child_named(pid_t parent, const char *name);

/* Whether it has not ended, its corpse not counted. */
bool process_lives(pid_t pid);

#endif
