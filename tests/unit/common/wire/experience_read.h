/*
 * For tests that want to keep what somebody has sent: an EXPERIENCE frame as a message of chunks,
 * copied out of it. A shard does without the copies (common/wire/wire_experience.h).
 */
#ifndef AQ_TESTS_UNIT_COMMON_WIRE_EXPERIENCE_READ_H
#define AQ_TESTS_UNIT_COMMON_WIRE_EXPERIENCE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "tests/support/chunks.h"

/* Fails as aq_wire_experience_arrive does. */
int experience_read(const uint8_t *bytes, size_t size, uint64_t run_id, const aq_layout *layout,
                    aq_experience *ret_experience, aq_error *error) AQ_MUST_USE;

#endif
