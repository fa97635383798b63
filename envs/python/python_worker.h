/*
 * Python worker: the process that steps a task's environments, kept alive. When it dies, hangs or
 * talks nonsense it is killed, the reason is kept in words, and another is started after a while
 * that doubles each time; until that one is there, nothing can be done, and nobody has to wait for
 * it.
 *
 * Work goes through slots (python_protocol.h). Slots 0 to lanes_max - 1 are for rounds of many
 * lanes, slot lanes_max is for one lane in between. One thread at a time.
 */
#ifndef AQ_ENVS_PYTHON_PYTHON_WORKER_H
#define AQ_ENVS_PYTHON_PYTHON_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "common/policy/snapshot.h"
#include "envs/python/python_process.h"
#include "envs/python/python_protocol.h"

enum aq_python_phase { AQ_PYTHON_DOWN = 0, AQ_PYTHON_STARTING = 1, AQ_PYTHON_READY = 2 };

/* Read by everybody, written by the functions below. */
typedef struct aq_python_worker {
    aq_schema schema;
    uint32_t step_limit;     /* that the environment states of itself; 0: none */
    double reward_threshold; /* likewise; NaN: none */
    bool draws;              /* it has pictures */
    size_t obs_bytes, action_bytes;
    uint32_t lanes_max;
    uint64_t generation; /* of the process; from 1. What an older one knew is lost */

    /* Why it is down, or why the last work in a slot failed. */
    char failure[AQ_PYTHON_TEXT_MAX + 256];

    enum aq_python_phase phase;
    char task[AQ_TASK_NAME_MAX];
    uint32_t interpreter; /* aq_python_interpreter's choice that worked */
    int64_t timeout_ns;   /* of one round */
    int64_t owner;        /* the process that opened it */
    aq_python_process process;
    int memory;
    uint8_t *rows; /* mapped */
    aq_python_layout layout;
    int64_t started_ns; /* the process */
    int64_t retry_ns;   /* when it may be started again */
    int64_t back_off_ns;
} aq_python_worker;

/* Starts the worker for a task ("gymnasium:CartPole-v1") and waits until it is ready: as long as
 * importing takes. `timeout_s` is the longest that a round may take. AQ_E_NOT_FOUND (no Python, no
 * package), AQ_E_UNSUPPORTED (what Python refused, with a traceback), AQ_E_TIMEOUT, AQ_E_NOMEM. */
int aq_python_worker_create(const char *task, uint32_t timeout_s, aq_python_worker **ret_worker,
                            aq_error *error) AQ_MUST_USE;
void aq_python_worker_destroy(aq_python_worker *worker); /* NULL is fine */

/* False in a process that was forked off: the worker is its parent's, which goes on with it. */
bool aq_python_worker_is_ours(aq_python_worker *worker);

/* Whether it can work; else takes the next step towards that, without waiting. */
bool aq_python_worker_is_ready(aq_python_worker *worker);

/* Waits until it can work, or one more start of it has failed, which is noted. */
void aq_python_worker_await(aq_python_worker *worker);

/* The row of that slot in a column of rows of `row_bytes`. Valid while the worker lives. */
void *aq_python_worker_row(const aq_python_worker *worker, enum aq_python_column column,
                           size_t row_bytes, uint32_t slot);

/* Names a lane and its work in a slot. */
void aq_python_worker_put(aq_python_worker *worker, uint32_t slot, uint32_t lane,
                          enum aq_python_work work, uint64_t seed);

/* Has these slots worked through, and waits for it. False: the worker is down now. */
bool aq_python_worker_work(aq_python_worker *worker, uint32_t first, uint32_t count);

/* Keeps why the work in that slot failed. */
void aq_python_worker_note(aq_python_worker *worker, uint32_t slot);
void aq_python_worker_note_text(aq_python_worker *worker, const char *format, ...) AQ_PRINTF(2, 3);

#endif
