/*
 * Python process: the interpreter with the package actorq_env, started as a child with a socket to
 * talk over and shared memory, and killed for good. It never outlives this program, however that
 * ends: it holds a pipe at whose end the kernel kills it.
 *
 * The interpreter is $ACTORQ_PYTHON, else `python3`, else (where that has no NumPy) Debian's. The
 * package is in $ACTORQ_PYTHONPATH, else ../python or ../share/actorq/python as seen from this
 * program's folder, or from those above it.
 *
 * One thread at a time.
 */
#ifndef AQ_ENVS_PYTHON_PYTHON_PROCESS_H
#define AQ_ENVS_PYTHON_PYTHON_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_python_process {
    int64_t pid;  /* 0: none */
    int channel;  /* a socket that keeps the bounds of messages */
    int lifeline; /* closing it kills the process */
} aq_python_process;

/* Interpreter number `choice`, from 0; NULL past the last. Static storage or the environment's. */
const char *aq_python_interpreter(uint32_t choice);

/* Starts the worker for a task ("gymnasium:CartPole-v1"); `memory` is a file descriptor that it
 * inherits. AQ_E_NOT_FOUND, AQ_E_IO, AQ_E_NOMEM, in words. */
int aq_python_process_start(const char *interpreter, const char *task, int memory,
                            aq_python_process *ret_process, aq_error *error) AQ_MUST_USE;

/* Lets go of one that is another's: the process that this one was forked from has it still. */
void aq_python_process_forget(aq_python_process *process);

/* Kills it, with all that it started, and waits for its end. Nothing happens to one that is not
 * running. */
void aq_python_process_kill(aq_python_process *process);

/* The same for one that was told to end or whose channel has ended: it has until then. How it ended
 * is told in `how` ("was killed by signal 9"). */
void aq_python_process_finish(aq_python_process *process, int timeout_ms, char *how,
                              size_t how_bytes);

/* Shared memory without a name, still empty. AQ_E_NOMEM. */
int aq_python_memory_create(int *ret_memory, aq_error *error) AQ_MUST_USE;

#endif
