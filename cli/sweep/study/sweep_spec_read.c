/*
 * Sweep spec, as it is read: each key of SPEC.yaml is a row, and takes what stands behind it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/sweep/study/sweep_space_read.h"
#include "cli/sweep/study/sweep_spec.h"
#include "common/base/parse.h"
#include "common/settings/yaml_tree.h"

enum { SEED_REPORT_FIRST = 1001, ROUND_DEFAULT = 8, LEASE_DEFAULT_S = 60 };

static const char *const method_names[] = {AQ_SWEEP_METHODS(AQ_CHOICE_WORD) NULL};
static const char *const figure_names[] = {AQ_SWEEP_FIGURES(AQ_CHOICE_WORD) NULL};

const char *aq_sweep_method_name(enum aq_sweep_method method)
{
    return method_names[method];
}

const char *aq_sweep_figure_name(enum aq_sweep_figure figure)
{
    return figure_names[figure];
}

/* ---- single values -------------------------------------------------------------------------- */

static int take_text(const aq_sweep_reader *reader, aq_yaml_node node, char *out, size_t size)
{
    const char *text = aq_yaml_text(node);
    return text == NULL || text[0] == '\0' || aq_text_set(out, size, text) != 0
               ? aq_sweep_wrong(reader, node, "a text of at most %zu bytes is expected", size - 1)
               : 0;
}

static int take_whole(const aq_sweep_reader *reader, aq_yaml_node node, uint64_t min, uint64_t max,
                      uint64_t *ret_value)
{
    const char *text = aq_yaml_text(node);
    uint64_t value = 0;
    if (text == NULL || aq_parse_whole(text, &value) != 0 || value < min || value > max) {
        return aq_sweep_wrong(reader, node, "'%s' is no whole number from %" PRIu64 " to %" PRIu64,
                              text != NULL ? text : "", min, max);
    }
    *ret_value = value;
    return 0;
}

static int take_real(const aq_sweep_reader *reader, aq_yaml_node node, double min, double max,
                     double *ret_value)
{
    const char *text = aq_yaml_text(node);
    double value = 0;
    if (text == NULL || aq_parse_f64(text, &value) != 0 || value < min || value > max) {
        return aq_sweep_wrong(reader, node, "'%s' is no number from %g to %g",
                              text != NULL ? text : "", min, max);
    }
    *ret_value = value;
    return 0;
}

static int take_choice(const aq_sweep_reader *reader, aq_yaml_node node, const char *const *words,
                       const char *what, uint32_t *ret_choice)
{
    const char *text = aq_yaml_text(node);
    const int found = text != NULL ? aq_choice_find(words, text) : AQ_E_INVALID;
    char list[128] = "";
    if (found >= 0) {
        *ret_choice = (uint32_t)found;
        return 0;
    }
    for (size_t i = 0; words[i] != NULL; i++) {
        aq_text_append(list, sizeof(list), "%s%s", i > 0 ? ", " : "", words[i]);
    }
    return aq_sweep_wrong(reader, node, "'%s' is no %s; there are %s", text != NULL ? text : "",
                          what, list);
}

/* ---- keys of the file ----------------------------------------------------------------------- */

typedef int (*take_fn)(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec);

static int take_task(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    return take_text(reader, node, spec->task, sizeof(spec->task));
}

static int take_preset(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    return take_text(reader, node, spec->preset, sizeof(spec->preset));
}

static int take_method(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    uint32_t method = 0;
    int rc = take_choice(reader, node, method_names, "method", &method);
    spec->method = (enum aq_sweep_method)method;
    return rc;
}

static int take_trials(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    uint64_t trials = 0;
    int rc = take_whole(reader, node, 1, AQ_SWEEP_TRIALS_MAX, &trials);
    spec->trials = (uint32_t)trials;
    return rc;
}

static int take_round(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    uint64_t round = ROUND_DEFAULT;
    int rc = take_whole(reader, node, 1, AQ_SWEEP_ROUND_MAX, &round);
    spec->round = (uint32_t)round;
    return rc;
}

