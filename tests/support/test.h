/*
 * Tests: cmocka behind one include, tests that register themselves, and assertions that many share.
 *
 *   #include "tests/support/test.h"
 *
 *   TEST(a_full_queue_refuses) { ... }
 *   TEST_IN(queue_kit, kit, a_queue_drains) { ... kit->queue ... }
 *   TEST_OF(a_queue_fills, aq_queue *queue, queue_of(3), aq_queue_destroy) { ... }
 *   TEST_WITH(a_queue_ends, make_queue, drop_queue) { aq_queue *queue = *state; ... }
 *
 * A program runs the tests of all its files, a group for each file (run_tests.c), in their order.
 * Allocations that a test lets fail are those of this test alone.
 */
#ifndef AQ_TESTS_SUPPORT_TEST_H
#define AQ_TESTS_SUPPORT_TEST_H

/* cmocka wants some of these before it; a test needs no include of its own for any. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/memory.h"
#include "tests/support/chance.h"

typedef struct aq_test {
    const char *file;
    int line;
    struct CMUnitTest unit;
    struct aq_test *next;
} aq_test;

/* What surrounds the tests of one file. */
typedef struct aq_test_group {
    const char *file;
    CMFixtureFunction setup, teardown; /* once; NULL: none */
    struct aq_test_group *next;
} aq_test_group;

void aq_test_add(aq_test *test);
void aq_test_add_group(aq_test_group *group);

/* Runs all tests, or those whose names, or whose file's name without test_, fit `pattern` (with *
 * and ?); 0, or 1 where one failed: a status to exit with, where 77 would be "skipped". */
int aq_test_run(const char *pattern);

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* With what cmocka calls before and after it; `state` is theirs. */
#define TEST_WITH(name, setup, teardown)                                                           \
    static void test_##name(void **state);                                                         \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        static aq_test test = {                                                                    \
            __FILE__, __LINE__, {#name, test_##name, (setup), (teardown), NULL}, NULL};            \
        aq_test_add(&test);                                                                        \
    }                                                                                              \
    static void test_##name(void **state __attribute__((unused)))

/* Of what the expression `make` gives, which `it` declares and the function `drop` takes back, also
 * when the test has failed. A file with many such tests has a macro of its own on top. */
