/*
 * Run groups: see run_groups.h. A run is told by one text, its values of the settings that count,
 * and runs with the same text are one group.
 */
#include "cli/plot/run_groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/settings/settings.h"

enum { SETTINGS_MAX = 512 };

/* ---- settings ------------------------------------------------------------------------------- */

/* Of a preset counts what came of it. */
static bool is_of_course(const aq_setting *row)
{
    return strcmp(row->key, "seed") != 0 && strcmp(row->key, "preset") != 0 &&
           strncmp(row->key, "log.", 4) != 0 && strncmp(row->key, "net.", 4) != 0 &&
           strncmp(row->key, "energy.", 7) != 0;
}

static void value_text(const aq_setting *row, const aq_run_config *config, char *out, size_t size)
{
    char number[AQ_SETTING_NUMBER_SIZE];
    const char *text = aq_setting_text(row, config, number);
    double value;
    if (row->type == AQ_SETTING_F64) {
        memcpy(&value, (const char *)config + row->offset, sizeof(value));
        (void)snprintf(out, size, "%g", value);
    } else if (row->type == AQ_SETTING_BOOL) {
        (void)snprintf(out, size, "%s", strcmp(text, "true") == 0 ? "yes" : "no");
    } else {
        (void)snprintf(out, size, "%s", text[0] != '\0' ? text : "none");
    }
}

/* ---- which of them count -------------------------------------------------------------------- */

typedef struct group_rows {
    const aq_setting *rows[SETTINGS_MAX];
    size_t count;
} group_rows;

static bool differs(const aq_setting *row, const aq_run_config *configs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (!aq_setting_is_same(row, &configs[0], &configs[i])) {
            return true;
        }
    }
    return false;
}

static void find_rows(const aq_run_config *configs, size_t count, group_rows *out)
{
    const aq_settings_table *table = aq_run_config_table();
    AQ_ASSERT(table->count <= SETTINGS_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        if (is_of_course(row) && differs(row, configs, count)) {
            out->rows[out->count++] = row;
        }
    }
}

/* "learner.algorithm,quantizer.format" */
static int take_rows(const char *keys, group_rows *out, aq_error *error)
{
    const aq_settings_table *table = aq_run_config_table();
    for (bool more = true; more; keys++) {
        const size_t size = strcspn(keys, ",");
        size_t row = 0;
        while (row < table->count && (strlen(table->rows[row].key) != size ||
                                      strncmp(table->rows[row].key, keys, size) != 0)) {
            row++;
        }
        if (row == table->count || out->count == SETTINGS_MAX) {
            return aq_fail(error, AQ_E_INVALID, "'%.*s' is no setting of a run", (int)size, keys);
        }
        out->rows[out->count++] = &table->rows[row];
        keys += size;
        more = *keys == ',';
    }
    return 0;
}

/* "int8", or "int8, publish_period 100" when more than one counts; a choice or a text tells by
 * itself what it is. Where there is no room for all of them, "..." stands for the rest. */
static void name_run(const group_rows *rows, const aq_run_config *config, char *out, size_t size)
{
    static const char rest[] = ", ...";
    (void)snprintf(out, size, "%s", rows->count == 0 ? config->task : "");
    for (size_t i = 0; i < rows->count; i++) {
        const aq_setting *row = rows->rows[i];
        const bool alone = row->type == AQ_SETTING_CHOICE || strcmp(row->key, "task") == 0;
        char value[AQ_GROUP_NAME_BYTES], one[2 * AQ_GROUP_NAME_BYTES];
        value_text(row, config, value, sizeof(value));
        (void)snprintf(one, sizeof(one), "%s%s%s%s", i > 0 ? ", " : "",
                       alone ? "" : aq_setting_short_key(row->key), alone ? "" : " ", value);
        if (i > 0 && strlen(out) + strlen(one) + sizeof(rest) > size) {
            aq_text_append(out, size, "%s", rest);
            return;
        }
        aq_text_append(out, size, "%s", one);
    }
}

static bool is_one_kind(const group_rows *rows, const aq_run_config *a, const aq_run_config *b)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (!aq_setting_is_same(rows->rows[i], a, b)) {
            return false;
        }
    }
    return true;
}

/* ---- groups --------------------------------------------------------------------------------- */

int aq_run_groups_make(const aq_run_config *configs, const char *const *names, size_t count,
                       const char *by, aq_run_groups *ret_groups, aq_error *error)
{
    group_rows rows = {.count = 0};
    const bool each = by && strcmp(by, "run") == 0;
    AQ_ASSERT(count >= 1);
    int rc = by && !each ? take_rows(by, &rows, error) : 0;
    if (rc != 0) {
        return rc;
    }
    if (!by) {
        find_rows(configs, count, &rows);
    }
    aq_run_groups made = {
        .groups = aq_alloc(count, sizeof(*made.groups)),
        .group_of = aq_alloc(count, sizeof(*made.group_of)),
    };
    if (!made.groups || !made.group_of) {
        aq_run_groups_fini(&made);
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        size_t like = each ? i : 0; /* the first run of its kind */
        while (like < i && !is_one_kind(&rows, &configs[like], &configs[i])) {
            like++;
        }
        made.group_of[i] = like < i ? made.group_of[like] : made.count;
        aq_run_group *group = &made.groups[made.group_of[i]];
        if (like == i) {
            made.count++;
            if (each) {
                (void)snprintf(group->name, sizeof(group->name), "%s", names[i]);
            } else {
                name_run(&rows, &configs[i], group->name, sizeof(group->name));
            }
        }
        group->run_count++;
    }
    *ret_groups = made;
    return 0;
}

void aq_run_groups_fini(aq_run_groups *groups)
{
    aq_free(groups->groups);
    aq_free(groups->group_of);
    *groups = (aq_run_groups){0};
}
