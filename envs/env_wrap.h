/*
 * Env wrap: what every task can be asked for by options, whatever it is.
 *
 *   time_limit=N     an episode is cut after N steps, in place of the task's own limit
 *   action_repeat=N  each action is taken N times, 1 to 64; rewards add up, and what is seen is
 *                    what the last of them led to. The task's own limit counts the single ones
 *   frame_stack=N    the last N observations, 1 to 16, are seen as one, the oldest first: those of
 *                    two or more dimensions along the last axis, others behind each other. The
 *                    first of an episode stands for those before it. Each is sent and stored once
 *                    (frames.h)
 *   obs_scale=X      observations of floats are multiplied
 *   reward_scale=X   rewards are multiplied, and so is the threshold
 *   clip_reward=yes  rewards are held between -1 and 1, after that; there is no threshold then
 *   one_hot=yes      a state that can be counted is seen as one of many that is set, which is what
 *                    networks take (shown_state.h)
 *   mask=velocity    elements that are velocities are seen as 0, where the task says which ones are
 *   sticky=P         the action before is taken instead with probability P
 *   sleep_us=N       each single step first sleeps N microseconds, up to a second, and takes no
 *                    processor time for it: an environment that is slow in the way of a device or
 *                    of a remote one. Environments of one process sleep one after the other
 *
 * Around the environment comes one whose class is made for it. It is as any other: the same seed
 * gives the same bits.
 */
#ifndef AQ_ENVS_ENV_WRAP_H
#define AQ_ENVS_ENV_WRAP_H

#include "common/base/error.h"
#include "envs/env_open.h"

#define AQ_ENV_WRAP_OPTIONS                                                                        \
    "time_limit, action_repeat, frame_stack, obs_scale, reward_scale, clip_reward, one_hot, "      \
    "mask, sticky, sleep_us"

/* Takes these options, and puts a wrapper around an environment that nobody else has yet, if they
 * ask for one. AQ_E_INVALID, AQ_E_UNSUPPORTED, AQ_E_NOMEM; the environment is unchanged then. */
int aq_env_wrap(aq_env *env, aq_env_options *options, aq_error *error) AQ_MUST_USE;

#endif
