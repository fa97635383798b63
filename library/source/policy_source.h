/*
 * Policy source: what a person gives to name a policy. A policy file as it is stored; a run
 * folder, which has its best policy twice: policy.aq as it was broadcast, policy.fp32.aq in fp32;
 * or a checkpoint, which has the policy that was trained then, in fp32, or in the run's format if
 * it was trained quantized (learner.qat_bits).
 */
#ifndef AQ_LIBRARY_SOURCE_POLICY_SOURCE_H
#define AQ_LIBRARY_SOURCE_POLICY_SOURCE_H

#include <limits.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"

/* A precision is a weight format, or: */
enum { AQ_PRECISION_AS_STORED = 0 };

/* For people who may name one: what comes of it. */
#define AQ_PRECISION_HELP                                                                          \
    "int8, fp32 or another weight format: what a run in that format published, be it mixed, with " \
    "its first layer in bf16 or fp32 or its last in fp32; of other runs and of files in fp32 "     \
    "every layer is brought into it (default: as the policy was broadcast, or as the file has it)"

/* For AQ_TO: a format's name, into a uint32_t. AQ_E_INVALID names all of them. */
int aq_precision_take(void *precision, const char *name, aq_error *error) AQ_MUST_USE;

/* Reads the policy in the precision wanted. One in fp32 is quantized when another is asked for,
 * with the quantizer's defaults, which is another policy than any actor ran: *ret_quantized (NULL:
 * nobody asks) says so; that can't be undone. A mixed policy is in its main format, unless that is
 * fp32. ret_path (PATH_MAX bytes) gets the file that was read: of a run folder policy.aq where that
 * is what was asked for, else policy.fp32.aq. AQ_E_NOT_FOUND, AQ_E_UNSUPPORTED (another format than
 * a file has that is not fp32), and what aq_policy_file_read says. */
int aq_policy_source_read(const char *run_or_policy, uint32_t precision, aq_snapshot **ret_snapshot,
                          char *ret_path, bool *ret_quantized, aq_error *error) AQ_MUST_USE;

/* The format of most weights, of those that may be in any. Those of the first layer do not count,
 * nor those of a last one in fp32, unless there are no others. AQ_FORMAT_MIXED: there are none. */
uint32_t aq_policy_source_main_format(const aq_snapshot *snapshot);

/* "int8"; of a mixed policy "mixed: int8, first layer bf16", with each layer that is not in its
 * main format. Returns out. */
enum { AQ_PRECISION_TEXT_MAX = 256 };
const char *aq_policy_source_precision(const aq_snapshot *snapshot,
                                       char out[AQ_PRECISION_TEXT_MAX]);

/* Judges a file by its first bytes, as many as a frame's header has or all of them: AQ_E_FOREIGN
 * for what is neither a policy nor a checkpoint, AQ_E_CORRUPT for one that was cut short. What is
 * wrong further on is said by who reads it. */
int aq_policy_source_check(const char *path, const uint8_t *head, uint64_t file_bytes,
                           aq_error *error) AQ_MUST_USE;

#endif
