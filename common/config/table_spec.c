/*
 * Table specs: their texts and their checks. Bounds and choices are those of the configuration's
 * rows replay.*, so that a table which is described in one line and the main one are held to the
 * same.
 *
 * Any thread; no state.
 */
#include "common/config/table_spec.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/config/run_config.h"

enum { WORD_MAX = 64, SHOWN_MAX = 80 };

/* Below this, a proportion other than 0 would make actors wait for years. */
static const double RATIO_MIN = 0.001;

#define FIELD(section, member) FIELD_##member,
enum field { AQ_TABLE_SPEC_NUMBERS(FIELD) KEY_COUNT };

/* Of the rows to whose bounds the members are held. */
#define KEY(section, member) #section "." #member,
static const char *const keys[KEY_COUNT] = {AQ_TABLE_SPEC_NUMBERS(KEY)};

uint32_t aq_table_spec_steps(const aq_table_spec *spec)
{
    return spec->sequence_length > 0 ? spec->sequence_length : spec->n_step;
}

uint32_t aq_table_spec_period(const aq_table_spec *spec)
{
    return spec->sequence_length > 0 ? spec->sequence_period : 1;
}

bool aq_table_spec_is_cut(const aq_table_spec *spec)
{
    return spec->selector == AQ_SELECTOR_QUEUE && spec->sequence_length > 0 &&
           spec->sequence_period == spec->sequence_length;
}

uint32_t aq_table_spec_span(const aq_table_spec *spec)
{
    return aq_table_spec_is_cut(spec) ? 1 : aq_table_spec_steps(spec);
}

bool aq_table_spec_uses_priorities(const aq_table_spec *spec)
{
    return spec->selector == AQ_SELECTOR_PRIORITIZED || spec->remover == AQ_REMOVER_LOWEST_PRIORITY;
}

/* ---- checks -------------------------------------------------------------------------------- */

static int check_name(const char *name, aq_error *error)
{
    size_t length = 0;
    while (length < AQ_TABLE_NAME_MAX && name[length] != '\0') {
        const unsigned char letter = (unsigned char)name[length];
        if (letter >= 0x80 || (!isalnum(letter) && letter != '-' && letter != '_')) {
            return aq_fail(error, AQ_E_INVALID,
                           "the name of a table holds a character that is no letter, digit, '-' or "
                           "'_'");
        }
        length++;
    }
    if (length == 0 || length == AQ_TABLE_NAME_MAX) {
        return aq_fail(error, AQ_E_INVALID, "the name of a table has 1 to %d characters",
                       AQ_TABLE_NAME_MAX - 1);
    }
    return 0;
}

/* What has no meaning in this table is not looked at. */
static bool is_unused(const aq_table_spec *spec, enum field field)
{
    switch (field) {
    case FIELD_n_step:
        return spec->sequence_length > 0;
    case FIELD_sequence_period:
        return spec->sequence_length == 0;
    case FIELD_tolerance:
        return spec->samples_per_insert == 0.0;
    default:
        return false;
    }
}

/* As a double, which is exact below 2^53 and, for what is larger, still out of bounds. */
static double number_of(const aq_table_spec *spec, enum field field)
{
#define VALUE(section, member) (double)spec->member,
    const double values[KEY_COUNT] = {AQ_TABLE_SPEC_NUMBERS(VALUE)};
    return values[field];
}

/* A NaN is out of bounds, too. */
static int check_number(const aq_table_spec *spec, enum field field, aq_error *error)
{
    const aq_setting *row = aq_run_config_row(keys[field]);
    const double value = number_of(spec, field);
    if (value >= row->min && value <= row->max) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID, "%s is %.17g; %.17g to %.17g are possible",
                   aq_setting_short_key(row->key), value, row->min, row->max);
}

