/*
 * Archives of NumPy: what is read of them, and what damaged and foreign ones are answered.
 */
#include "interchange/import/npz_file.h"
#include "tests/support/test.h"
#include "tests/unit/interchange/npz_kit.h"

#define FLOATS_2_3 "'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)"

typedef struct npz_room {
    npz_kit kit;
    aq_npz_file file;
} npz_room;

static void npz_room_setup(npz_room *room)
{
    npz_kit_init(&room->kit);
}

static void npz_room_teardown(npz_room *room)
{
    npz_kit_fini(&room->kit);
}

static int read_it(npz_room *room)
{
    return aq_npz_read(room->kit.file.data, room->kit.file.size, &room->file, &refusal);
}

TEST_IN(npz_room, room, arrays_come_with_their_names_in_their_order)
{
    float values[6];
    npz_kit_add_ramp(&room->kit, "0.weight.npy", 2, 3);
    npz_kit_add_ramp(&room->kit, "0.bias.npy", 2, 0);
    npz_kit_end(&room->kit);
    assert_succeeds(read_it(room));
    assert_int_equal(room->file.count, 2);
    assert_string_equal(room->file.arrays[1].name, "0.bias");
    assert_int_equal(room->file.arrays[1].rank, 1);
    const aq_npz_array *array = aq_npz_find(&room->file, "0.weight");
    assert_int_equal(array->shape[1], 3);
    aq_npz_floats(array, values);
    assert_float_equal(values[3], 0.04f, 0.0f);
    assert_null(aq_npz_find(&room->file, "1.weight"));
}

TEST_IN(npz_room, room, doubles_and_turned_arrays_become_rows_of_floats)
{
    static const double wide[] = {1, 2, 3, 4, 5, 6};
    static const float expected[] = {1, 3, 5, 2, 4, 6};
    float values[6];
    npz_kit_add(&room->kit, "w.npy", "'descr': '<f8', 'fortran_order': True, 'shape': (2, 3)", wide,
                sizeof(wide));
    npz_kit_end(&room->kit);
    assert_succeeds(read_it(room));
    aq_npz_floats(&room->file.arrays[0], values);
    assert_memory_equal(values, expected, sizeof(expected));
}

TEST_IN(npz_room, room, halves_become_floats)
{
    static const uint16_t halves[] = {0x3C00, 0xC000, 0x0001, 0x3555};
    static const float expected[] = {1.0f, -2.0f, 0x1p-24f, 0x1.554p-2f};
    float values[4];
    npz_kit_add(&room->kit, "w.npy", "'descr': '<f2', 'fortran_order': False, 'shape': (4,)",
                halves, sizeof(halves));
    npz_kit_end(&room->kit);
    assert_succeeds(read_it(room));
    assert_string_equal(room->file.arrays[0].type, "<f2");
    aq_npz_floats(&room->file.arrays[0], values);
    assert_memory_equal(values, expected, sizeof(expected));
}

/* Its list is not right before its end, where NumPy's is: torch.save writes another end between. */
TEST_IN(npz_room, room, a_pickle_is_called_so)
{
    static const uint8_t pickle[] = {0x80, 2, '}'};
    npz_kit_add_ramp(&room->kit, "m/data.pkl", 2, 2);
    npz_kit_end(&room->kit);
    const size_t end = room->kit.file.size - 22;
    uint8_t last[22];
    memcpy(last, room->kit.file.data + end, sizeof(last));
    assert_int_equal(aq_buffer_append(&room->kit.file, last, sizeof(last)), 0);
    assert_int_equal(read_it(room), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "it is a pickle, as torch.save writes it, which may hold code");
    assert_says(refusal.text, "numpy.savez");
    assert_true(aq_npz_is_pickle(pickle, sizeof(pickle)));
    assert_false(aq_npz_is_pickle(pickle, 1));
    assert_false(aq_npz_is_pickle(room->kit.file.data, room->kit.file.size));
}

