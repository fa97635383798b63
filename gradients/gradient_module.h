/*
 * What the module of gradients exports; the simulator of the tests links it.
 */
#ifndef AQ_GRADIENTS_GRADIENT_MODULE_H
#define AQ_GRADIENTS_GRADIENT_MODULE_H

#include "rollout/gradient_maker.h"

/* As aq_gradient_maker_open_fn. */
__attribute__((visibility("default"))) int
aq_gradient_maker_open(size_t bytes, const aq_run_settings *settings, uint64_t seed,
                       aq_gradient_maker *ret_maker, aq_error *error) AQ_MUST_USE;

/* As aq_gradient_settle_fn. */
__attribute__((visibility("default"))) void aq_gradient_settle(char **argv);

#endif
