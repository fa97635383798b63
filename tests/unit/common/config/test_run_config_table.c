/*
 * The run's settings as a table: it keeps what settings.h promises of one.
 */
#include "common/config/run_config.h"
#include "tests/support/test.h"

static size_t section_length(const aq_setting *row)
{
    return (size_t)(aq_setting_short_key(row->key) - row->key);
}

static bool same_section(const aq_setting *row, const aq_setting *other)
{
    const size_t length = section_length(row);
    return section_length(other) == length && memcmp(row->key, other->key, length) == 0;
}

static bool is_of_its_type(const aq_setting *row)
{
    switch (row->type) {
    case AQ_SETTING_U64:
        return row->size == sizeof(uint64_t) && row->min <= row->max;
    case AQ_SETTING_F64:
        return row->size == sizeof(double) && row->min <= row->max;
    case AQ_SETTING_BOOL:
        return row->size == sizeof(bool);
    case AQ_SETTING_TEXT:
    case AQ_SETTING_LIST:
        return row->min >= 0 && row->min < (double)row->size;
    case AQ_SETTING_CHOICE:
        return row->size == sizeof(uint32_t) && row->choices != NULL && row->choices[0] != NULL;
    }
    return false;
}

TEST(every_row_is_of_its_type)
{
    const aq_settings_table *table = aq_run_config_table();
    assert_in_range(table->count, 1, AQ_SETTINGS_ROWS_MAX);
    for (const aq_setting *row = table->rows; row < table->rows + table->count; row++) {
        if (!is_of_its_type(row) || row->initial == NULL || row->unit == NULL ||
            row->comment == NULL) {
            fail_msg("%s", row->key);
        }
    }
}

TEST(every_key_is_one_and_is_there_once)
{
    const aq_settings_table *table = aq_run_config_table();
    for (const aq_setting *row = table->rows; row < table->rows + table->count; row++) {
        const char *name = aq_setting_short_key(row->key);
        assert_in_range(strlen(row->key), 1, AQ_SETTINGS_KEY_MAX);
        assert_int_not_equal(row->key[0], '.');
        assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(name));
        assert_true(name[0] != '\0');
        assert_ptr_equal(aq_settings_find(table, row->key), row);
    }
}

TEST(rows_of_one_section_stand_together_and_no_key_is_called_like_a_section)
{
    const aq_settings_table *table = aq_run_config_table();
    for (size_t i = 1; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        bool begins = !same_section(row, row - 1);
        for (size_t j = 0; begins && j < i; j++) {
            assert_false(same_section(row, &table->rows[j]));
        }
        for (size_t j = 0; begins && j < table->count; j++) {
            const char *key = table->rows[j].key;
            assert_false(strlen(key) + 1 == section_length(row) &&
                         memcmp(key, row->key, strlen(key)) == 0);
        }
    }
}
