/*
 * Quantizer stage: the thread beside the trainer that turns parameters into published versions and
 * into checkpoints. The trainer hands over a copy and goes on; a job that finds no free place is
 * simply not taken, so training waits for no publish and no disk. Only where no version may be left
 * out does it wait for a place.
 *
 *   trainer --offer_policy--> [2 places] --> quantize, measure, gate, pack --> owner.publish
 *   trainer --offer_checkpoint--> [1 place] --> owner.write_checkpoint
 */
#ifndef AQ_LEARNER_PUBLISH_QUANTIZER_STAGE_H
#define AQ_LEARNER_PUBLISH_QUANTIZER_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/named_arrays.h"
#include "learner/publish/publication.h"

typedef struct aq_quantizer_stage aq_quantizer_stage;

/* All called on the stage's thread. */
typedef struct aq_stage_owner {
    void *user;
    /* The next version number; AQ_E_ when none can be had (a full disk): nothing is published. */
    int (*next_version)(void *user, uint64_t *ret_version, aq_error *error);
    /* Sends and keeps it; owns `publication` (moved out of it or finished). */
    void (*publish)(void *user, aq_publication *publication);
    void (*write_checkpoint)(void *user, const aq_named_arrays *arrays, uint64_t step);
    void (*trouble)(void *user, const aq_error *error);
} aq_stage_owner;

typedef struct aq_stage_config {
    aq_publication_config publication;
    aq_quantize_meta meta; /* version and learner_step are filled in per job */
    const aq_net_spec *spec;
    const aq_named_arrays *arrays; /* that a checkpoint keeps, for their shapes; only at create */
} aq_stage_config;

/* No thread yet. */
int aq_quantizer_stage_create(const aq_stage_config *config, const aq_stage_owner *owner,
                              aq_quantizer_stage **ret_stage) AQ_MUST_USE;
int aq_quantizer_stage_start(aq_quantizer_stage *stage) AQ_MUST_USE;

/* Finishes what has been taken, then joins the thread. Without a thread: runs it here. Nothing is
 * taken any more; more than one call is fine. */
void aq_quantizer_stage_stop(aq_quantizer_stage *stage);
void aq_quantizer_stage_destroy(aq_quantizer_stage *stage); /* NULL is fine; stopped */

/* One thread, the trainer's. Copies what it is given. False when there is no free place, or the
 * stage was stopped. `rows` beyond what is measured are ignored. */
bool aq_quantizer_stage_offer_policy(aq_quantizer_stage *stage, const aq_params *params,
                                     uint64_t step, const float *obs, size_t rows);

/* The same thread: the arrays that a checkpoint has to be written to, of config.arrays' shapes;
 * NULL when they are not free. Then they are to be offered; unless they are whole, or when the
 * stage was stopped, nothing comes of it, which is false. */
const aq_named_arrays *aq_quantizer_stage_checkpoint_place(aq_quantizer_stage *stage);
bool aq_quantizer_stage_offer_checkpoint(aq_quantizer_stage *stage, uint64_t step, bool is_whole);

/* The same thread: waits for a place for a policy, up to timeout_ms; negative: without limit, of a
 * stage that has its thread and was not stopped. False when there is none by then. */
bool aq_quantizer_stage_await_place(aq_quantizer_stage *stage, int timeout_ms);

/* Any thread: holds from the next policy on. */
void aq_quantizer_stage_configure(aq_quantizer_stage *stage, uint32_t full_period,
                                  double error_budget);

/* Time spent on policies so far: quantizing, measuring, packing and sending them. Any thread. */
int64_t aq_quantizer_stage_busy_ns(const aq_quantizer_stage *stage);

/* Carries out one job here, without a thread (tests); false when there was none. */
bool aq_quantizer_stage_run_one(aq_quantizer_stage *stage);

#endif
