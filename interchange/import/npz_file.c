/*
 * NPZ file: see npz_file.h. The archive is read from its end, where its list of files is: what
 * stands before each file is written before its size is known.
 */
#include "interchange/import/npz_file.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/little_endian.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/policy/half.h"

enum {
    END_BYTES = 22,   /* of the archive's end, without a comment */
    ENTRY_BYTES = 46, /* of a file in the list, without its name */
    LOCAL_BYTES = 30, /* of what stands before a file, without its name */
    COMMENT_MAX = 65535,
    NPY_HEAD_BYTES = 10,
    NPY_TEXT_MAX = 1024,
    STORED = 0,
};

#define END_MARK    UINT32_C(0x06054b50)
#define ENTRY_MARK  UINT32_C(0x02014b50)
#define LOCAL_MARK  UINT32_C(0x04034b50)
#define VALUES_MAX  ((size_t)1 << 28)
#define CRC_PATTERN UINT32_C(0xedb88320) /* of ZIP, its lowest bit first */

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (CRC_PATTERN & (0 - (crc & 1)));
        }
    }
    return ~crc;
}

/* ---- an array ------------------------------------------------------------------------------- */

/* What stands behind 'key': in an array's head; NULL: nothing. */
static const char *text_behind(const char *head, const char *key)
{
    const char *at = strstr(head, key);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    while (*at == ' ' || *at == ':') {
        at++;
    }
    return at;
}

/* "(64, 4)", "(64,)" or "()". */
static int read_shape(const char *at, aq_npz_array *array, aq_error *error)
{
    size_t count = 1;
    for (at++; *at != ')'; array->rank++) {
        char digits[24];
        size_t length = 0;
        uint64_t size;
        for (; isdigit((unsigned char)*at) && length + 1 < sizeof(digits); at++) {
            digits[length++] = *at;
        }
        digits[length] = '\0';
        if (array->rank == AQ_NPZ_RANK_MAX || aq_parse_u64(digits, &size) != 0 ||
            size > VALUES_MAX || (size > 0 && count > VALUES_MAX / size)) {
            return aq_fail(error, AQ_E_TOO_BIG,
                           "an array of a shape that is too large, or is none");
        }
        array->shape[array->rank] = size;
        count *= size;
        at += strspn(at, ", ");
    }
    array->count = count;
    return 0;
}

static int read_head(const char *head, aq_npz_array *array, aq_error *error)
{
    static const struct {
        const char *text;
        uint32_t bytes;
    } types[] = {{"'<f2'", 2}, {"'<f4'", 4}, {"'<f8'", 8}};
    const char *type = text_behind(head, "'descr'");
    const char *order = text_behind(head, "'fortran_order'");
    const char *shape = text_behind(head, "'shape'");
    if (type == NULL || order == NULL || shape == NULL || *shape != '(') {
        return aq_fail(error, AQ_E_CORRUPT, "an array does not say what it is");
    }
    const size_t quote = *type == '\'' ? 1 : 0;
    char raw[AQ_NPZ_TYPE_BYTES];
    (void)snprintf(raw, sizeof(raw), "%.*s", (int)strcspn(type + quote, "'}"), type + quote);
    (void)aq_plain_text(array->type, sizeof(array->type), raw);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strncmp(type, types[i].text, strlen(types[i].text)) == 0) {
            array->value_bytes = types[i].bytes;
        }
    }
    array->is_turned = strncmp(order, "True", 4) == 0;
    return read_shape(shape, array, error);
}

