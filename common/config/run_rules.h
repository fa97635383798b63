/*
 * Run rules: which settings go together, and with which tasks.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_RUN_RULES_H
#define AQ_COMMON_CONFIG_RUN_RULES_H

#include "common/base/error.h"
#include "common/config/run_config.h"

/* Once each setting is within its own bounds. AQ_E_INVALID, naming the settings that contradict
 * each other and a value that works. */
int aq_run_rules_check(const aq_run_config *config, aq_error *error) AQ_MUST_USE;

/* The part of them that is about settings which members see. */
int aq_run_rules_check_seen(const aq_run_config *config, aq_error *error) AQ_MUST_USE;

/* Whether some layer is stored at the levels of quantizer.bits, where quantizer.format were this
 * one. */
bool aq_run_rules_hold_bits(const aq_run_config *config, uint32_t format);

/* Whether learner.algorithm is for what is seen and done in a task. AQ_E_UNSUPPORTED, in words. */
int aq_run_rules_check_task(const aq_run_config *config, const aq_schema *schema,
                            aq_error *error) AQ_MUST_USE;

#endif
