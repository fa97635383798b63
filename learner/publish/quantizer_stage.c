/*
 * Quantizer stage: see quantizer_stage.h.
 *
 * Jobs are made once. Each stands either in `free_*` (the trainer may fill it) or in `work` (the
 * stage may carry it out), so there is no lock around their content. A policy's copy becomes the
 * version in fp32, so the stage makes room for the next one.
 */
#include "learner/publish/quantizer_stage.h"

#include <pthread.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/queue.h"

enum { POLICY_JOBS = 2 };

typedef struct job {
    bool is_checkpoint;
    uint64_t step;
    aq_snapshot *policy; /* in fp32 */
    float *obs;          /* policy: error_rows rows */
    size_t rows;
    aq_named_arrays arrays; /* checkpoint: its own */
} job;

struct aq_quantizer_stage {
    aq_stage_config config;
    aq_stage_owner owner;
    aq_publication_history history; /* the stage's own */
    job policy_jobs[POLICY_JOBS];
    job checkpoint_job;
    aq_queue *free_policy;
    aq_queue *free_checkpoint;
    aq_queue *work;
    pthread_t thread;
    bool has_thread;
    _Atomic int64_t busy_ns;      /* with policies */
    _Atomic uint32_t full_period; /* these two go over those of config.publication */
    _Atomic double error_budget;
};

static int make_jobs(aq_quantizer_stage *stage)
{
    size_t obs_floats =
        (size_t)stage->config.publication.error_rows * aq_net_spec_inputs(stage->config.spec);
    for (int i = 0; i < POLICY_JOBS; i++) {
        job *made = &stage->policy_jobs[i];
        int rc = aq_snapshot_create_exact(stage->config.spec, &made->policy);
        if (rc != 0) {
            return rc;
        }
        made->obs = aq_alloc(obs_floats, sizeof(float));
        if (!made->obs) {
            return AQ_E_NOMEM;
        }
        rc = aq_queue_push(stage->free_policy, made);
        AQ_ASSERT(rc == 0);
    }
    job *made = &stage->checkpoint_job;
    made->is_checkpoint = true;
    int rc = aq_named_arrays_like(stage->config.arrays, &made->arrays);
    return rc == 0 ? aq_queue_push(stage->free_checkpoint, made) : rc;
}

int aq_quantizer_stage_create(const aq_stage_config *config, const aq_stage_owner *owner,
                              aq_quantizer_stage **ret_stage)
{
    aq_quantizer_stage *stage = aq_alloc(1, sizeof(*stage));
    if (!stage) {
        return AQ_E_NOMEM;
    }
    stage->config = *config;
    aq_quantizer_stage_configure(stage, config->publication.full_period,
                                 config->publication.error_budget);
    stage->owner = *owner;
    aq_publication_history_init(&stage->history, &config->publication);
    int rc = aq_queue_create(POLICY_JOBS, &stage->free_policy);
    if (rc == 0) {
        rc = aq_queue_create(1, &stage->free_checkpoint);
    }
    if (rc == 0) {
        rc = aq_queue_create(POLICY_JOBS + 1, &stage->work);
    }
    if (rc == 0) {
        rc = make_jobs(stage);
    }
    if (rc != 0) {
        aq_quantizer_stage_destroy(stage);
        return rc;
    }
    *ret_stage = stage;
    return 0;
}

static void carry_out_policy(aq_quantizer_stage *stage, job *due)
{
    aq_error error = {0};
    aq_quantize_meta meta = stage->config.meta;
    aq_snapshot *next = NULL;
    meta.learner_step = due->step;
    int rc = aq_snapshot_create_exact(stage->config.spec, &next);
    if (rc != 0) {
        (void)aq_fail(&error, rc, "no memory for a version of the policy");
    } else {
        rc = stage->owner.next_version(stage->owner.user, &meta.version, &error);
    }
    if (rc != 0) {
        aq_snapshot_unref(next);
        stage->owner.trouble(stage->owner.user, &error);
        return;
    }
    aq_snapshot *policy = due->policy;
    due->policy = next;
    aq_publication publication;
    stage->config.publication.full_period = stage->full_period;
    stage->config.publication.error_budget = stage->error_budget;
    rc = aq_publication_make(&stage->config.publication, &stage->history, &meta, policy, due->obs,
                             due->rows, &publication, &error);
    if (rc != 0) {
        stage->owner.trouble(stage->owner.user, &error);
        return;
    }
    stage->owner.publish(stage->owner.user, &publication);
}

static void give_place_back(aq_quantizer_stage *stage, job *done)
{
    int rc = aq_queue_push(done->is_checkpoint ? stage->free_checkpoint : stage->free_policy, done);
    AQ_ASSERT(rc == 0); /* there is a place for every job */
}

