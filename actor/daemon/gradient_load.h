/*
 * Loading what computes gradients, a module: other actors are smaller without it.
 */
#ifndef AQ_ACTOR_DAEMON_GRADIENT_LOAD_H
#define AQ_ACTOR_DAEMON_GRADIENT_LOAD_H

#include "rollout/gradient_maker.h"

/* First of all, as it may start the program anew, with `argv`. AQ_E_NOT_FOUND or AQ_E_UNSUPPORTED,
 * in words. It stays loaded. */
int aq_gradient_load(char **argv, aq_gradient_maker_open_fn *ret_open, aq_error *error) AQ_MUST_USE;

#endif
