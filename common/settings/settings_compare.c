/*
 * Settings: two structs of one table side by side. Which settings were changed in a running system,
 * and which of those changes outlive a start with the settings that were given at first.
 */
#include <string.h>

#include "common/settings/settings.h"
#include "common/settings/settings_table.h"
#include "common/settings/settings_value.h"

/* Of one value in quotes, in which each byte may take ten. */
#define SHOWN_BYTES_MAX ((size_t)16384)

/* What is behind the end of a text is no part of it. */
bool aq_setting_is_same(const aq_setting *row, const void *a, const void *b)
{
    const char *left = (const char *)a + row->offset;
    const char *right = (const char *)b + row->offset;
    return aq_setting_is_text(row) ? strcmp(left, right) == 0 : memcmp(left, right, row->size) == 0;
}

void aq_setting_copy(const aq_setting *row, const void *from, void *to)
{
    memcpy((char *)to + row->offset, (const char *)from + row->offset, row->size);
}

int aq_settings_show(const aq_setting *row, const void *settings, aq_buffer *out)
{
    int rc = aq_setting_append_value(row, settings, out);
    return rc != 0 ? rc : aq_buffer_append(out, "", 1);
}

static int tell_one(const aq_setting *row, const void *before, const void *after,
                    aq_settings_difference_fn tell, void *user)
{
    aq_buffer texts[2];
    aq_buffer_init(&texts[0], SHOWN_BYTES_MAX);
    aq_buffer_init(&texts[1], SHOWN_BYTES_MAX);
    int rc = aq_settings_show(row, before, &texts[0]);
    if (rc == 0) {
        rc = aq_settings_show(row, after, &texts[1]);
    }
    if (rc == 0) {
        rc = tell(user, row, (const char *)texts[0].data, (const char *)texts[1].data);
    }
    aq_buffer_fini(&texts[0]);
    aq_buffer_fini(&texts[1]);
    return rc;
}

int aq_settings_compare(const aq_settings_table *table, const void *before, const void *after,
                        aq_settings_difference_fn tell, void *user)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < table->count; i++) {
        if (!aq_setting_is_same(&table->rows[i], before, after)) {
            rc = tell_one(&table->rows[i], before, after, tell, user);
        }
    }
    return rc;
}

void aq_settings_keep_live(const aq_settings_table *table, const void *given, const void *used,
                           void *settings)
{
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        if (row->is_live && aq_setting_is_same(row, given, settings)) {
            aq_setting_copy(row, used, settings);
        }
    }
}
