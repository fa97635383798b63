/*
 * Settings: a table with one row per setting drives everything: defaults, bounds, the YAML file,
 * `--set section.key=value`, the printed configuration and the documentation.
 *
 * A row says where in a plain struct the value lives. Keys are "key" or "section.key", at most 63
 * bytes of a-z, 0-9 and _; rows of one section stand together; a table has a largest size. The
 * file is YAML with one mapping per section. An unknown key, a key given twice, a wrong type or a
 * value out of bounds is an error that names the file, the line, the key and what is allowed, and
 * the struct is then as it was before the call:
 *
 *   c.yaml:3: replay.capacity: 'abc' is not a whole number (allowed: 100 to 100000000 steps,
 *   default 100000)
 *
 * Values are texts to the YAML parser, so `on`, `5` and `"5"` mean the same in a file and in --set.
 * Any thread, each on a struct of its own.
 */
#ifndef AQ_COMMON_SETTINGS_SETTINGS_H
#define AQ_COMMON_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

enum { AQ_SETTINGS_ROWS_MAX = 256, AQ_SETTINGS_KEY_MAX = 63 }; /* bytes of "section.key" */

enum aq_setting_type {
    AQ_SETTING_U64,    /* uint64_t; min and max bound it */
    AQ_SETTING_F64,    /* double; min and max bound it */
    AQ_SETTING_BOOL,   /* bool */
    AQ_SETTING_TEXT,   /* char[size], UTF-8 without control characters; min is the least bytes */
    AQ_SETTING_LIST,   /* the same, kept as "64,64"; "[64, 64]" is taken, too */
    AQ_SETTING_CHOICE, /* uint32_t, an index into `choices` */
};

typedef struct aq_setting {
    const char *key; /* "replay.capacity" */
    enum aq_setting_type type;
    size_t offset;              /* into the struct */
    size_t size;                /* of the member */
    bool is_live;               /* may change in a running system; said when it is printed */
    bool is_kept;               /* does not even change when what it is of is resumed */
    uint32_t seen_by;           /* who else is told it, in bits of the table's owner; 0: nobody */
    const char *initial;        /* the default, as text */
    double min, max;            /* an infinity, or past the type's own range: no bound */
    const char *const *choices; /* NULL-terminated; AQ_SETTING_CHOICE only */
    const char *unit;           /* "steps", "ms", ""; shown to people */
    const char *comment;        /* one or two sentences */
} aq_setting;

typedef struct aq_settings_table {
    const aq_setting *rows;
    size_t count;
} aq_settings_table;

/* The row of `key`, NULL when there is none. */
const aq_setting *aq_settings_find(const aq_settings_table *table, const char *key);

/* "capacity" of "replay.capacity"; a key without a section is one. */
const char *aq_setting_short_key(const char *key);

/* The key that `typed` may stand for: it lacks its section, is misspelt, or is a name that others
 * have for it, which stands in its comment in parentheses. NULL: none comes near. */
const char *aq_settings_nearest(const aq_settings_table *table, const char *typed);

/* Stores the value that `text` stands for; with settings == NULL only checks it. AQ_E_INVALID, and
 * a sentence that begins with the key and says what is allowed. */
int aq_setting_set(const aq_setting *row, const char *text, void *settings,
                   aq_error *error) AQ_MUST_USE;

/* The text that aq_setting_set makes the same value of, bit for bit: a number's in `number`, which
 * has room for AQ_SETTING_NUMBER_SIZE, another's in `settings` or static storage. */
enum { AQ_SETTING_NUMBER_SIZE = 32 };
const char *aq_setting_text(const aq_setting *row, const void *settings, char *number);

bool aq_setting_is_same(const aq_setting *row, const void *a, const void *b);
void aq_setting_copy(const aq_setting *row, const void *from, void *to);

/* Sets every member to its default. One that its own row refuses is an assertion. */
void aq_settings_init(const aq_settings_table *table, void *settings);

/* Reads YAML text over `settings`: what the text does not mention stays. `name` stands for the file
 * in errors. An empty text is fine, as is an empty section. AQ_E_INVALID, AQ_E_NOMEM. */
int aq_settings_read_yaml(const aq_settings_table *table, const char *name, const char *text,
                          size_t size, void *settings, aq_error *error) AQ_MUST_USE;

/* The same of what another version of the program may have written: keys that are not known here
 * are passed over. */
int aq_settings_read_foreign(const aq_settings_table *table, const char *name, const char *text,
                             size_t size, void *settings, aq_error *error) AQ_MUST_USE;

/* As aq_settings_read_yaml, from a file of at most 1 MiB, AQ_E_TOO_BIG; and what aq_file_read
 * says. */
int aq_settings_read_file(const aq_settings_table *table, const char *path, void *settings,
                          aq_error *error) AQ_MUST_USE;

/* The whole of it as such a file, replaced atomically unless it is these very bytes already.
 * AQ_E_NOMEM, AQ_E_TOO_BIG; and what aq_file_write_atomic says. */
int aq_settings_write_file(const aq_settings_table *table, const char *path, const void *settings,
                           aq_error *error) AQ_MUST_USE;

/* "replay.capacity=100000", as `--set` is given it. A key that is not known is answered with the
 * nearest one that is. */
int aq_settings_assign(const aq_settings_table *table, const char *assignment, void *settings,
                       aq_error *error) AQ_MUST_USE;

/* Assignments as they are given on a command line: they count over the file, wherever they stand
 * between other options. The texts are the caller's. */
enum { AQ_SETTINGS_ASSIGNMENTS_MAX = 256 };
typedef struct aq_settings_assignments {
    const char *texts[AQ_SETTINGS_ASSIGNMENTS_MAX];
    size_t count;
} aq_settings_assignments;

/* To an aq_settings_assignments, as AQ_TO of an option has it. AQ_E_FULL says how many there may
 * be. */
int aq_settings_assignments_add(void *assignments, const char *text, aq_error *error) AQ_MUST_USE;

/* In order; stops at the first that is refused. */
int aq_settings_assign_all(const aq_settings_table *table,
                           const aq_settings_assignments *assignments, void *settings,
                           aq_error *error) AQ_MUST_USE;

/* Told of each row whose values differ, in the table's order, with both as they are printed; valid
 * during the call. Anything but 0 ends the comparison. */
typedef int (*aq_settings_difference_fn)(void *user, const aq_setting *row, const char *before,
                                         const char *after);

/* 0, what `tell` ended it with, or AQ_E_NOMEM. */
int aq_settings_compare(const aq_settings_table *table, const void *before, const void *after,
                        aq_settings_difference_fn tell, void *user) AQ_MUST_USE;

/* The value of a row as it is printed, in `out`, terminated. Any room that the table's texts need
 * is enough; AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_settings_show(const aq_setting *row, const void *settings, aq_buffer *out) AQ_MUST_USE;

/* `settings` is given anew, `given` was given before, and since then live settings were changed in
 * `used`. A live setting that is given as it was before keeps what it was changed to; one that is
 * given otherwise counts. */
void aq_settings_keep_live(const aq_settings_table *table, const void *given, const void *used,
                           void *settings);

/* Appends the whole of it as commented YAML, which aq_settings_read_yaml reads back to the same
 * values. On failure out's content is as before. */
int aq_settings_print_yaml(const aq_settings_table *table, const void *settings,
                           aq_buffer *out) AQ_MUST_USE;

#endif