int aq_npy_read(const uint8_t *bytes, size_t size, aq_npz_array *ret_array, aq_error *error)
{
    static const uint8_t mark[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    aq_npz_array made = {0};
    char head[NPY_TEXT_MAX + 1];
    if (size < NPY_HEAD_BYTES || memcmp(bytes, mark, sizeof(mark)) != 0 || bytes[6] != 1) {
        return aq_fail(error, AQ_E_FOREIGN, "no array of NumPy, or of a newer kind than 1.0");
    }
    const size_t length = aq_u16_get(bytes + 8);
    if (length > NPY_TEXT_MAX || length > size - NPY_HEAD_BYTES) {
        return aq_fail(error, AQ_E_CORRUPT, "an array ends in its head");
    }
    memcpy(head, bytes + NPY_HEAD_BYTES, length);
    head[length] = '\0';
    int rc = read_head(head, &made, error);
    if (rc != 0) {
        return rc;
    }
    made.values = bytes + NPY_HEAD_BYTES + length;
    if (made.count * made.value_bytes > size - NPY_HEAD_BYTES - length) {
        return aq_fail(error, AQ_E_CORRUPT, "an array of %zu values ends before them", made.count);
    }
    *ret_array = made;
    return 0;
}

void aq_npz_floats(const aq_npz_array *array, float *out)
{
    const size_t columns = array->rank == 2 ? array->shape[1] : 1;
    const size_t rows = columns > 0 ? array->count / columns : 0;
    for (size_t i = 0; i < array->count; i++) {
        const size_t from = array->is_turned ? i % columns * rows + i / columns : i;
        if (array->value_bytes == sizeof(uint16_t)) {
            out[i] = aq_f16_to_f32(aq_u16_get(array->values + from * sizeof(uint16_t)));
        } else if (array->value_bytes == sizeof(float)) {
            memcpy(&out[i], array->values + from * sizeof(float), sizeof(float));
        } else {
            double value;
            memcpy(&value, array->values + from * sizeof(double), sizeof(double));
            out[i] = (float)value;
        }
    }
}

/* ---- the archive ---------------------------------------------------------------------------- */

/* Where the archive's end is; `size` when there is none. */
static size_t find_end(const uint8_t *bytes, size_t size)
{
    if (size < END_BYTES) {
        return size;
    }
    const size_t last = size - END_BYTES;
    const size_t first = last > COMMENT_MAX ? last - COMMENT_MAX : 0;
    for (size_t at = last + 1; at-- > first;) {
        if (aq_u32_get(bytes + at) == END_MARK) {
            return at;
        }
    }
    return size;
}

typedef struct entry {
    char name[AQ_NPZ_NAME_MAX + 4]; /* with ".npy" */
    uint32_t method, crc;
    size_t stored, size, at; /* `at`: of what stands before it */
} entry;

/* The entry at `at` of the list, which ends at `end`; what follows it. */
static int read_entry(const uint8_t *bytes, size_t at, size_t end, entry *ret_entry,
                      size_t *ret_next, aq_error *error)
{
    if (end - at < ENTRY_BYTES || aq_u32_get(bytes + at) != ENTRY_MARK) {
        return aq_fail(error, AQ_E_CORRUPT, "the archive's list of files is damaged");
    }
    const size_t name = aq_u16_get(bytes + at + 28);
    const size_t more = aq_u16_get(bytes + at + 30) + (size_t)aq_u16_get(bytes + at + 32);
    if (name >= sizeof(ret_entry->name) || end - at - ENTRY_BYTES < name + more) {
        return aq_fail(error, AQ_E_CORRUPT, "the archive's list of files has too long a name");
    }
    *ret_entry = (entry){
        .method = aq_u16_get(bytes + at + 10),
        .crc = aq_u32_get(bytes + at + 16),
        .stored = aq_u32_get(bytes + at + 20),
        .size = aq_u32_get(bytes + at + 24),
        .at = aq_u32_get(bytes + at + 42),
    };
    for (size_t i = 0; i < name; i++) {
        ret_entry->name[i] = (char)bytes[at + ENTRY_BYTES + i];
        if (!isprint((unsigned char)ret_entry->name[i])) {
            return aq_fail(error, AQ_E_CORRUPT, "the archive has a name that can't be printed");
        }
    }
    *ret_next = at + ENTRY_BYTES + name + more;
    return 0;
}

/* The file's bytes, which lie before the list at `end`. */
static int find_file(const uint8_t *bytes, size_t end, const entry *of, const uint8_t **ret_file,
                     aq_error *error)
{
    if (of->method != STORED || of->stored != of->size) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s is compressed; write the file with numpy.savez, not savez_compressed",
                       of->name);
    }
    if (end < LOCAL_BYTES || of->at > end - LOCAL_BYTES ||
        aq_u32_get(bytes + of->at) != LOCAL_MARK) {
        return aq_fail(error, AQ_E_CORRUPT, "%s is not where the archive says", of->name);
    }
    const size_t start = of->at + LOCAL_BYTES + aq_u16_get(bytes + of->at + 26) +
                         (size_t)aq_u16_get(bytes + of->at + 28);
    if (start > end || of->size > end - start) {
        return aq_fail(error, AQ_E_CORRUPT, "%s ends behind the archive", of->name);
    }
    if (crc_of(bytes + start, of->size) != of->crc) {
        return aq_fail(error, AQ_E_CORRUPT, "%s is damaged: another checksum", of->name);
    }
    *ret_file = bytes + start;
    return 0;
}

