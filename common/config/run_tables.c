/*
 * Run tables: see run_tables.h.
 */
#include "common/config/run_tables.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/config/gradient_rows.h"
#include "common/config/pacing.h"

/* Tolerance of a run that asks for none and needs less: how far one side usually runs ahead. */
static const double usual_tolerance = 2000.0;

/* The limiter keeps inserted steps within `tolerance` of what was sampled, on both sides. It must
 * not happen that neither side may move. All lanes fill their chunks at the same pace, so they may
 * hold a chunk's worth of steps each before the first one arrives: that much, the actors must be
 * allowed to run ahead. And a request takes its rows at once: that much, and the chunk whose
 * arrival makes room for it, the samples must be allowed to run ahead. */
aq_run_slack aq_run_slack_of(const aq_run_config *config, const aq_table_spec *spec)
{
    const double chunk = (double)config->replay.chunk_length;
    const double lanes = (double)config->actor.count * (double)config->actor.envs;
    const double rows = (double)aq_pacing_group_rows(config);
    const double steps = spec->samples_per_insert > 0.0 ? ceil(rows / spec->samples_per_insert) : 0;
    return (aq_run_slack){
        .lanes = lanes,
        .held_back = lanes * chunk,
        .request_rows = rows,
        .request_steps = steps,
        .tolerance = fmax(lanes * chunk, steps + chunk),
    };
}

static void settle_tolerance(const aq_run_config *config, aq_table_spec *spec)
{
    if (spec->tolerance == 0.0 && spec->samples_per_insert > 0.0) {
        const double most = aq_run_config_row("replay.tolerance")->max;
        const aq_run_slack slack = aq_run_slack_of(config, spec);
        spec->tolerance = fmin(most, fmax(usual_tolerance, slack.tolerance));
    }
}

static void describe_main(const aq_run_config *config, aq_table_spec *ret_spec)
{
    const bool is_paced = aq_pacing_versions_max(config) > 0;
    *ret_spec = (aq_table_spec){
        .selector = config->replay.selector,
        .remover = config->replay.remover,
        .priority_exponent = config->replay.priority_exponent,
        .capacity = config->replay.capacity,
        .capacity_bytes = config->replay.capacity_bytes,
        .times_sampled_max = (uint32_t)config->replay.times_sampled_max,
        .n_step = (uint32_t)config->learner.n_step,
        .sequence_length = (uint32_t)config->replay.sequence_length,
        .sequence_period = (uint32_t)config->replay.sequence_period,
        .min_size = is_paced ? 1 : config->replay.min_size, /* the first is asked for */
        .samples_per_insert = config->replay.samples_per_insert,
        .tolerance = config->replay.tolerance,
    };
    int rc = aq_text_set(ret_spec->name, sizeof(ret_spec->name), "main");
    AQ_ASSERT(rc == 0);
}

/* AQ_E_INVALID with the nearest name that there is. */
static int find_table(const aq_table_spec *specs, uint32_t count, const char *name,
                      uint32_t *ret_index, aq_error *error)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(specs[i].name, name) == 0) {
            *ret_index = i;
            return 0;
        }
        aq_nearest_offer(&nearest, specs[i].name);
    }
    const char *near = aq_nearest_name(&nearest);
    return aq_fail(error, AQ_E_INVALID, "learner.table: there is no table '%s'%s%s%s", name,
                   near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                   near != NULL ? "?" : "; see replay.tables");
}

int aq_run_tables_make(const aq_run_config *config, aq_run_tables *ret_tables, aq_error *error)
{
    aq_run_tables made;
    aq_error why;
    describe_main(config, &made.specs[0]);
    int rc = aq_table_specs_parse(config->replay.tables, made.specs, &made.count, &why);
    if (rc != 0) {
        return aq_fail(error, rc, "replay: %s", why.text);
    }
    for (uint32_t i = 0; i < made.count; i++) {
        settle_tolerance(config, &made.specs[i]);
    }
    rc = find_table(made.specs, made.count, config->learner.table, &made.learner, error);
    if (rc == 0) {
        *ret_tables = made;
    }
    return rc;
}

int aq_run_tables_of_actor(const aq_run_config *config, aq_table_spec *ret_spec, aq_error *error)
{
    aq_run_tables tables;
    int rc = aq_run_tables_make(config, &tables, error);
    if (rc != 0) {
        return rc;
    }
    const aq_table_spec *spec = &tables.specs[tables.learner];
    *ret_spec = (aq_table_spec){
        .name = "steps",
        .selector = AQ_SELECTOR_QUEUE,
        .remover = AQ_REMOVER_FIFO,
        .capacity = 2 * (aq_gradient_steps(config) + config->actor.envs * spec->n_step),
        .n_step = spec->n_step,
        .sequence_length = spec->sequence_length,
        .sequence_period = spec->sequence_length > 0 ? spec->sequence_length : 1,
        .min_size = 1,
    };
    return 0;
}
