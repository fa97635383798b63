/*
 * Policy source: what a person gives to name a policy. A policy file as it is stored, or a run
 * folder, which has its best policy twice: policy.aq as it was broadcast, policy.fp32.aq in fp32.
 */
#ifndef AQ_CLI_POLICY_SOURCE_H
#define AQ_CLI_POLICY_SOURCE_H

#include "common/base/error.h"
#include "common/rl/snapshot.h"

enum { AQ_POLICY_PATH_MAX = 4096 };

enum aq_precision { AQ_PRECISION_AS_STORED, AQ_PRECISION_INT8, AQ_PRECISION_FP32 };

/* "int8" or "fp32"; AQ_E_INVALID names both. */
int aq_precision_from_text(const char *text, enum aq_precision *ret_precision,
                           aq_error *error) AQ_MUST_USE;

/* "int8", "fp32", or "mixed" when the layers differ. */
const char *aq_precision_name(const aq_snapshot *snapshot);

/* Reads the policy in the precision wanted. One in fp32 is quantized when int8 is asked for; int8
 * can't be undone. ret_path (AQ_POLICY_PATH_MAX bytes) gets the file that was read.
 * AQ_E_NOT_FOUND, AQ_E_UNSUPPORTED (fp32 of an int8 file), and what aq_policy_file_read says. */
int aq_policy_source_read(const char *run_or_policy, enum aq_precision precision,
                          aq_snapshot **ret_snapshot, char *ret_path, aq_error *error) AQ_MUST_USE;

#endif
