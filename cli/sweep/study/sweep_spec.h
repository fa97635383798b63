/*
 * Sweep spec: what a sweep is to try, as SPEC.yaml says it: the task and what is fixed, the space,
 * how trials are chosen, from which seeds they train, what counts, and how far they go.
 *
 *   task: gym:CartPole-v1
 *   trials: 64
 *   method: tpe
 *   space:
 *     learner.learning_rate: {log: [1e-4, 1e-2]}
 *   seeds: {tune: 2, report: 5}
 *   rungs: [5000, 15000, 45000]
 *
 * Docs: docs/sweeps.md. One thread.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_SPEC_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/sweep/study/sweep_space.h"
#include "common/base/choice.h"
#include "common/base/error.h"
#include "common/config/run_config.h"

enum {
    AQ_SWEEP_TRIALS_MAX = 65536,
    AQ_SWEEP_RUNGS_MAX = 1024, /* of a population: how often it moves on */
    AQ_SWEEP_SEEDS_MAX = 64,
    AQ_SWEEP_FIXED_MAX = 64,
    AQ_SWEEP_FIXED_BYTES = 2 * (AQ_SETTINGS_KEY_MAX + 1) + 256,
    AQ_SWEEP_ROUND_MAX = 256,
    AQ_SWEEP_NAME_MAX = 64,
    AQ_SWEEP_SPEC_BYTES_MAX = 1 << 16,
};

#define AQ_SWEEP_METHODS(X)                                                                        \
    X(AQ_SWEEP_GRID, "grid")                                                                       \
    X(AQ_SWEEP_RANDOM, "random")                                                                   \
    X(AQ_SWEEP_SOBOL, "sobol")                                                                     \
    X(AQ_SWEEP_TPE, "tpe")                                                                         \
    X(AQ_SWEEP_PBT, "pbt")
enum aq_sweep_method { AQ_SWEEP_METHODS(AQ_CHOICE_CONSTANT) };

/* What is known of a run when it has ended. Scores come first: more of them is better. */
#define AQ_SWEEP_FIGURES(X)                                                                        \
    X(AQ_SWEEP_RETURN, "return") /* of its best policy, over fresh episodes */                     \
    X(AQ_SWEEP_AREA, "area") /* mean over the steps it may take of what it had shown by then */    \
    X(AQ_SWEEP_STEPS, "env_steps")                                                                 \
    X(AQ_SWEEP_WALL, "wall_s")                                                                     \
    X(AQ_SWEEP_CPU, "cpu_s")                                                                       \
    X(AQ_SWEEP_BYTES, "bytes") /* of policies, broadcast */                                        \
    X(AQ_SWEEP_JOULES, "joules")
enum aq_sweep_figure {
    AQ_SWEEP_FIGURES(AQ_CHOICE_CONSTANT) AQ_SWEEP_FIGURE_COUNT,
    AQ_SWEEP_SCORES = AQ_SWEEP_STEPS
};
const char *aq_sweep_figure_name(enum aq_sweep_figure figure); /* static storage */
const char *aq_sweep_method_name(enum aq_sweep_method method);

typedef struct aq_sweep_seeds {
    uint64_t seeds[AQ_SWEEP_SEEDS_MAX];
    size_t count;
} aq_sweep_seeds;

/* How a population moves on. */
typedef struct aq_sweep_population {
    double replace; /* share of it, the worst, that goes on from the best */
    double gap;     /* only where the best is better by this share of the population's spread */
    double mutate;  /* chance of each setting of such a one to change */
    double factor;  /* by this, up or down, at most; powers of two by two */
} aq_sweep_population;

typedef struct aq_sweep_spec {
    char task[AQ_TASK_NAME_MAX];
    char preset[AQ_SWEEP_NAME_MAX];                       /* "": the task's default */
    char fixed[AQ_SWEEP_FIXED_MAX][AQ_SWEEP_FIXED_BYTES]; /* "KEY=VALUE" */
    size_t fixed_count;
    aq_sweep_space space;
    enum aq_sweep_method method;
    uint32_t trials;
    uint32_t round; /* runs that are decided on together */
    uint64_t seed;  /* of what is drawn */
    aq_sweep_seeds tune, report;
    enum aq_sweep_figure score;
    enum aq_sweep_figure cost;          /* AQ_SWEEP_FIGURE_COUNT: it doesn't count */
    uint64_t rungs[AQ_SWEEP_RUNGS_MAX]; /* environment steps; 0: as many as the settings say */
    size_t rung_count;
    double keep; /* one of so many goes on to the next rung */
    aq_sweep_population population;
    double lease_s; /* how long a worker may be silent */
    bool prunes;    /* what nothing goes on from loses its checkpoints: sweep_prune.h */
} aq_sweep_spec;

/* What SPEC.yaml says. Errors begin "NAME:LINE: " and say what is allowed. */
int aq_sweep_spec_read(const char *name, const char *text, size_t size, aq_sweep_spec *ret_spec,
                       aq_error *error) AQ_MUST_USE;

/* What `--set` is given of a point: what is fixed, and its values, which stand in `texts`. NULL:
 * what is fixed alone. */
typedef char aq_sweep_texts[AQ_SWEEP_DIMS_MAX][AQ_SETTINGS_KEY_MAX + 1 + AQ_SWEEP_VALUE_MAX];
void aq_sweep_spec_assignments(const aq_sweep_spec *spec, const aq_sweep_point *point,
                               aq_sweep_texts texts, aq_settings_assignments *ret_assignments);

/* What the task and its settings say of a sweep. */
typedef struct aq_sweep_plan {
    uint64_t steps;        /* that a run may take where no rung says */
    bool is_resumed;       /* a promoted run goes on where it was; else it starts anew */
    uint32_t settings_sum; /* of what presets and SPEC.yaml come to; 0: not known */
    double least_return;   /* of episodes by chance: what a run is worth before it has shown more */
} aq_sweep_plan;

/* Whether trials would be trained here as where that sum is of: presets may be others. Opens the
 * task, whose code may not be allowed to run (env_code.h). AQ_E_FOREIGN, and what checking says. */
int aq_sweep_spec_check_same(const aq_sweep_spec *spec, uint32_t settings_sum,
                             aq_error *error) AQ_MUST_USE;

/* Whether the task can be trained so: opens it, resolves what a trial in the middle of the space
 * would be trained under, and plays a few episodes by chance. */
int aq_sweep_spec_check(const aq_sweep_spec *spec, aq_sweep_plan *ret_plan,
                        aq_error *error) AQ_MUST_USE;

#endif