static int take_seed(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    return take_whole(reader, node, 0, UINT64_C(1) << 53, &spec->seed);
}

static int take_lease(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    return take_real(reader, node, 5, 86400, &spec->lease_s);
}

static int take_prune(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    static const char *const words[] = {"no", "yes", NULL};
    uint32_t choice = 0;
    int rc = take_choice(reader, node, words, "answer", &choice);
    spec->prunes = choice == 1;
    return rc;
}

/* "section: {key: value}" as in a configuration, or "section.key: value". */
static int take_fixed(const aq_sweep_reader *reader, aq_yaml_node node, const char *section,
                      aq_sweep_spec *spec)
{
    int rc = aq_yaml_kind(node) == AQ_YAML_MAPPING
                 ? 0
                 : aq_sweep_wrong(reader, node, "settings and their values are expected");
    for (size_t i = 0; rc == 0 && i < aq_yaml_count(node); i++) {
        const aq_yaml_node value = aq_yaml_at(node, i);
        char key[2 * (AQ_SETTINGS_KEY_MAX + 1)], text[256];
        (void)snprintf(key, sizeof(key), "%s%s%s", section, section[0] != '\0' ? "." : "",
                       aq_yaml_key_at(node, i));
        if (aq_yaml_kind(value) == AQ_YAML_MAPPING && section[0] == '\0') {
            rc = take_fixed(reader, value, key, spec);
            continue;
        }
        rc = aq_sweep_value_check(reader, value, key, text, sizeof(text));
        if (rc == 0 && spec->fixed_count == AQ_SWEEP_FIXED_MAX) {
            rc = aq_sweep_wrong(reader, value, "at most %d settings can be fixed",
                                AQ_SWEEP_FIXED_MAX);
        }
        if (rc == 0) {
            (void)snprintf(spec->fixed[spec->fixed_count++], AQ_SWEEP_FIXED_BYTES, "%s=%s", key,
                           text);
        }
    }
    return rc;
}

static int take_settings(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    return take_fixed(reader, node, "", spec);
}

static int take_space(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    return aq_sweep_space_read(reader, node, &spec->space);
}

/* A number of them, from `first` on, or a list. */
static int take_seed_list(const aq_sweep_reader *reader, aq_yaml_node node, uint64_t first,
                          uint64_t least, aq_sweep_seeds *ret_seeds)
{
    uint64_t count = aq_yaml_count(node);
    int rc = 0;
    if (aq_yaml_kind(node) != AQ_YAML_LIST) {
        rc = take_whole(reader, node, least, AQ_SWEEP_SEEDS_MAX, &count);
    } else if (count < least || count > AQ_SWEEP_SEEDS_MAX) {
        rc = aq_sweep_wrong(reader, node, "%" PRIu64 " to %d seeds are expected", least,
                            AQ_SWEEP_SEEDS_MAX);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        ret_seeds->seeds[i] = first + i;
        if (aq_yaml_kind(node) == AQ_YAML_LIST) {
            rc = take_whole(reader, aq_yaml_at(node, i), 1, (UINT64_C(1) << 53) - 1,
                            &ret_seeds->seeds[i]);
        }
    }
    ret_seeds->count = rc == 0 ? (size_t)count : 0;
    return rc;
}

static bool has_seed(const aq_sweep_seeds *seeds, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        if (seeds->seeds[i] == seed) {
            return true;
        }
    }
    return false;
}

/* What chose the settings must not judge them. */
static int check_seeds(const aq_sweep_reader *reader, aq_yaml_node node, const aq_sweep_spec *spec)
{
    for (size_t i = 0; i < spec->tune.count; i++) {
        if (has_seed(&spec->tune, i, spec->tune.seeds[i])) {
            return aq_sweep_wrong(reader, node, "seed %" PRIu64 " is given twice",
                                  spec->tune.seeds[i]);
        }
    }
    for (size_t i = 0; i < spec->report.count; i++) {
        if (has_seed(&spec->report, i, spec->report.seeds[i])) {
            return aq_sweep_wrong(reader, node, "seed %" PRIu64 " is given twice",
                                  spec->report.seeds[i]);
        }
        if (has_seed(&spec->tune, spec->tune.count, spec->report.seeds[i])) {
            return aq_sweep_wrong(reader, node,
                                  "seed %" PRIu64 " tunes and reports: what chose the settings "
                                  "must not judge them",
                                  spec->report.seeds[i]);
        }
    }
    return 0;
}

