/*
 * Count: an environment for tests that counts its steps, seen as numbers or as an image.
 *
 *   numbers  {steps done, last action}, from 0 to 100 and from 0 to 3
 *   image    2 x 2 of 2 bytes; byte i is 10 * steps done + i
 *   reward   steps done
 *
 * Option "length=N": it ends by its own rules after N steps; "fail=N": step N fails.
 */
#ifndef AQ_TESTS_UNIT_ENVS_COUNT_ENV_H
#define AQ_TESTS_UNIT_ENVS_COUNT_ENV_H

#include "envs/env_open.h"

enum { COUNT_LIMIT = 10, COUNT_CHOICES = 4, COUNT_BYTES = 8 };

extern const aq_env_class count_env;       /* solved at 20 */
extern const aq_env_class count_env_image; /* the same */
extern const aq_env_class count_env_wrong; /* its schema cannot be */

/* How often environments of these classes were closed. */
int count_env_closed(void);

#endif