TEST_IN(npz_room, room, other_values_are_there_but_are_no_floats)
{
    npz_kit_add(&room->kit, "n.npy", "'descr': '<i8', 'fortran_order': False, 'shape': ()",
                "12345678", 8);
    npz_kit_end(&room->kit);
    assert_succeeds(read_it(room));
    assert_int_equal(room->file.arrays[0].value_bytes, 0);
    assert_string_equal(room->file.arrays[0].type, "<i8");
}

TEST_IN(npz_room, room, heads_that_cannot_be_are_refused)
{
    static const struct {
        const char *head, *words;
    } rows[] = {
        {"'fortran_order': False, 'shape': (2, 3)", "does not say what it is"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': 6", "does not say what it is"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (7,)", "ends before them"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (2, x)", "a shape"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (2", "a shape"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999)", "a shape"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)", "a shape"},
    };
    EACH_ROW(i, rows) {
        npz_kit kit;
        static const float values[6];
        npz_kit_init(&kit);
        npz_kit_add(&kit, "a.npy", rows[i].head, values, sizeof(values));
        npz_kit_end(&kit);
        assert_true(aq_npz_read(kit.file.data, kit.file.size, &room->file, &refusal) != 0);
        assert_says(refusal.text, rows[i].words);
        npz_kit_fini(&kit);
    }
}

TEST_IN(npz_room, room, a_byte_that_changed_is_found)
{
    npz_kit_add_ramp(&room->kit, "a.npy", 4, 4);
    npz_kit_end(&room->kit);
    assert_succeeds(read_it(room));
    const aq_npz_array *array = &room->file.arrays[0];
    const size_t first = (size_t)(array->values - room->kit.file.data);
    const size_t end = first + array->count * array->value_bytes;
    for (size_t at = 0; at < room->kit.file.size; at++) {
        room->kit.file.data[at] ^= 0x40;
        const int rc = read_it(room); /* there are places that nobody reads, and the name */
        if (at >= first && at < end) {
            assert_int_equal(rc, AQ_E_CORRUPT);
            assert_says(refusal.text, "checksum");
        }
        room->kit.file.data[at] ^= 0x40;
    }
}

TEST_IN(npz_room, room, what_is_no_archive_is_refused)
{
    static const uint8_t other[] = "The quick brown fox jumps over the lazy dog.";
    assert_int_equal(aq_npz_read(other, sizeof(other), &room->file, &refusal), AQ_E_FOREIGN);
    assert_int_equal(aq_npz_read(other, 0, &room->file, &refusal), AQ_E_FOREIGN);
    npz_kit_add(&room->kit, "a.npy", FLOATS_2_3, "123456781234567812345678", 24);
    npz_kit_add(&room->kit, "a.npy", FLOATS_2_3, "123456781234567812345678", 24);
    npz_kit_end(&room->kit);
    assert_int_equal(read_it(room), AQ_E_CORRUPT);
    assert_says(refusal.text, "twice");
    for (size_t size = 0; size < room->kit.file.size; size++) {
        assert_true(aq_npz_read(room->kit.file.data, size, &room->file, &refusal) != 0);
    }
}

/* Else a list of 65,535 names for the same megabytes keeps the reader busy for hours. */
TEST_IN(npz_room, room, files_that_are_listed_again_are_refused)
{
    uint8_t entry[46 + 5];
    npz_kit_add_ramp(&room->kit, "a.txt", 64, 64);
    assert_int_equal(room->kit.list.size, sizeof(entry));
    memcpy(entry, room->kit.list.data, sizeof(entry));
    assert_int_equal(aq_buffer_append(&room->kit.list, entry, sizeof(entry)), 0);
    room->kit.count++;
    npz_kit_end(&room->kit);
    assert_refused(read_it(room), AQ_E_CORRUPT, "the archive's files are larger than it is");
}

TEST_IN(npz_room, room, a_compressed_archive_is_refused_with_what_to_do)
{
    npz_kit_add_ramp(&room->kit, "a.npy", 2, 2);
    room->kit.list.data[10] = 8;
    npz_kit_end(&room->kit);
    assert_int_equal(read_it(room), AQ_E_UNSUPPORTED);
    assert_says(refusal.text, "not savez_compressed");
}
