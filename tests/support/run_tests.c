/*
 * Running the tests of a program: they are added by their files before main, in any order, and run
 * by file and line. One group a file, as cmocka reports them.
 */
#include "tests/support/test.h"

#include <fnmatch.h>

enum { FILE_TESTS_MAX = 512, NOTHING_FITS = -1 };

static aq_test *tests;
static aq_test_group *groups;
static struct CMUnitTest units[FILE_TESTS_MAX]; /* of the file that runs */
static size_t begun;                            /* of them */
static size_t row;                              /* of a table, from 1; 0: in none */

aq_error refusal;

/* By file, then by line. */
void aq_test_add(aq_test *test)
{
    aq_test **at = &tests;
    for (; *at != NULL; at = &(*at)->next) {
        const int order = strcmp((*at)->file, test->file);
        if (order > 0 || (order == 0 && (*at)->line > test->line)) {
            break;
        }
    }
    test->next = *at;
    *at = test;
}

void aq_test_add_group(aq_test_group *group)
{
    group->next = groups;
    groups = group;
}

static const aq_test_group *group_of(const char *file)
{
    static const aq_test_group none;
    for (const aq_test_group *group = groups; group != NULL; group = group->next) {
        if (strcmp(group->file, file) == 0) {
            return group;
        }
    }
    return &none;
}

/* "queue" of ".../test_queue.c". */
static const char *name_of(const char *file, char *out, size_t size)
{
    const char *begin = strrchr(file, '/');
    begin = begin != NULL ? begin + 1 : file;
    begin += strncmp(begin, "test_", 5) == 0 ? 5 : 0;
    (void)snprintf(out, size, "%.*s", (int)strcspn(begin, "."), begin);
    return out;
}

typedef struct ending {
    void (*function)(void *thing);
    void *thing;
    struct ending *next;
} ending;

static ending *endings, *set_up_endings; /* the latest first; those of the setup */

void at_end(void (*function)(void *thing), void *thing)
{
    ending *it = malloc(sizeof(*it));
    assert_non_null(it);
    *it = (ending){function, thing, endings};
    endings = it;
}

static void free_buffer(void *buffer)
{
    aq_buffer_fini(buffer);
    free(buffer);
}

aq_buffer *buffer_up_to(size_t max)
{
    aq_buffer *buffer = malloc(sizeof(*buffer));
    assert_non_null(buffer);
    aq_buffer_init(buffer, max);
    at_end(free_buffer, buffer);
    return buffer;
}

static void end_until(const ending *last)
{
    while (endings != last) {
        ending it = *endings;
        free(endings);
        endings = it.next;
        it.function(it.thing);
    }
}

static int set_up(void **state)
{
    refusal = (aq_error){0};
    const struct CMUnitTest *unit = &units[begun++];
    const int rc = unit->setup_func != NULL ? unit->setup_func(state) : 0;
    set_up_endings = endings;
    return rc;
}

static int tear_down(void **state)
{
    const struct CMUnitTest *unit = &units[begun - 1];
    aq_memory_fail_at(0, 0);
    if (row > 0) {
        print_error("%s: in row %zu\n", unit->name, row);
        row = 0;
    }
    end_until(set_up_endings);
    const int rc = unit->teardown_func != NULL ? unit->teardown_func(state) : 0;
    end_until(NULL);
    return rc;
}

/* The tests of one file, from `first` on, that fit the pattern, or all if the file's name does;
 * `*ret_next` is the first of the next file. How many failed, or NOTHING_FITS. */
