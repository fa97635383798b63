/*
 * A table with a setting of every type, for the tests of settings.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/unit/common/settings/settings_sample.h"

#define MEMBER_OF(member, is_live)                                                                 \
    offsetof(sample, member), sizeof(((sample *)NULL)->member), is_live, false, 0
#define MEMBER(member)      MEMBER_OF(member, false)
#define LIVE_MEMBER(member) MEMBER_OF(member, true)

static const char *const precisions[] = {"fp32", "fp16", "int8", NULL};

static const aq_setting rows[] = {
    {"seed", AQ_SETTING_U64, MEMBER(seed), "1", 0, INFINITY, NULL, "",
     "Every stream of random numbers is derived from it."},
    {"name", AQ_SETTING_TEXT, MEMBER(name), "cart", 1, 0, NULL, "", "What the run is called."},
    {"replay.capacity", AQ_SETTING_U64, MEMBER(capacity), "100000", 100, 1e8, NULL, "steps",
     "How many steps the table holds. A step beyond that removes the oldest; this sentence is long "
     "enough to need a second line."},
    {"replay.alpha", AQ_SETTING_F64, MEMBER(alpha), "0.6", 0, 1, NULL, "",
     "How strongly priorities count."},
    {"replay.durable", AQ_SETTING_BOOL, MEMBER(durable), "true", 0, 0, NULL, "",
     "Whether steps survive a restart."},
    {"policy.precision", AQ_SETTING_CHOICE, MEMBER(precision), "int8", 0, 0, precisions, "",
     "What actors compute with."},
    {"policy.rate", AQ_SETTING_F64, LIVE_MEMBER(rate), "3e-4", -INFINITY, INFINITY, NULL,
     "per step", "A number without bounds."},
    {"policy.widths", AQ_SETTING_LIST, MEMBER(widths), "64,64", 0, 0, NULL, "", "Of its layers."},
    {"policy.url", AQ_SETTING_TEXT, LIVE_MEMBER(url), "", 0, 0, NULL, "", "Where it comes from."},
};

const aq_settings_table sample_table = {rows, sizeof(rows) / sizeof(rows[0])};

sample sample_defaults(void)
{
    sample settings;
    memset(&settings, 0, sizeof(settings)); /* also between its members, for comparisons */
    aq_settings_init(&sample_table, &settings);
    return settings;
}
