/*
 * Command-line options from a table.
 *
 * The arguments are walked twice: first only to see whether help or the version is asked for, so
 * that "--jobs 3 --help" does nothing but help, then to apply them. The help page is in
 * options_help.c.
 */
#include "common/sys/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/choice.h"
#include "common/base/nearest.h"
#include "common/base/parse.h"

/* A walk over the arguments. */
typedef struct argument_walk {
    const aq_options *options;
    int argc;
    char *const *argv;
    int at; /* the argument in hand */
    bool only_looks;
    void *user;
    aq_error *error;
} argument_walk;

/* The option of that name, or the only one whose name begins so. */
static const aq_option *find_name(const aq_options *options, const char *name, size_t length)
{
    const aq_option *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < options->count; i++) {
        const aq_option *option = &options->rows[i];

        if (strncmp(option->name, name, length) == 0) {
            found = option;
            count++;
            if (option->name[length] == '\0') {
                return option;
            }
        }
    }
    return count == 1 && length > 0 ? found : NULL;
}

static const aq_option *find_letter(const aq_options *options, char letter)
{
    for (size_t i = 0; i < options->count; i++) {
        if (options->rows[i].short_name == letter) {
            return &options->rows[i];
        }
    }
    return NULL;
}

/* `dashed` is the option as typed, `name` what follows its dashes. */
static int fail_unknown(const argument_walk *walk, const char *dashed, const char *name)
{
    aq_nearest nearest;

    aq_nearest_init(&nearest, name);
    for (size_t i = 0; i < walk->options->count; i++) {
        aq_nearest_offer(&nearest, walk->options->rows[i].name);
    }
    aq_nearest_offer(&nearest, "help");
    aq_nearest_offer(&nearest, "version");
    const char *known = aq_nearest_name(&nearest);
    const char *setting =
        known == NULL && walk->options->setting != NULL ? walk->options->setting(name) : NULL;
    if (setting != NULL) {
        return aq_fail(walk->error, AQ_E_INVALID, "unknown option %s; did you mean --set %s=VALUE?",
                       dashed, setting);
    }
    if (known == NULL) {
        return aq_fail(walk->error, AQ_E_INVALID, "unknown option %s; --help lists all", dashed);
    }
    return aq_fail(walk->error, AQ_E_INVALID, "unknown option %s; did you mean --%s?", dashed,
                   known);
}

/* ---- places --------------------------------------------------------------------------------- */

static void *member_of(const argument_walk *walk, size_t offset)
{
    return (char *)walk->user + offset;
}

int aq_option_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret_number,
                     aq_error *error)
{
    uint64_t number;

    if (aq_parse_whole(value, &number) != 0 || number < min || number > max) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is not a whole number from %" PRIu64 " to %" PRIu64, value, min, max);
    }
    *ret_number = number;
    return 0;
}

int aq_option_take_id(void *member, const char *value, aq_error *error)
{
    uint64_t id;
    if (aq_parse_id(value, &id) != 0 || id == 0) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is not 16 hexadecimal digits", value);
    }
    *(uint64_t *)member = id;
    return 0;
}

static int take_choice(const aq_option *option, const char *value, uint32_t *member,
                       aq_error *error)
{
    char words[AQ_ERROR_TEXT_MAX] = "";
    const int found = aq_choice_find(option->words, value);
    if (found >= 0) {
        *member = (uint32_t)option->min + (uint32_t)found;
        return 0;
    }
    for (size_t i = 0, used = 0; option->words[i] != NULL && used < sizeof(words); i++) {
        used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s", i > 0 ? ", " : "",
                                 option->words[i]);
    }
    return aq_fail(error, AQ_E_INVALID, "'%s' is none of %s", value, words);
}

static int take(const argument_walk *walk, const aq_option *option, const char *value)
{
    void *member = member_of(walk, option->offset);

    switch (option->kind) {
    case AQ_OPTION_FLAG:
        *(bool *)member = true;
        return 0;
    case AQ_OPTION_TEXT:
        *(const char **)member = value;
        return value[0] != '\0' ? 0 : aq_fail(walk->error, AQ_E_INVALID, "the value is empty");
    case AQ_OPTION_NUMBER:
        return aq_option_number(value, option->min, option->max, member, walk->error);
    case AQ_OPTION_REAL:
        return aq_parse_f64(value, member) == 0
                   ? 0
                   : aq_fail(walk->error, AQ_E_INVALID, "'%s' is no number", value);
    case AQ_OPTION_CHOICE:
        return take_choice(option, value, member, walk->error);
    case AQ_OPTION_JSON:
        *(aq_json_form *)member = value == NULL ? AQ_JSON_LINE : AQ_JSON_PRETTY;
        return value == NULL || strcmp(value, "pretty") == 0
                   ? 0
                   : aq_fail(walk->error, AQ_E_INVALID, "'%s' is not pretty, the one form it has",
                             value);
    case AQ_OPTION_TAKEN:
        return option->take(member, value, walk->error);
    }
    AQ_ASSERT(false);
    return AQ_E_INVALID;
}

static int apply_option(const argument_walk *walk, const aq_option *option, const char *value)
{
    int rc = walk->only_looks ? 0 : take(walk, option, value);

    AQ_ASSERT(rc <= 0);
    return rc == 0 ? 0 : aq_fail_context(walk->error, rc, "--%s", option->name);
}

