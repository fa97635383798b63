/*
 * Config view: see config_view.h. The JSON is made from the table of settings, so that a new
 * setting is in it without a word here.
 */
#include "cli/policy/config_view.h"

#include <inttypes.h>
#include <string.h>

#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "common/base/assert.h"
#include "common/base/plain_text.h"
#include "common/config/pacing.h"

enum { LIMIT_MAX = 48 };

int aq_config_view_parse(const char *text, aq_run_config *ret_config, aq_error *error)
{
    aq_run_config config;
    aq_settings_init(aq_run_config_table(), &config);
    int rc =
        aq_settings_read_yaml(aq_run_config_table(), "config", text, strlen(text), &config, error);
    if (rc == 0) {
        *ret_config = config;
    }
    return rc;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *value_json(const aq_setting *row, const aq_run_config *config)
{
    const char *at = (const char *)config + row->offset;
    uint64_t whole;
    double number;
    bool truth;
    switch (row->type) {
    case AQ_SETTING_U64:
        memcpy(&whole, at, sizeof(whole));
        return aq_json_count(whole);
    case AQ_SETTING_F64:
        memcpy(&number, at, sizeof(number));
        return aq_json_number(number);
    case AQ_SETTING_BOOL:
        memcpy(&truth, at, sizeof(truth));
        return json_boolean(truth);
    case AQ_SETTING_TEXT:
    case AQ_SETTING_LIST:
    case AQ_SETTING_CHOICE:
        return json_string(aq_setting_text(row, config, NULL));
    }
    AQ_ASSERT(row->type <= AQ_SETTING_CHOICE);
    return NULL;
}

/* The object that a key's value goes into, "learner" for "learner.hidden"; *ret_name is the rest of
 * the key. NULL when out of memory. */
static json_t *section_of(json_t *root, const char *key, const char **ret_name)
{
    char section[64];
    const char *dot = strchr(key, '.');
    if (!dot) {
        *ret_name = key;
        return root;
    }
    AQ_ASSERT((size_t)(dot - key) < sizeof(section));
    memcpy(section, key, (size_t)(dot - key));
    section[dot - key] = '\0';
    *ret_name = dot + 1;
    json_t *found = json_object_get(root, section);
    if (!found && json_object_set_new(root, section, json_object()) == 0) {
        found = json_object_get(root, section);
    }
    return found;
}

json_t *aq_config_view_json(const aq_run_config *config)
{
    const aq_settings_table *table = aq_run_config_table();
    json_t *root = json_object();
    for (size_t i = 0; root && i < table->count; i++) {
        const char *name;
        json_t *section = section_of(root, table->rows[i].key, &name);
        if (json_object_set_new(section, name, value_json(&table->rows[i], config))) {
            json_decref(root);
            return NULL;
        }
    }
    return root;
}

/* ---- people --------------------------------------------------------------------------------- */

static const char *choice_text(const char *key, const aq_run_config *config)
{
    return aq_setting_text(aq_run_config_row(key), config, NULL);
}

static void print_replay(FILE *out, const aq_run_config *config)
{
    aq_figure room;
    char ratio[64] = "no fixed proportion";
    if (config->replay.samples_per_insert > 0) {
        (void)snprintf(ratio, sizeof(ratio), "%g samples an insert",
                       config->replay.samples_per_insert);
    }
    aq_print_fact(out, "replay", "%s transitions, %" PRIu64 " shard%s, %s, %s, in %s",
                  aq_figure_count(&room, (double)config->replay.capacity), config->replay.shards,
                  config->replay.shards == 1 ? "" : "s", choice_text("replay.selector", config),
                  ratio, choice_text("replay.storage", config));
    if (config->replay.tables[0] != '\0') {
        aq_print_fact(out, "tables", "%s; the learner draws from %s", config->replay.tables,
                      config->learner.table);
    }
}

static void print_learner(FILE *out, const aq_run_config *config)
{
    const uint64_t group_steps = aq_pacing_group_steps(config);
    char returns[64] = "";
    if (aq_algorithm_has(config->learner.algorithm, AQ_LEARNS_A_TABLE)) {
        aq_print_fact(out, "learner",
                      "%s, a table, batches of %" PRIu64
                      " sequences, learning rate %g, discount %g",
                      choice_text("learner.algorithm", config), config->learner.batch_size,
                      config->learner.learning_rate, config->learner.discount);
        return;
    }
    if (group_steps == 0) {
        (void)snprintf(returns, sizeof(returns), ", %" PRIu64 "-step returns",
                       config->learner.n_step);
    }
    aq_print_fact(out, "learner",
                  "%s, hidden layers %s (%s), %s of %" PRIu64 "%s, learning rate %g, discount %g%s",
                  choice_text("learner.algorithm", config),
                  config->learner.hidden[0] != '\0' ? config->learner.hidden : "none",
                  aq_activation_name(aq_run_config_activation(config)),
                  group_steps > 0 ? "groups" : "batches",
                  group_steps > 0 ? group_steps : config->learner.batch_size,
                  group_steps > 0 ? " steps" : "", config->learner.learning_rate,
                  config->learner.discount, returns);
}

/* A run that learns from groups of its own steps publishes with each. */
static void print_broadcast(FILE *out, const aq_run_config *config)
{
    const char *format = aq_format_name(aq_run_config_format(config));
    if (aq_pacing_group_steps(config) > 0) {
        aq_print_fact(out, "broadcast", "%s with every update", format);
    } else {
        aq_print_fact(out, "broadcast", "%s every %" PRIu64 " learner steps", format,
                      config->quantizer.publish_period);
    }
}

static void print_limits(FILE *out, const aq_run_config *config)
{
    char steps[LIMIT_MAX] = "", training[LIMIT_MAX] = "", wall[LIMIT_MAX] = "";
    if (config->limits.env_steps > 0) {
        (void)snprintf(steps, sizeof(steps), ", %" PRIu64 " steps", config->limits.env_steps);
    }
    if (config->limits.learner_steps > 0) {
        (void)snprintf(training, sizeof(training), ", %" PRIu64 " learner steps",
                       config->limits.learner_steps);
    }
    if (config->limits.wall_s > 0) {
        (void)snprintf(wall, sizeof(wall), ", %g s", config->limits.wall_s);
    }
    char all[3 * LIMIT_MAX];
    (void)snprintf(all, sizeof(all), "%s%s%s", steps, training, wall);
    aq_print_fact(out, "limits", "%s", all[0] != '\0' ? all + 2 : "none");
}

void aq_config_view_print(FILE *out, const aq_run_config *config)
{
    print_learner(out, config);
    print_replay(out, config);
    aq_print_fact(out, "actors", "%" PRIu64 " of %" PRIu64 " environments each",
                  config->actor.count, config->actor.envs);
    print_broadcast(out, config);
    print_limits(out, config);
}