/* False when no job came in time or the queue is closed and empty. */
static bool carry_out_next(aq_quantizer_stage *stage, int timeout_ms)
{
    void *item = NULL;
    if (aq_queue_pop(stage->work, timeout_ms, &item) != 0) {
        return false;
    }
    job *due = item;
    if (due->is_checkpoint) {
        stage->owner.write_checkpoint(stage->owner.user, &due->arrays, due->step);
    } else {
        int64_t begun_ns = aq_clock_monotonic_ns();
        carry_out_policy(stage, due);
        stage->busy_ns += aq_clock_monotonic_ns() - begun_ns;
    }
    give_place_back(stage, due);
    return true;
}

static void *run(void *user)
{
    aq_quantizer_stage *stage = user;
    while (carry_out_next(stage, -1)) {
    }
    return NULL;
}

int aq_quantizer_stage_start(aq_quantizer_stage *stage)
{
    AQ_ASSERT(!stage->has_thread);
    int problem = pthread_create(&stage->thread, NULL, run, stage);
    if (problem) {
        return aq_error_from_errno(problem);
    }
    stage->has_thread = true;
    return 0;
}

void aq_quantizer_stage_stop(aq_quantizer_stage *stage)
{
    aq_queue_close(stage->work);
    if (stage->has_thread) {
        pthread_join(stage->thread, NULL);
        stage->has_thread = false;
    }
    while (carry_out_next(stage, 0)) {
    }
}

void aq_quantizer_stage_destroy(aq_quantizer_stage *stage)
{
    if (!stage) {
        return;
    }
    AQ_ASSERT(!stage->has_thread);
    for (int i = 0; i < POLICY_JOBS; i++) {
        aq_snapshot_unref(stage->policy_jobs[i].policy);
        aq_free(stage->policy_jobs[i].obs);
    }
    aq_named_arrays_fini(&stage->checkpoint_job.arrays);
    aq_publication_history_fini(&stage->history);
    aq_queue_destroy(stage->free_policy);
    aq_queue_destroy(stage->free_checkpoint);
    aq_queue_destroy(stage->work);
    aq_free(stage);
}

/* False when the stage was stopped; the job's place is free again then. */
static bool hand_over(aq_quantizer_stage *stage, job *due)
{
    if (aq_queue_push(stage->work, due) == 0) {
        return true;
    }
    give_place_back(stage, due);
    return false;
}

bool aq_quantizer_stage_offer_policy(aq_quantizer_stage *stage, const aq_params *params,
                                     uint64_t step, const float *obs, size_t rows)
{
    void *item = NULL;
    if (aq_queue_pop(stage->free_policy, 0, &item) != 0) {
        return false;
    }
    job *due = item;
    size_t inputs = aq_net_spec_inputs(stage->config.spec);
    due->step = step;
    due->rows =
        rows < stage->config.publication.error_rows ? rows : stage->config.publication.error_rows;
    aq_params_put(params, due->policy);
    if (due->rows) {
        memcpy(due->obs, obs, due->rows * inputs * sizeof(float));
    }
    return hand_over(stage, due);
}

bool aq_quantizer_stage_await_place(aq_quantizer_stage *stage, int timeout_ms)
{
    void *place = NULL;
    if (aq_queue_pop(stage->free_policy, timeout_ms, &place) != 0) {
        return false;
    }
    int rc = aq_queue_push(stage->free_policy, place);
    AQ_ASSERT(rc == 0); /* it was there before */
    return true;
}

const aq_named_arrays *aq_quantizer_stage_checkpoint_place(aq_quantizer_stage *stage)
{
    void *item = NULL;
    return aq_queue_pop(stage->free_checkpoint, 0, &item) == 0 ? &((job *)item)->arrays : NULL;
}

bool aq_quantizer_stage_offer_checkpoint(aq_quantizer_stage *stage, uint64_t step, bool is_whole)
{
    job *due = &stage->checkpoint_job;
    due->step = step;
    if (!is_whole) {
        give_place_back(stage, due);
        return false;
    }
    return hand_over(stage, due);
}

void aq_quantizer_stage_configure(aq_quantizer_stage *stage, uint32_t full_period,
                                  double error_budget)
{
    stage->full_period = full_period;
    stage->error_budget = error_budget;
}

int64_t aq_quantizer_stage_busy_ns(const aq_quantizer_stage *stage)
{
    return stage->busy_ns;
}

bool aq_quantizer_stage_run_one(aq_quantizer_stage *stage)
{
    AQ_ASSERT(!stage->has_thread);
    return carry_out_next(stage, 0);
}