static int apply_operand(const argument_walk *walk, const char *value)
{
    const aq_options *options = walk->options;
    const char *before = NULL;

    if (walk->only_looks) {
        return 0;
    }
    for (size_t i = 0; i < AQ_OPERANDS_MAX && options->operands[i].name != NULL; i++) {
        const char **place = member_of(walk, options->operands[i].offset);

        if (*place == NULL) {
            *place = value;
            return value[0] != '\0' ? 0
                                    : aq_fail(walk->error, AQ_E_INVALID, "the argument is empty");
        }
        before = *place;
    }
    if (options->more != NULL && value[0] == '\0') {
        return aq_fail(walk->error, AQ_E_INVALID, "the argument is empty");
    }
    if (options->more != NULL) {
        return options->more(walk->user, value, walk->error);
    }
    if (before == NULL) {
        return aq_fail(walk->error, AQ_E_INVALID, "'%s': this command takes options only", value);
    }
    return aq_fail(walk->error, AQ_E_INVALID, "'%s' is one argument too many after '%s'", value,
                   before);
}

/* "IN and OUT are missing; see --help" */
static int check_operands(const argument_walk *walk)
{
    const aq_operand *operands = walk->options->operands;
    const char *missing[AQ_OPERANDS_MAX] = {0};
    size_t count = 0;

    for (size_t i = 0; i < AQ_OPERANDS_MAX && operands[i].name != NULL; i++) {
        if (!operands[i].optional && *(const char **)member_of(walk, operands[i].offset) == NULL) {
            missing[count++] = operands[i].name;
        }
    }
    AQ_ASSERT(count <= 2);
    return count == 0 ? 0
                      : aq_fail(walk->error, AQ_E_INVALID, "%s%s%s %s missing; see --help",
                                missing[0], count == 2 ? " and " : "", count == 2 ? missing[1] : "",
                                count == 2 ? "are" : "is");
}

/* ---- walking -------------------------------------------------------------------------------- */

/* The next argument as the option's value. One that begins with two dashes is an option whose
 * predecessor was left without its value far more often than it is a value. */
static int apply_next(argument_walk *walk, const aq_option *option)
{
    const char *value = walk->at + 1 < walk->argc ? walk->argv[walk->at + 1] : NULL;

    if (value == NULL || strncmp(value, "--", 2) == 0) {
        return aq_fail(walk->error, AQ_E_INVALID, "--%s needs a value: --%s %s", option->name,
                       option->name, option->value);
    }
    walk->at++;
    return apply_option(walk, option, value);
}

/* --name, --name value, --name=value */
static int walk_long(argument_walk *walk, const char *argument)
{
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const aq_option *option = find_name(walk->options, name, length);

    if (strcmp(name, "help") == 0) {
        return AQ_OPTIONS_HELP;
    }
    if (strcmp(name, "version") == 0) {
        return AQ_OPTIONS_VERSION;
    }
    if (option == NULL) {
        char typed[AQ_NEAREST_TEXT_MAX + 1] = "";

        memcpy(typed, name, length < sizeof(typed) ? length : sizeof(typed) - 1);
        return fail_unknown(walk, argument, typed);
    }
    if (option->value == NULL && value != NULL && option->kind != AQ_OPTION_JSON) {
        return aq_fail(walk->error, AQ_E_INVALID, "--%s takes no value", option->name);
    }
    if (option->value != NULL && value == NULL) {
        return apply_next(walk, option);
    }
    return apply_option(walk, option, value);
}

/* -j, -j value, -jvalue, and letters without values together: -vq */
static int walk_short(argument_walk *walk, const char *argument)
{
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        const aq_option *option = find_letter(walk->options, *letter);

        if (*letter == 'h') {
            return AQ_OPTIONS_HELP;
        }
        if (option == NULL) {
            return fail_unknown(walk, argument, argument + 1);
        }
        if (option->value != NULL) {
            return letter[1] == '\0' ? apply_next(walk, option)
                                     : apply_option(walk, option, letter + 1);
        }
        int rc = apply_option(walk, option, NULL);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Help has no topics: a word behind it would be ignored. */
static int check_alone(const argument_walk *walk)
{
    const char *next = walk->at + 1 < walk->argc ? walk->argv[walk->at + 1] : "-";

    return next[0] == '-'
               ? 0
               : aq_fail(walk->error, AQ_E_INVALID, "'%s' is one argument too many after '%s'",
                         next, walk->argv[walk->at]);
}

static int walk_all(argument_walk *walk)
{
    bool options_ended = false; /* by "--" */

    for (walk->at = 1; walk->at < walk->argc; walk->at++) {
        const char *argument = walk->argv[walk->at];
        int rc;

        if (options_ended || argument[0] != '-' || argument[1] == '\0') { /* "-" is a file name */
            rc = apply_operand(walk, argument);
        } else if (argument[1] != '-') {
            rc = walk_short(walk, argument);
        } else if (argument[2] != '\0') {
            rc = walk_long(walk, argument);
        } else {
            options_ended = true;
            rc = 0;
        }
        if (rc != 0) {
            return rc > 0 && check_alone(walk) != 0 ? AQ_E_INVALID : rc;
        }
    }
    return 0;
}

int aq_options_parse(const aq_options *options, int argc, char *const *argv, void *user,
                     aq_error *error)
{
    argument_walk walk = {.options = options,
                          .argc = argc,
                          .argv = argv,
                          .only_looks = true,
                          .user = user,
                          .error = error};

    AQ_ASSERT(find_name(options, "help", 4) == NULL);
    AQ_ASSERT(find_name(options, "version", 7) == NULL);
    AQ_ASSERT(find_letter(options, 'h') == NULL);
    int rc = walk_all(&walk);
    if (rc > 0) {
        return rc;
    }
    walk.only_looks = false;
    rc = walk_all(&walk);
    return rc != 0 ? rc : check_operands(&walk);
}
