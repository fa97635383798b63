/*
 * Compare arm: one of the things that a comparison runs beside each other: a name, and what it adds
 * to the run that all have in common: settings, and how many learners. Precisions make one list of
 * arms, ways of learning in parallel (modes) another; whatever walks a comparison knows arms alone.
 * One thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_ARM_H
#define AQ_CLI_COMPARE_COMPARE_ARM_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/choice.h"
#include "common/base/error.h"
#include "common/config/run_config.h"

enum {
    AQ_COMPARE_ARMS_MAX = 16, /* as many as a chart has lines that can be told apart */
    AQ_COMPARE_WORD_MAX = 32,
    AQ_COMPARE_SETTINGS_MAX = 192,
    AQ_COMPARE_PARALLEL_MAX = 64,
    AQ_COMPARE_SCALES_MAX = 4
};

/* What the arms of a comparison are. */
#define AQ_COMPARE_SUBJECTS(X)                                                                     \
    X(AQ_COMPARE_PRECISIONS, "precision")                                                          \
    X(AQ_COMPARE_MODES, "mode")
enum aq_compare_subject { AQ_COMPARE_SUBJECTS(AQ_CHOICE_CONSTANT) };
const char *aq_compare_subject_name(enum aq_compare_subject subject); /* static storage */

#define AQ_LEARNING_MODES(X)                                                                       \
    X(AQ_MODE_EXPERIENCE, "experience") /* actors make experience for one learner */               \
    X(AQ_MODE_SYNC, "sync")             /* ranks average their gradients at each step */           \
    X(AQ_MODE_ASYNC, "async")   /* actors push gradients, which are applied as they come */        \
    X(AQ_MODE_MODEL, "model")   /* ranks have a part of the networks each */                       \
    X(AQ_MODE_HYBRID, "hybrid") /* two of these at once */
enum aq_learning_mode { AQ_LEARNING_MODES(AQ_CHOICE_CONSTANT) };

typedef struct aq_compare_arm {
    char name[AQ_COMPARE_WORD_MAX];         /* of its row and its folders */
    char settings[AQ_COMPARE_SETTINGS_MAX]; /* KEY=VALUE, a blank between them */
    uint64_t learners;                      /* ranks; 1: a learner alone */
    /* Of modes only. */
    enum aq_learning_mode mode;
    uint64_t parallel; /* how many it puts side by side */
} aq_compare_arm;

/* What was asked for, from which the arms follow. */
typedef struct aq_compare_request {
    enum aq_compare_subject subject;
    char names[AQ_COMPARE_ARMS_MAX][AQ_COMPARE_WORD_MAX];
    size_t name_count;
    uint64_t parallel;                      /* of modes */
    uint64_t scales[AQ_COMPARE_SCALES_MAX]; /* other numbers that are measured, likewise */
    size_t scale_count;
} aq_compare_request;

/* "fp32,fp16,int8" into the names. AQ_E_INVALID for none, an empty one, one given twice or too
 * many, or a mode that there is not. */
int aq_compare_request_names(aq_compare_request *request, const char *text,
                             aq_error *error) AQ_MUST_USE;

/* "1,2" into the scales. AQ_E_INVALID. */
int aq_compare_request_scales(aq_compare_request *request, const char *text,
                              aq_error *error) AQ_MUST_USE;

/* The arms for what all have in common, AQ_COMPARE_ARMS_MAX of them at most; those of other scales
 * come last, but for any that there is already under another name. AQ_E_INVALID for too many. */
int aq_compare_arms_make(const aq_compare_request *request, const aq_run_config *config,
                         aq_compare_arm *ret_arms, size_t *ret_count, aq_error *error) AQ_MUST_USE;

/* The arm in which `mode` has so many side by side; `count` when there is none. */
size_t aq_compare_arms_find(const aq_compare_arm *arms, size_t count, enum aq_learning_mode mode,
                            uint64_t parallel);

/* The run's configuration with the arm's settings. AQ_E_INVALID. */
int aq_compare_arm_apply(const aq_compare_arm *arm, aq_run_config *config,
                         aq_error *error) AQ_MUST_USE;

/* What `actorq train` is given for it: " --set actor.count=2 --learners 2"; returns `out`. */
const char *aq_compare_arm_flags(const aq_compare_arm *arm, char *out, size_t size);

#endif
