/*
 * Recording form: the readers of the forms of recordings (recording.h), each given a file's JSON
 * and an empty recording, which its caller frees. AQ_E_CORRUPT, AQ_E_TOO_BIG, AQ_E_NOMEM.
 */
#ifndef AQ_BENCH_ENV_REPLAY_RECORDING_FORM_H
#define AQ_BENCH_ENV_REPLAY_RECORDING_FORM_H

#include <jansson.h>

#include "bench/env_replay/recording.h"

int aq_recording_read_gym(const json_t *root, aq_recording *recording, aq_error *error) AQ_MUST_USE;
int aq_recording_read_suite(const json_t *root, aq_recording *recording,
                            aq_error *error) AQ_MUST_USE;
int aq_recording_read_probes(const json_t *root, aq_recording *recording,
                             aq_error *error) AQ_MUST_USE;

int aq_recorded_table_read(const json_t *root, aq_recording *recording,
                           aq_error *error) AQ_MUST_USE;
void aq_recorded_table_fini(aq_recorded_table *table);

/* Reads the member `name` as a matrix of that many rows. */
int aq_recording_rows(const json_t *root, const char *name, size_t rows,
                      aq_number_matrix *ret_matrix, aq_error *error) AQ_MUST_USE;

/* The member `name` of each of the objects, as a matrix of a row each; `what` is one of them. */
int aq_recording_gather(const json_t *objects, const char *what, const char *name,
                        aq_number_matrix *ret_matrix, aq_error *error) AQ_MUST_USE;

/* Reads actions, rewards and observations with the initial one, which `needs_first` does not let be
 * missing, and sets step_count. */
int aq_recording_read_steps(const json_t *root, bool needs_first, aq_recording *recording,
                            aq_error *error) AQ_MUST_USE;

/* A new series, empty. */
aq_recording_series *aq_recording_add_series(aq_recording *recording, const char *name,
                                             bool is_compared);

/* AQ_E_CORRUPT unless each series has rows of one width. */
int aq_recording_check_series(const aq_recording *recording, aq_error *error) AQ_MUST_USE;

#endif