static int check_fields(const aq_table_spec *spec, aq_error *error)
{
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        int rc = 0;
        const aq_setting *row = aq_run_config_row(keys[i]);
        if (row->type == AQ_SETTING_CHOICE) {
            const double choice = number_of(spec, i);
            if (choice >= aq_choice_count(row->choices)) {
                rc = aq_fail(error, AQ_E_INVALID, "%s %.0f is not known",
                             aq_setting_short_key(row->key), choice);
            }
        } else if (!is_unused(spec, i)) {
            rc = check_number(spec, i, error);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* In a queue each item is drawn once, so there is no proportion to keep: what is in it is the lead
 * that actors have. */
static int check_queue(const aq_table_spec *spec, aq_error *error)
{
    if (spec->samples_per_insert != 0.0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a queue gives each item once, so samples_per_insert %g could not be kept; "
                       "samples_per_insert=0 works",
                       spec->samples_per_insert);
    }
    if (spec->remover != AQ_REMOVER_FIFO) {
        return aq_fail(error, AQ_E_INVALID,
                       "a queue loses nothing that was not drawn; remover=fifo works");
    }
    if (spec->capacity_bytes > 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "a queue is bounded by its steps, which capacity sets; capacity_bytes=0 "
                       "works");
    }
    if (spec->times_sampled_max > 1) {
        return aq_fail(error, AQ_E_INVALID,
                       "a queue gives each item once, not times_sampled_max %" PRIu32,
                       spec->times_sampled_max);
    }
    return 0;
}

static int check_times(const aq_table_spec *spec, aq_error *error)
{
    const double times = spec->samples_per_insert * aq_table_spec_period(spec);
    if (spec->times_sampled_max == 0 || times <= spec->times_sampled_max) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "items that leave after times_sampled_max %" PRIu32
                   " draws cannot be drawn %g times, which samples_per_insert %g comes to: "
                   "everybody would wait for everybody",
                   spec->times_sampled_max, times, spec->samples_per_insert);
}

static int check_spec(const aq_table_spec *spec, aq_error *error)
{
    int rc = check_fields(spec, error);
    if (rc != 0) {
        return rc;
    }
    if (spec->samples_per_insert > 0.0 && spec->samples_per_insert < RATIO_MIN) {
        return aq_fail(error, AQ_E_INVALID,
                       "samples_per_insert is %g; 0, which keeps no proportion, or %g and more are "
                       "possible",
                       spec->samples_per_insert, RATIO_MIN);
    }
    if (spec->capacity < spec->min_size) {
        return aq_fail(error, AQ_E_INVALID,
                       "capacity %" PRIu64 " is less than min_size %" PRIu64
                       ": the learner would never start",
                       spec->capacity, spec->min_size);
    }
    if (spec->selector == AQ_SELECTOR_QUEUE) {
        return check_queue(spec, error);
    }
    return check_times(spec, error);
}

int aq_table_spec_validate(const aq_table_spec *spec, aq_error *error)
{
    aq_error why;
    int rc = check_name(spec->name, error);
    if (rc == 0) {
        rc = check_spec(spec, &why);
        if (rc != 0) {
            return aq_fail(error, rc, "table %s: %s", spec->name, why.text);
        }
    }
    return rc;
}

/* ---- texts --------------------------------------------------------------------------------- */

/* The text without the blanks around it; it ends earlier from now on. */
static char *trim(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    text[length] = '\0';
    return text;
}

/* AQ_E_INVALID: `why`, with what was read, cut to be shown. */
static int refuse(const char *what, const char *why, aq_error *error)
{
    return aq_fail(error, AQ_E_INVALID, "\"%.*s\" %s", SHOWN_MAX, what, why);
}

static int unknown_key(const char *word, const char *key, aq_error *error)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, key);
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        aq_nearest_offer(&nearest, aq_setting_short_key(keys[i]));
    }
    const char *name = aq_nearest_name(&nearest);
    if (name == NULL) {
        return refuse(word, "sets nothing that a table has", error);
    }
    return aq_fail(error, AQ_E_INVALID, "\"%s\" is nothing that a table has; did you mean %s?", key,
                   name);
}

