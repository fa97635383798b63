/*
 * Numbers between commas.
 */
#include "tests/unit/envs/golden_suite.h"
#include "tests/support/test.h"

enum { PATH_MAX_BYTES = 512 };

FILE *suite_golden_open(const char *name)
{
    char path[PATH_MAX_BYTES];
    int length = snprintf(path, sizeof(path), "%s/%s", AQ_GOLDEN_DIR, name);
    assert_true(length > 0 && (size_t)length < sizeof(path));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

bool suite_golden_next(FILE *file, suite_line *ret_line)
{
    do {
        if (fgets(ret_line->text, sizeof(ret_line->text), file) == NULL) {
            return false;
        }
        assert_non_null(strchr(ret_line->text, '\n'));
    } while (ret_line->text[0] == '#');
    ret_line->text[strcspn(ret_line->text, "\n")] = '\0';
    char *comma = strchr(ret_line->text, ',');
    assert_non_null(comma);
    *comma = '\0';
    ret_line->kind = ret_line->text;
    ret_line->rest = comma + 1;
    return true;
}

size_t suite_golden_numbers(const suite_line *line, double *out)
{
    size_t count = 0;
    const char *field = line->rest;
    while (true) {
        char *end;
        assert_true(count < SUITE_NUMBERS_MAX);
        out[count++] = strtod(field, &end);
        assert_true(end != field && (*end == ',' || *end == '\0'));
        if (*end == '\0') {
            return count;
        }
        field = end + 1;
    }
}

double suite_golden_error(double ours, double theirs)
{
    return fabs(ours - theirs) / fmax(1, fabs(theirs));
}