static int take_seeds(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    if (aq_yaml_kind(node) != AQ_YAML_MAPPING) {
        int rc = take_seed_list(reader, node, 1, 1, &spec->tune);
        return rc != 0 ? rc : check_seeds(reader, node, spec);
    }
    static const char *const keys[] = {"tune", "report", NULL};
    int rc = aq_sweep_keys_check(reader, node, keys);
    const aq_yaml_node tune = aq_yaml_find(node, "tune"), report = aq_yaml_find(node, "report");
    if (rc == 0 && aq_yaml_kind(tune) != AQ_YAML_NOTHING) {
        rc = take_seed_list(reader, tune, 1, 1, &spec->tune);
    }
    if (rc == 0 && aq_yaml_kind(report) != AQ_YAML_NOTHING) {
        rc = take_seed_list(reader, report, SEED_REPORT_FIRST, 0, &spec->report);
    }
    return rc != 0 ? rc : check_seeds(reader, node, spec);
}

static int take_figure(const aq_sweep_reader *reader, aq_yaml_node node, bool is_score,
                       enum aq_sweep_figure *ret_figure)
{
    const char *words[AQ_SWEEP_FIGURE_COUNT + 1] = {NULL};
    const size_t first = is_score ? 0 : AQ_SWEEP_SCORES;
    const size_t end = is_score ? AQ_SWEEP_SCORES : AQ_SWEEP_FIGURE_COUNT;
    memcpy(words, figure_names + first, (end - first) * sizeof(words[0]));
    uint32_t choice = 0;
    int rc = take_choice(reader, node, words, is_score ? "score" : "cost", &choice);
    if (rc == 0) {
        *ret_figure = (enum aq_sweep_figure)(first + choice);
    }
    return rc;
}

static int take_objective(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    if (aq_yaml_kind(node) != AQ_YAML_MAPPING) {
        return take_figure(reader, node, true, &spec->score);
    }
    static const char *const keys[] = {"score", "cost", NULL};
    int rc = aq_sweep_keys_check(reader, node, keys);
    const aq_yaml_node score = aq_yaml_find(node, "score"), cost = aq_yaml_find(node, "cost");
    if (rc == 0 && aq_yaml_kind(score) != AQ_YAML_NOTHING) {
        rc = take_figure(reader, score, true, &spec->score);
    }
    return rc != 0 || aq_yaml_kind(cost) == AQ_YAML_NOTHING
               ? rc
               : take_figure(reader, cost, false, &spec->cost);
}

static int take_rung_list(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    const size_t count = aq_yaml_count(node);
    if (aq_yaml_kind(node) != AQ_YAML_LIST || count < 1 || count > AQ_SWEEP_RUNGS_MAX) {
        return aq_sweep_wrong(reader, node, "a list of environment steps is expected");
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t before = i > 0 ? spec->rungs[i - 1] : 0;
        int rc = take_whole(reader, aq_yaml_at(node, i), before + 1, UINT64_C(1000000000000),
                            &spec->rungs[i]);
        if (rc != 0) {
            return rc;
        }
    }
    spec->rung_count = count;
    return 0;
}

