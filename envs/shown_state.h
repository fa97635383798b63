/*
 * Shown state: how a task whose states can be counted shows in which it is: as it does by itself,
 * by a choice, or, as the option one_hot asks, by one of many that is set, which a network takes.
 *
 *   one_hot=no     a choice below the number of states
 *   one_hot=yes    a box of floats, zeros with a 1 at its place
 *   one_hot=bytes  the same in bytes, with a 255, which networks see as 1: a quarter as large
 *
 * Any thread; no state.
 */
#ifndef AQ_ENVS_SHOWN_STATE_H
#define AQ_ENVS_SHOWN_STATE_H

#include "envs/env.h"

enum aq_shown_state { AQ_SHOWN_CHOICE, AQ_SHOWN_FLOATS, AQ_SHOWN_BYTES };

/* Takes the option; *shown stays where it was not given. AQ_E_INVALID in words. */
int aq_shown_state_option(aq_env_options *options, uint32_t *shown, aq_error *error) AQ_MUST_USE;

void aq_shown_state_space(uint32_t shown, uint32_t states, aq_space *ret_space);

/* Writes a row of that space; state < states. */
void aq_shown_state_write(uint32_t shown, uint32_t states, uint32_t state, void *obs);

#endif
