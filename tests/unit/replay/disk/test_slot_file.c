/*
 * The file that remembers a store's slot.
 */
#include "replay/disk/slot_file.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

TEST(a_slot_is_read_as_it_was_written)
{
    const char *folder = file_folder();
    assert_int_equal(aq_slot_file_read(folder), 0);
    assert_int_equal(aq_slot_file_write(folder, 0, NULL), 0);
    assert_int_equal(aq_slot_file_read(folder), 0);
    assert_int_equal(aq_slot_file_write(folder, 17, NULL), 0);
    assert_int_equal(aq_slot_file_read(folder), 17);
    assert_int_equal(aq_slot_file_write(folder, 3, NULL), 0);
    assert_int_equal(aq_slot_file_read(folder), 3);
}

TEST(what_is_no_slot_counts_as_none)
{
    const char *folder = file_folder();
    static const char *const texts[] = {"", "x\n", "-1\n", "70000\n", "99999999999999999999999\n"};
    EACH_ROW(i, texts) {
        file_put_text(file_in(folder, "slot"), texts[i]);
        assert_int_equal(aq_slot_file_read(folder), 0);
    }
}

TEST(a_folder_that_is_not_there_is_an_error_of_writing_alone)
{
    assert_int_equal(aq_slot_file_read("/nowhere/at/all"), 0);
    assert_int_not_equal(aq_slot_file_write("/nowhere/at/all", 1, &refusal), 0);
}