/* {env_steps: [...], keep: 3} or {every: 5000, times: 20}. */
static int take_rungs(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    static const char *const keys[] = {"env_steps", "keep", "every", "times", NULL};
    if (aq_yaml_kind(node) != AQ_YAML_MAPPING) {
        return take_rung_list(reader, node, spec);
    }
    const aq_yaml_node keep = aq_yaml_find(node, "keep"), steps = aq_yaml_find(node, "env_steps");
    const aq_yaml_node every = aq_yaml_find(node, "every"), times = aq_yaml_find(node, "times");
    const bool is_listed = aq_yaml_kind(steps) != AQ_YAML_NOTHING;
    const bool has_every = aq_yaml_kind(every) != AQ_YAML_NOTHING;
    const bool has_times = aq_yaml_kind(times) != AQ_YAML_NOTHING;
    uint64_t apart = 0, count = 0;
    int rc = aq_sweep_keys_check(reader, node, keys);
    if (rc == 0 && aq_yaml_kind(keep) != AQ_YAML_NOTHING) {
        rc = take_real(reader, keep, 1.1, 100, &spec->keep);
    }
    if (rc == 0 && (is_listed ? has_every || has_times : !has_every || !has_times)) {
        rc = aq_sweep_wrong(reader, node, "either 'env_steps', or 'every' and 'times'");
    }
    if (rc != 0 || is_listed) {
        return rc != 0 ? rc : take_rung_list(reader, steps, spec);
    }
    rc = take_whole(reader, every, 1, UINT64_C(1000000000), &apart);
    if (rc == 0) {
        rc = take_whole(reader, times, 1, AQ_SWEEP_RUNGS_MAX, &count);
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        spec->rungs[i] = (i + 1) * apart;
    }
    spec->rung_count = (size_t)count;
    return rc;
}

static int take_population(const aq_sweep_reader *reader, aq_yaml_node node, aq_sweep_spec *spec)
{
    aq_sweep_population *population = &spec->population;
    const struct {
        const char *key;
        double min, max;
        double *value;
    } rows[] = {
        {"replace", 0, 0.5, &population->replace},
        {"gap", 0, 1, &population->gap},
        {"mutate", 0, 1, &population->mutate},
        {"factor", 1, 10, &population->factor},
    };
    static const char *const keys[] = {"replace", "gap", "mutate", "factor", NULL};
    int rc = aq_sweep_keys_check(reader, node, keys);
    for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        const aq_yaml_node value = aq_yaml_find(node, rows[i].key);
        if (aq_yaml_kind(value) != AQ_YAML_NOTHING) {
            rc = take_real(reader, value, rows[i].min, rows[i].max, rows[i].value);
        }
    }
    return rc;
}

static const struct {
    const char *key;
    take_fn take;
} spec_rows[] = {
    {"task", take_task},           {"preset", take_preset},
    {"settings", take_settings},   {"space", take_space},
    {"method", take_method},       {"trials", take_trials},
    {"round", take_round},         {"seed", take_seed},
    {"seeds", take_seeds},         {"rungs", take_rungs},
    {"objective", take_objective}, {"lease_s", take_lease},
    {"prune", take_prune},         {"population", take_population},
};
enum { SPEC_ROWS = sizeof(spec_rows) / sizeof(spec_rows[0]) };

/* ---- the whole ------------------------------------------------------------------------------ */

static int check_population(const aq_sweep_reader *reader, aq_yaml_node top, aq_sweep_spec *spec)
{
    const aq_yaml_node keep = aq_yaml_find(aq_yaml_find(top, "rungs"), "keep");
    const aq_yaml_node round = aq_yaml_find(top, "round");
    if (spec->trials < 2 || spec->rung_count < 2 || spec->trials > AQ_SWEEP_ROUND_MAX) {
        return aq_sweep_wrong(reader, top,
                              "method pbt needs 2 to %d trials, its members, and two rungs or more",
                              AQ_SWEEP_ROUND_MAX);
    }
    if (aq_yaml_kind(round) != AQ_YAML_NOTHING) {
        return aq_sweep_wrong(reader, round,
                              "'round' is not for method: pbt, which decides on all members at "
                              "once");
    }
    if (aq_yaml_kind(keep) != AQ_YAML_NOTHING) {
        return aq_sweep_wrong(reader, keep,
                              "'keep' is not for method: pbt, where all go on; population: "
                              "{replace: ...} says how many do so from others");
    }
    spec->round = spec->trials;
    return 0;
}

