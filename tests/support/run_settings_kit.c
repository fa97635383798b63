/*
 * What a learner hands out: see run_settings_kit.h.
 */
#include "tests/support/run_settings_kit.h"

#include <math.h>
#include <string.h>

aq_run_settings run_settings_kit(void)
{
    const float high[4] = {4.8f, INFINITY, 0.41887903213500977f, INFINITY};
    const float low[4] = {-4.8f, -INFINITY, -0.41887903213500977f, -INFINITY};
    aq_run_config config;
    aq_schema schema;
    aq_run_settings settings;
    memset(&settings, 0, sizeof(settings)); /* so that they can be compared as bytes */
    settings = (aq_run_settings){
        .task = "gym:CartPole-v1",
        .seed = 7,
        .n_step = 3,
        .sample_rows = 64,
        .evaluation_threshold = (double)NAN,
        .tables = {{.name = "main",
                    .capacity = 100000,
                    .n_step = 3,
                    .min_size = 1000,
                    .samples_per_insert = 32.0,
                    .tolerance = 2000.0}},
        .table_count = 1,
    };
    aq_space_init_box(&schema.obs, 4, low, high);
    aq_space_init_discrete(&schema.action, 2);
    run_settings_kit_schema(&settings, &schema);
    aq_settings_init(aq_run_config_table(), &config);
    aq_run_settings_take(&settings, &config);
    return settings;
}

void run_settings_kit_schema(aq_run_settings *settings, const aq_schema *schema)
{
    settings->schema = *schema;
    settings->schema_hash = aq_schema_hash(schema);
}