static int run_file(const aq_test *first, const char *pattern, const aq_test **ret_next)
{
    static struct CMUnitTest surrounded[FILE_TESTS_MAX];
    const aq_test_group *group = group_of(first->file);
    char name[64];
    const bool is_meant = fnmatch(pattern, name_of(first->file, name, sizeof(name)), 0) == 0;
    size_t count = 0;
    const aq_test *test = first;
    for (; test != NULL && strcmp(test->file, first->file) == 0; test = test->next) {
        if (count == FILE_TESTS_MAX) {
            (void)fprintf(stderr, "%s: more than %d tests\n", first->file, FILE_TESTS_MAX);
            exit(EXIT_FAILURE);
        }
        if (is_meant || fnmatch(pattern, test->unit.name, 0) == 0) {
            surrounded[count] = test->unit;
            surrounded[count].setup_func = set_up;
            surrounded[count].teardown_func = tear_down;
            units[count++] = test->unit;
        }
    }
    *ret_next = test;
    begun = 0;
    return count == 0
               ? NOTHING_FITS
               : _cmocka_run_group_tests(name, surrounded, count, group->setup, group->teardown);
}

int aq_test_run(const char *pattern)
{
    int failed = 0;
    unsigned files = 0;
    for (const aq_test *test = tests; test != NULL;) {
        const int rc = run_file(test, pattern != NULL ? pattern : "*", &test);
        failed += rc == NOTHING_FITS ? 0 : rc;
        files += rc != NOTHING_FITS;
    }
    if (files == 0) {
        (void)fprintf(stderr, "no test, and no file of tests, is called \"%s\"\n",
                      pattern != NULL ? pattern : "*");
        return 1;
    }
    return failed > 0;
}

void aq_assert_says(const char *text, const char *words, const char *file, int line)
{
    if (text == NULL || strstr(text, words) == NULL) {
        print_error("'%s' does not say '%s'\n", text != NULL ? text : "(null)", words);
        _fail(file, line);
    }
}

void aq_assert_refused(int rc, int code, const char *words, const char *file, int line)
{
    if (rc != code) {
        print_error("'%s':\n", words); /* the row of a table */
    }
    _assert_int_equal((LargestIntegralType)rc, (LargestIntegralType)code, file, line);
    _assert_int_equal((LargestIntegralType)refusal.code, (LargestIntegralType)code, file, line);
    _assert_true(refusal.text[0] != '\0', "it says something", file, line);
    aq_assert_says(refusal.text, words, file, line);
    refusal.code = 0; /* the next one says it itself */
}

void aq_assert_succeeds(int rc, const char *file, int line)
{
    if (rc != 0) {
        print_error("%s: %s\n", aq_error_name(rc), refusal.code == rc ? refusal.text : "");
        _fail(file, line);
    }
}

void aq_assert_same_buffers(const aq_buffer *a, const aq_buffer *b, const char *file, int line)
{
    _assert_int_equal((LargestIntegralType)a->size, (LargestIntegralType)b->size, file, line);
    _assert_memory_equal(a->data, b->data, a->size, file, line);
}

void aq_assert_near(double value, double expected, double within, const char *file, int line)
{
    /* Written so that a NaN fails it. */
    if (!(value - expected <= within && expected - value <= within)) {
        print_error("%.17g is not within %g of %.17g\n", value, within, expected);
        _fail(file, line);
    }
}

bool aq_test_row(size_t index, size_t count)
{
    row = index < count ? index + 1 : 0;
    refusal = (aq_error){0};
    return index < count;
}

bool aq_test_fail_next(uint64_t nth, int *rc, const char *file, int line)
{
    enum { ALLOCATIONS_MAX = 100000 };
    aq_memory_fail_at(0, 0);
    if (nth > 1 && *rc == 0) {
        /* The first run cannot have succeeded: it would have allocated nothing. */
        _assert_true(nth > 2, "something was allocated", file, line);
        return false;
    }
    if (nth > 1) {
        _assert_int_equal((LargestIntegralType)*rc, (LargestIntegralType)AQ_E_NOMEM, file, line);
    }
    _assert_true(nth < ALLOCATIONS_MAX, "the allocations come to an end", file, line);
    aq_memory_fail_at(nth, 0);
    refusal = (aq_error){0};
    return true;
}

void aq_test_fail_first(bool fails)
{
    aq_memory_fail_at(fails ? 1 : 0, 0);
}
