/*
 * Recording: what an original environment did, read from a JSON file of one of three forms:
 *
 *   an episode   actions, and after each the observation, the reward, the state and how it ended;
 *                Gymnasium's ("id", "states") or the control suite's ("domain", "task", "qpos")
 *   probes       states that were placed by hand, each with its observation and reward
 *   a table      P[state][action] of a toy-text task, and some episodes
 *
 * A recording can be longer than it needs to be and hold more than is used here; what is used is
 * checked. Immutable, one owner.
 */
#ifndef AQ_BENCH_ENV_REPLAY_RECORDING_H
#define AQ_BENCH_ENV_REPLAY_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/env_replay/number_matrix.h"
#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "envs/env_golden.h"
#include "envs/text/tabular.h"

enum { AQ_RECORDING_SERIES_MAX = 8, AQ_RECORDING_STEPS_MAX = 1 << 20 };

enum aq_recording_form { AQ_RECORDING_EPISODE, AQ_RECORDING_PROBES, AQ_RECORDING_TABLE };

/* One named value of the state: "qpos". */
typedef struct aq_recording_series {
    const char *name;
    bool is_compared;         /* else it is only put in */
    aq_number_matrix initial; /* one row: before the first step, or for all of the recording */
    aq_number_matrix steps;   /* a row after each step, or of each probe */
    aq_number_matrix resets;  /* a row each */
} aq_recording_series;

typedef struct aq_table_step {
    uint32_t action, next;
    double reward;
    bool terminated, truncated;
    uint32_t restart; /* where the next episode began; of a step that ended one */
} aq_table_step;

typedef struct aq_table_episode {
    uint32_t start;
    size_t step_count;
    aq_table_step *steps;
} aq_table_episode;

typedef struct aq_recorded_table {
    uint32_t cells, actions;
    aq_number_matrix start_chances; /* one row of a number per cell; or none */
    size_t *offsets;              /* outcomes of (cell, action) are [offsets[i], offsets[i + 1]) */
    aq_tabular_outcome *outcomes; /* i = cell * actions + action */
    size_t episode_count;
    aq_table_episode *episodes;
} aq_recorded_table;

typedef struct aq_recording {
    enum aq_recording_form form;
    char task[AQ_TASK_NAME_MAX]; /* in our words: "dmc:walker_walk" */

    size_t step_count; /* steps or probes */
    aq_number_matrix initial_observation;
    aq_number_matrix actions, observations, rewards, terminated, truncated;
    size_t series_count;
    aq_recording_series series[AQ_RECORDING_SERIES_MAX];

    size_t reset_count;
    aq_number_matrix reset_steps; /* the step that each reset followed */
    aq_number_matrix reset_observations;

    aq_recorded_table table;
} aq_recording;

/* AQ_E_NOT_FOUND, AQ_E_IO, AQ_E_TOO_BIG, AQ_E_NOMEM; AQ_E_CORRUPT for what is no JSON, or where a
 * recording breaks its form; AQ_E_FOREIGN for JSON of another kind. */
int aq_recording_read(const char *path, aq_recording **ret_recording, aq_error *error) AQ_MUST_USE;
void aq_recording_free(aq_recording *recording); /* NULL is fine */

/* The reset that followed `step`; false when there was none. */
bool aq_recording_reset_after(const aq_recording *recording, size_t step, size_t *ret_reset);

/* The state's values: at the beginning, after a step (of a probe: in it), after a reset. They are
 * valid as long as the recording. */
void aq_recording_at_start(const aq_recording *recording, aq_golden_values *ret_values);
void aq_recording_at_step(const aq_recording *recording, size_t step, aq_golden_values *ret_values);
void aq_recording_at_reset(const aq_recording *recording, size_t reset,
                           aq_golden_values *ret_values);

#endif
