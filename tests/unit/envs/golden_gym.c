/*
 * A reader for lines of comma-separated numbers with a word in front.
 */
#include "tests/support/test.h"

#include "tests/unit/envs/golden_gym.h"

enum { LINE_MAX_BYTES = 1024, PATH_MAX_BYTES = 512 };

FILE *golden_open(const char *name)
{
    char path[PATH_MAX_BYTES];
    int length = snprintf(path, sizeof(path), "%s/%s", AQ_GOLDEN_DIR, name);
    assert_true(length > 0 && (size_t)length < sizeof(path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

bool golden_line(FILE *file, char *out, size_t size)
{
    do {
        if (fgets(out, (int)size, file) == NULL) {
            return false;
        }
        assert_non_null(strchr(out, '\n'));
    } while (out[0] == '#');
    out[strcspn(out, "\n")] = '\0';
    return true;
}

static void take_text(char *out, const char *field)
{
    assert_true(strlen(field) < GOLDEN_NAME_MAX);
    memcpy(out, field, strlen(field) + 1);
}

static void take_number(golden_record *record, const char *field)
{
    char *end;
    assert_true(record->count < GOLDEN_VALUES_MAX);
    record->values[record->count] = strtod(field, &end);
    assert_true(end != field && *end == '\0');
    record->count++;
}

bool golden_next(FILE *file, golden_record *ret_record)
{
    char line[LINE_MAX_BYTES];
    char *rest = NULL;
    if (!golden_line(file, line, sizeof(line))) {
        return false;
    }
    memset(ret_record, 0, sizeof(*ret_record));
    char *field = strtok_r(line, ",", &rest);
    assert_non_null(field);
    take_text(ret_record->kind, field);
    if (strcmp(field, "env") == 0 || strcmp(field, "table") == 0) {
        field = strtok_r(NULL, ",", &rest);
        assert_non_null(field);
        take_text(ret_record->name, field);
    }
    while ((field = strtok_r(NULL, ",", &rest)) != NULL) {
        take_number(ret_record, field);
    }
    return true;
}
