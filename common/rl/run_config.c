/*
 * The rules between settings. Each message names the settings that contradict each other and a
 * value that works, since it is read by somebody whose run did not start.
 */
#include "common/rl/run_config.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/rl/batch.h"

/* Formats a count of the configuration; %llu would need a cast at each of them. */
#define COUNT "%" PRIu64

#include <inttypes.h>