bool aq_npz_is_pickle(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5; /* its protocol */
}

int aq_npz_refuse_pickle(aq_error *error)
{
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "it is a pickle, as torch.save writes it, which may hold code and is not read; "
                   "numpy.savez writes the arrays alone, in three lines of Python "
                   "(docs/import.md)");
}

/* As torch.save and Stable-Baselines3 call what they have put into an archive. */
static bool is_pickle_name(const char *name)
{
    static const char *const suffixes[] = {".pkl", ".pth", ".pt"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (strcmp(dot, suffixes[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int add_array(const uint8_t *bytes, size_t end, entry *of, aq_npz_file *file,
                     aq_error *error)
{
    static const char suffix[] = ".npy";
    const size_t length = strlen(of->name);
    const uint8_t *start = NULL;
    if (is_pickle_name(of->name)) {
        return aq_npz_refuse_pickle(error);
    }
    int rc = find_file(bytes, end, of, &start, error);
    if (rc != 0 || length < sizeof(suffix) ||
        strcmp(of->name + length - sizeof(suffix) + 1, suffix) != 0) {
        return rc; /* of another file it is enough that it is whole */
    }
    if (file->count == AQ_NPZ_ARRAYS_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "more than %d arrays", AQ_NPZ_ARRAYS_MAX);
    }
    aq_npz_array *array = &file->arrays[file->count];
    rc = aq_npy_read(start, of->size, array, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", of->name);
    }
    (void)snprintf(array->name, sizeof(array->name), "%.*s", (int)(length - sizeof(suffix) + 1),
                   of->name);
    if (aq_npz_find(file, array->name) != NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "%s is there twice", of->name);
    }
    file->count++;
    return 0;
}

int aq_npz_read(const uint8_t *bytes, size_t size, aq_npz_file *ret_file, aq_error *error)
{
    const size_t end = find_end(bytes, size);
    ret_file->count = 0;
    if (end == size) {
        return aq_fail(error, AQ_E_FOREIGN, "no archive as numpy.savez writes one");
    }
    const size_t list_size = aq_u32_get(bytes + end + 12), entries = aq_u16_get(bytes + end + 10);
    const size_t list = aq_u32_get(bytes + end + 16); /* other archives have more behind it */
    if (list > end || list_size > end - list) {
        return aq_fail(error, AQ_E_CORRUPT, "the archive's list of files is not in it");
    }
    size_t at = list, left = list; /* checksums are of as many bytes as there are, at most */
    for (size_t i = 0; i < entries; i++) {
        entry found;
        int rc = read_entry(bytes, at, end, &found, &at, error);
        if (rc == 0 && found.stored > left) {
            rc = aq_fail(error, AQ_E_CORRUPT, "the archive's files are larger than it is");
        }
        rc = rc != 0 ? rc : add_array(bytes, list, &found, ret_file, error);
        if (rc != 0) {
            return rc;
        }
        left -= found.stored;
    }
    return 0;
}

const aq_npz_array *aq_npz_find(const aq_npz_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->arrays[i].name, name) == 0) {
            return &file->arrays[i];
        }
    }
    return NULL;
}
