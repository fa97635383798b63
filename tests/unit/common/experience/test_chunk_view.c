/*
 * A view reads and judges columns wherever they lie: end to end, at any alignment.
 */
#include "tests/support/chunks.h"
#include "tests/support/test.h"

enum { SPAN = 4, LENGTH = 9, OBS_FLOATS = 3 };

/* Exactly as much memory as the columns take, so that a checker sees who reads beyond them. */
typedef struct packed {
    aq_layout layout;
    uint8_t *block;
    aq_chunk_view view;
} packed;

static packed pack(size_t shift)
{
    packed it = {.layout = chunk_layout(OBS_FLOATS, 3, SPAN, LENGTH)};
    it.view = (aq_chunk_view){.episode = 7, .first = 20, .lane = 3, .length = LENGTH, .overlap = 2};
    it.block = calloc(1, shift + aq_layout_bytes(&it.layout, LENGTH));
    assert_non_null(it.block);
    aq_chunk_view_lay(&it.view, &it.layout, it.block + shift);
    return it;
}

static void put(const packed *it, uint32_t column, size_t element, const void *word)
{
    memcpy((uint8_t *)(uintptr_t)aq_chunk_view_column(&it->view, column) + 4 * element, word, 4);
}

TEST(columns_lie_end_to_end_and_are_read_at_any_alignment)
{
    for (size_t shift = 0; shift < 8; shift++) {
        const packed it = pack(shift);
        const uint32_t at[] = {0, 120, 156, 192};
        assert_memory_equal(it.view.at, at, sizeof(at));
        for (uint32_t i = 0; i < LENGTH; i++) {
            const float reward = 0.5f * (float)i;
            const uint32_t version = 1000 + i;
            put(&it, AQ_COLUMN_REWARD, i, &reward);
            put(&it, AQ_COLUMN_VERSION, i, &version);
        }
        assert_int_equal(aq_chunk_view_validate(&it.view, &it.layout, NULL), 0);
        for (uint32_t i = 0; i < LENGTH; i++) {
            assert_true(aq_chunk_view_reward(&it.view, i) == 0.5f * (float)i);
            assert_int_equal(aq_chunk_view_version(&it.view, i), 1000 + i);
        }
        free(it.block);
    }
}

TEST(what_is_wrong_is_found_at_any_alignment)
{
    static const float nan_value = NAN;
    static const int32_t negative = -1, third = 3;
    static const struct {
        uint32_t column, element;
        const void *word;
        int code;
        const char *words;
    } wrongs[] = {
        {AQ_COLUMN_ACTION, 8, &negative, AQ_E_SCHEMA, "action 8 is -1; 0 to 2 are possible"},
        {AQ_COLUMN_ACTION, 7, &third, AQ_E_SCHEMA, "action 7 is 3"},
        {AQ_COLUMN_REWARD, 8, &nan_value, AQ_E_CORRUPT, "reward 8"},
        {AQ_COLUMN_OBS, LENGTH * OBS_FLOATS + 2, &nan_value, AQ_E_CORRUPT, "obs 9, element 2"},
    };
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
            const packed it = pack(shift);
            put(&it, wrongs[i].column, wrongs[i].element, wrongs[i].word);
            assert_refused(aq_chunk_view_validate(&it.view, &it.layout, &refusal), wrongs[i].code,
                           wrongs[i].words);
            free(it.block);
        }
    }
}