/* Read as the main table's is. */
static int set_field(enum field field, const char *value, aq_table_spec *spec, aq_error *error)
{
    aq_run_config read;
    int rc = aq_setting_set(aq_run_config_row(keys[field]), value, &read, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "table %s", spec->name);
    }
    switch (field) {
#define TAKE(section, member)                                                                      \
    case FIELD_##member:                                                                           \
        spec->member = read.section.member;                                                        \
        break;
        AQ_TABLE_SPEC_NUMBERS(TAKE)
    case KEY_COUNT:
        break;
    }
    return 0;
}

/* One "key=value". */
static int read_word(const char *word, aq_table_spec *spec, uint32_t *said, aq_error *error)
{
    char key[WORD_MAX];
    if (aq_text_set(key, sizeof(key), word) != 0 || strchr(key, '=') == NULL) {
        return refuse(word, "is no key=value", error);
    }
    char *value = strchr(key, '=');
    *value++ = '\0';
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(aq_setting_short_key(keys[i]), key) == 0) {
            if ((*said & 1u << i) != 0) {
                return refuse(word, "is said twice of one table", error);
            }
            *said |= 1u << i;
            return set_field(i, value, spec, error);
        }
    }
    return unknown_key(word, key, error);
}

/* "recent: selector=lifo capacity=10000" over a copy of the main table. */
static int read_table(char *text, const aq_table_spec *main, aq_table_spec *ret_spec,
                      aq_error *error)
{
    uint32_t said = 0;
    char *colon = strchr(text, ':');
    aq_table_spec spec = *main;
    if (colon == NULL) {
        return refuse(text, "has no name, which a colon ends, such as \"recent: selector=lifo\"",
                      error);
    }
    *colon = '\0';
    const char *name = trim(text);
    memset(spec.name, 0, sizeof(spec.name));
    if (aq_text_set(spec.name, sizeof(spec.name), name) != 0 || check_name(spec.name, error) != 0) {
        return refuse(name, "is no name of a table: 1 to 31 letters, digits, '-' and '_' are",
                      error);
    }
    spec.samples_per_insert = 0.0;
    char *rest;
    for (const char *word = strtok_r(colon + 1, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        int rc = read_word(word, &spec, &said, error);
        if (rc != 0) {
            return rc;
        }
    }
    if ((said & 1u << FIELD_n_step) != 0 && (said & 1u << FIELD_sequence_length) == 0) {
        spec.sequence_length = 0;
    }
    if ((said & 1u << FIELD_min_size) == 0 && spec.min_size > spec.capacity) {
        spec.min_size = spec.capacity;
    }
    *ret_spec = spec;
    return aq_table_spec_validate(ret_spec, error);
}

static bool is_taken(const aq_table_spec *specs, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(specs[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int aq_table_specs_parse(const char *text, aq_table_spec *specs, uint32_t *ret_count,
                         aq_error *error)
{
    char copy[AQ_TABLES_TEXT_MAX]; /* which is cut into its parts */
    char *rest;
    uint32_t count = 1;
    int rc = aq_table_spec_validate(&specs[0], error);
    if (rc != 0) {
        return rc;
    }
    if (aq_text_set(copy, sizeof(copy), text) != 0) {
        return aq_fail(error, AQ_E_INVALID, "more than %zu bytes describe tables",
                       sizeof(copy) - 1);
    }
    for (char *part = strtok_r(copy, ";", &rest); rc == 0 && part != NULL;
         part = strtok_r(NULL, ";", &rest)) {
        char *table = trim(part);
        if (table[0] == '\0') {
            continue; /* nothing between two semicolons describes nothing */
        }
        if (count == AQ_TABLES_MAX) {
            return aq_fail(error, AQ_E_INVALID, "more than %d tables, the main one included",
                           AQ_TABLES_MAX);
        }
        rc = read_table(table, &specs[0], &specs[count], error);
        if (rc == 0 && is_taken(specs, count, specs[count].name)) {
            rc = aq_fail(error, AQ_E_INVALID, "two tables are called %s", specs[count].name);
        }
        count++;
    }
    if (rc == 0) {
        *ret_count = count;
    }
    return rc;
}