static int check_method(const aq_sweep_reader *reader, aq_yaml_node top, aq_sweep_spec *spec)
{
    if (spec->method == AQ_SWEEP_GRID) {
        const size_t size = aq_sweep_grid_size(&spec->space);
        if (size > AQ_SWEEP_GRID_MAX) {
            return aq_sweep_wrong(reader, aq_yaml_find(top, "space"),
                                  "a grid of more than %d points", AQ_SWEEP_GRID_MAX);
        }
        spec->trials = spec->trials == 0 || spec->trials > size ? (uint32_t)size : spec->trials;
    }
    if (spec->trials == 0) {
        return aq_sweep_wrong(reader, top, "'trials' is missing: how many are to be tried?");
    }
    if (spec->method == AQ_SWEEP_PBT) {
        return check_population(reader, top, spec);
    }
    const aq_yaml_node population = aq_yaml_find(top, "population");
    return aq_yaml_kind(population) == AQ_YAML_NOTHING
               ? 0
               : aq_sweep_wrong(reader, population, "'population' is for method: pbt");
}

/* A setting that is varied is not fixed. */
static int check_fixed(const aq_sweep_reader *reader, aq_yaml_node top, const aq_sweep_spec *spec)
{
    for (size_t i = 0; i < spec->space.count; i++) {
        const char *key = spec->space.dims[i].key;
        for (size_t j = 0; j < spec->fixed_count; j++) {
            if (strncmp(spec->fixed[j], key, strlen(key)) == 0 &&
                spec->fixed[j][strlen(key)] == '=') {
                return aq_sweep_wrong(reader, aq_yaml_find(top, "settings"),
                                      "%s is fixed, and varied in 'space'", key);
            }
        }
    }
    return 0;
}

static int read_keys(const aq_sweep_reader *reader, aq_yaml_node top, aq_sweep_spec *spec)
{
    const char *keys[SPEC_ROWS + 1] = {NULL};
    for (size_t i = 0; i < SPEC_ROWS; i++) {
        keys[i] = spec_rows[i].key;
    }
    int rc = aq_sweep_keys_check(reader, top, keys);
    for (size_t i = 0; rc == 0 && i < SPEC_ROWS; i++) {
        const aq_yaml_node node = aq_yaml_find(top, keys[i]);
        if (aq_yaml_kind(node) != AQ_YAML_NOTHING) {
            rc = spec_rows[i].take(reader, node, spec);
        }
    }
    if (rc == 0 && spec->task[0] == '\0') {
        rc = aq_sweep_wrong(reader, top, "'task' is missing");
    }
    if (rc == 0 && spec->space.count == 0) {
        rc = aq_sweep_wrong(reader, top, "'space' is missing: which settings are to be varied?");
    }
    rc = rc != 0 ? rc : check_fixed(reader, top, spec);
    return rc != 0 ? rc : check_method(reader, top, spec);
}

int aq_sweep_spec_read(const char *name, const char *text, size_t size, aq_sweep_spec *ret_spec,
                       aq_error *error)
{
    aq_yaml_tree *tree = NULL;
    const aq_sweep_reader reader = {name, error};
    int rc = aq_yaml_tree_read(name, text, size, &tree, error);
    if (rc != 0) {
        return rc;
    }
    *ret_spec = (aq_sweep_spec){
        .method = AQ_SWEEP_TPE,
        .round = ROUND_DEFAULT,
        .tune = {{1}, 1},
        .cost = AQ_SWEEP_FIGURE_COUNT,
        .rung_count = 1,
        .keep = 3,
        .population = {.replace = 0.3, .gap = 0.1, .mutate = 0.5, .factor = 1.5},
        .lease_s = LEASE_DEFAULT_S,
    };
    rc = read_keys(&reader, aq_yaml_top(tree), ret_spec);
    aq_yaml_tree_free(tree);
    return rc;
}