#define TEST_OF(name, it, make, drop)                                                              \
    static int make_##name(void **state)                                                           \
    {                                                                                              \
        *state = (make);                                                                           \
        return 0;                                                                                  \
    }                                                                                              \
    static int drop_##name(void **state)                                                           \
    {                                                                                              \
        drop(*state);                                                                              \
        return 0;                                                                                  \
    }                                                                                              \
    static void of_##name(it);                                                                     \
    TEST_WITH(name, make_##name, drop_##name)                                                      \
    {                                                                                              \
        of_##name(*state);                                                                         \
    }                                                                                              \
    static void of_##name(it __attribute__((unused)))

/* With a fixture of its own, zeroed, which type_setup(type *) prepares and type_teardown(type *)
 * clears away.
 *
 *   TEST_IN(queue_kit, kit, a_queue_drains) { ... kit->queue ... }
 */
#define TEST_IN(type, variable, name)                                                              \
    static void in_##name(type *variable);                                                         \
    static int setup_##name(void **state)                                                          \
    {                                                                                              \
        static type this_fixture;                                                                  \
        memset(&this_fixture, 0, sizeof(this_fixture));                                            \
        *state = &this_fixture;                                                                    \
        type##_setup(&this_fixture);                                                               \
        return 0;                                                                                  \
    }                                                                                              \
    static int teardown_##name(void **state)                                                       \
    {                                                                                              \
        type##_teardown(*state);                                                                   \
        return 0;                                                                                  \
    }                                                                                              \
    TEST_WITH(name, setup_##name, teardown_##name)                                                 \
    {                                                                                              \
        in_##name(*state);                                                                         \
    }                                                                                              \
    static void in_##name(type *variable __attribute__((unused)))

/* Does this when the test is over, however it ended; what was asked for last comes first. So a
 * helper takes back what it makes. */
void at_end(void (*function)(void *thing), void *thing);

/* Such a function, of one that takes a pointer of its own type. */
#define TEST_ENDING(name, function)                                                                \
    static void name(void *it_)                                                                    \
    {                                                                                              \
        function(it_);                                                                             \
    }                                                                                              \
    struct aq_test_group /* takes the semicolon */

/* An empty buffer that takes at most this many bytes, freed when the test is over. */
aq_buffer *buffer_up_to(size_t max);

/* Once before the first test of the file, and after its last; either may be NULL. */
#define TEST_GROUP(setup, teardown)                                                                \
    __attribute__((constructor)) static void add_the_group(void)                                   \
    {                                                                                              \
        static aq_test_group group = {__FILE__, (setup), (teardown), NULL};                        \
        aq_test_add_group(&group);                                                                 \
    }                                                                                              \
    struct aq_test_group /* takes the semicolon */

/* ---- shared assertions ---------------------------------------------------------------------- */

/* `text` has `words` in it; else it fails with both. */
#define assert_says(text, words) aq_assert_says((text), (words), __FILE__, __LINE__)
void aq_assert_says(const char *text, const char *words, const char *file, int line);

/* For calls that take an aq_error: what the last one that failed had to say. Empty when a test
 * begins, and for each row and each allocation that fails. */
extern aq_error refusal;

/* The call failed with `code`, and `refusal`, which it was given, says so in these words; its text
 * stays for another look. */
#define assert_refused(call, code, words)                                                          \
    aq_assert_refused((call), (code), (words), __FILE__, __LINE__)
void aq_assert_refused(int rc, int code, const char *words, const char *file, int line);

/* The call succeeded; else the test fails with what `refusal` says, if the call was given it. */
#define assert_succeeds(call) aq_assert_succeeds((call), __FILE__, __LINE__)
void aq_assert_succeeds(int rc, const char *file, int line);

/* The buffers have the same bytes in them. */
#define assert_same_buffers(a, b) aq_assert_same_buffers((a), (b), __FILE__, __LINE__)
void aq_assert_same_buffers(const aq_buffer *a, const aq_buffer *b, const char *file, int line);

/* |value - expected| <= within. */
#define assert_near(value, expected, within)                                                       \
    aq_assert_near((value), (expected), (within), __FILE__, __LINE__)
void aq_assert_near(double value, double expected, double within, const char *file, int line);

/* Over the rows of a table; a test that fails within says in which.
 *
 *   EACH_ROW(i, rows) { assert_int_equal(aq_half(rows[i].in), rows[i].out); }
 */
#define EACH_ROW(i, rows) for (size_t i = 0; aq_test_row(i, sizeof(rows) / sizeof((rows)[0])); i++)
bool aq_test_row(size_t row, size_t count);

/* ---- memory --------------------------------------------------------------------------------- */

/* The body runs with its first allocation failing, then with its second, and so on, until `rc`,
 * which it sets, is 0. Before that it must be AQ_E_NOMEM.
 *
 *   EACH_ALLOCATION_FAILS(rc) {
 *       rc = aq_queue_create(4, &queue);
 *   }
 */
#define EACH_ALLOCATION_FAILS(rc)                                                                  \
    for (uint64_t nth_ = 1; aq_test_fail_next(nth_, &(rc), __FILE__, __LINE__); nth_++)
bool aq_test_fail_next(uint64_t nth, int *rc, const char *file, int line);

/* The call makes what the variable `made` points at; whichever of its allocations fails, it says so
 * and leaves the variable alone. Afterwards it is made. */
#define assert_made_despite_failures(made, call)                                                   \
    do {                                                                                           \
        int rc_;                                                                                   \
        void *const untouched_ = &rc_;                                                             \
        (made) = untouched_;                                                                       \
        EACH_ALLOCATION_FAILS(rc_) {                                                               \
            assert_ptr_equal(made, untouched_);                                                    \
            rc_ = (call);                                                                          \
        }                                                                                          \
    } while (0)

/* The call fails with AQ_E_NOMEM when its first allocation does. */
#define assert_fails_without_memory(call)                                                          \
    do {                                                                                           \
        aq_test_fail_first(true);                                                                  \
        const int rc_ = (call);                                                                    \
        aq_test_fail_first(false);                                                                 \
        assert_int_equal(rc_, AQ_E_NOMEM);                                                         \
    } while (0)
void aq_test_fail_first(bool fails);

#endif
