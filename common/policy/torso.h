/*
 * Torso: the layers that stand before the hidden ones, as a text says: elements separated by
 * commas, or the name of such a list.
 *
 *   conv:16x3/1    a convolution of 16 filters over patches of 3 x 3, a step of 1 apart; what
 *                  follows it is the activation of the hidden layers
 *   conv:16x3/1+1  the same with a border of one pixel of zeros
 *   pool:3/2+1     the greatest of each channel in patches of 3 x 3, 2 apart, with a border
 *   residual:16x2  a section of IMPALA's: a convolution of 16 filters of 3 x 3 and a border, that
 *                  pool, and 2 blocks of x + conv(act(conv(act(x)))); an activation is behind the
 *                  last of several sections
 *   gru:64         a gated recurrent unit of 64 values, with which the network keeps a state
 *
 * A kind of element is a row of a table in torso.c: its word, the form of its numbers, and the
 * function that adds its layers. So is a name. Pure; any thread.
 */
#ifndef AQ_COMMON_POLICY_TORSO_H
#define AQ_COMMON_POLICY_TORSO_H

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "common/policy/netspec.h"

/* Whether the text is a torso; an empty one is none. AQ_E_INVALID, in words. */
int aq_torso_check(const char *text, aq_error *error) AQ_MUST_USE;

/* Of a text that was checked: so many values are kept from step to step. */
uint32_t aq_torso_state(const char *text);

/* Appends the layers of a torso, whose text was checked, to a network that has none; `*ret_width`
 * is then what the last one gives, or the observation's elements where there are none.
 * AQ_E_UNSUPPORTED, in words, for an observation that it can't take; AQ_E_INVALID when there are
 * too many layers. */
int aq_torso_add(const char *text, const aq_space *obs, enum aq_activation activation,
                 uint32_t *ret_width, aq_net_spec *spec, aq_error *error) AQ_MUST_USE;

#endif
