/*
 * Store: what a shard holds in a run, and where: begins it in the service when the learner has
 * named the run, in a folder of segments or in memory, keeps it over a restart of the learner,
 * begins it anew under other settings, and says in the log what became of it.
 *
 * The loop's thread. The log's own thread only wakes it.
 */
#ifndef AQ_REPLAY_DAEMON_REPLAY_STORE_H
#define AQ_REPLAY_DAEMON_REPLAY_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "common/base/error.h"
#include "common/member/member.h"
#include "common/sys/log.h"
#include "replay/service/replay_service.h"

typedef struct aq_replay_store {
    aq_replay_service *service;
    const char *folder;  /* NULL: in memory */
    uint64_t identity;   /* names it over all its lives */
    uint64_t start;      /* what is shown of the process's incarnation */
    uint32_t slot;       /* that it had; 0 if none */
    bool is_new;         /* the folder holds nothing yet */
    bool was_in_run;     /* of an earlier process */
    uint64_t begun;      /* times, in this process */
    uint64_t damaged;    /* lines about damaged records */
    uint64_t missing;    /* messages, as was said last */
    uv_async_t progress; /* the log has news */
    int64_t ticked_ns;
    bool was_stuck;
    char trouble[AQ_ERROR_TEXT_MAX]; /* with the log, beside records, as was said last */
    int demotion_code;
    aq_log_limit stuck_limit, trouble_limit, missing_limit;
} aq_replay_store;

/* Reads who the store in `folder` (NULL: in memory) is, or draws its name. `folder` is borrowed. In
 * words, what aq_segment_folder_identify refuses. On failure nothing is to be given back. */
int aq_replay_store_init(aq_replay_store *store, aq_replay_service *service, uv_loop_t *loop,
                         const char *folder, uint64_t start, aq_error *error) AQ_MUST_USE;

/* The learner took this shard into a run, again or for the first time: begins, keeps or changes
 * the store. What it refuses, in words, ends the process. */
int aq_replay_store_joined(aq_replay_store *store, const aq_member_view *view, int again,
                           aq_error *error) AQ_MUST_USE;

/* For the log line about the end of the process: what becomes of the steps. */
const char *aq_replay_store_fate(const aq_replay_store *store);

/* An orderly end: saves priorities, answers what is held, syncs and closes the log. */
void aq_replay_store_stop(aq_replay_store *store, const char *reason);

/* Drives the service, and tells of trouble with the log. Every AQ_REPLAY_TICK_MS. */
void aq_replay_store_tick(aq_replay_store *store, int64_t now_ns);

/* The service's owner's callback. */
void aq_replay_store_damaged(aq_replay_store *store, const char *what);

#endif
