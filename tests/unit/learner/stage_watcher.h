/*
 * The owner of a quantizer stage, as tests see it: it keeps what the stage brings, may hold its
 * thread at a publication, and lets a test wait for what is to come, at most ten seconds.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_STAGE_WATCHER_H
#define AQ_TESTS_UNIT_LEARNER_STAGE_WATCHER_H

#include <pthread.h>
#include <stdbool.h>

#include "learner/publish/quantizer_stage.h"
#include "tests/unit/learner/learner_kit.h"

enum { WATCHER_EVENTS_MAX = 4096 };

typedef struct stage_event {
    char kind;          /* 'p' publication, 'c' checkpoint, 't' trouble */
    uint64_t step;      /* p, c */
    uint64_t version;   /* p */
    float first;        /* p, c: the first parameter */
    float last;         /* c: the last number of the last array */
    uint64_t adam_step; /* c */
    uint32_t rows;      /* p: measured on */
    bool is_delta;      /* p */
    int code;           /* t */
} stage_event;

typedef struct stage_watcher {
    learner_kit kit;
    aq_quantizer_stage *stage;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    stage_event events[WATCHER_EVENTS_MAX];
    size_t count;
    bool hold;    /* publications stay with the owner until it is false */
    bool holding; /* the stage's thread is held */
    int version_failure;
    uint64_t next_version;
} stage_watcher;

/* A stage for the kit's network, whose checkpoints hold arrays of `state_count`; no thread yet. */
void stage_watcher_init(stage_watcher *watcher, size_t state_count);

/* Stops and destroys the stage, too. */
void stage_watcher_fini(stage_watcher *watcher);

/* Waits until there are that many events; fails the test when they don't come. */
void stage_watcher_wait(stage_watcher *watcher, size_t count);
void stage_watcher_wait_holding(stage_watcher *watcher);
void stage_watcher_hold(stage_watcher *watcher, bool hold);

size_t stage_watcher_count(stage_watcher *watcher);
stage_event stage_watcher_event(stage_watcher *watcher, size_t index);
size_t stage_watcher_count_of(stage_watcher *watcher, char kind);

#endif
