/*
 * What reports say of the machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/sys/machine.h"

static void test_the_model_is_a_trimmed_name(void **state)
{
    const char *model = aq_machine_model();
    size_t length = strlen(model);

    (void)state;
    assert_true(length > 0);
    assert_true(model[0] != ' ' && model[length - 1] != ' ');
    assert_null(strstr(model, "  "));
    assert_ptr_equal(model, aq_machine_model());
}

static void test_there_is_a_processor(void **state)
{
    (void)state;
    assert_true(aq_machine_cpu_count() >= 1);
}

static void test_touched_memory_is_resident(void **state)
{
    const size_t size = (size_t)32 << 20;
    uint64_t before = aq_machine_resident_bytes();
    void *block = aq_alloc(size, 1); /* zeroed, so touched */

    (void)state;
    assert_non_null(block);
    assert_true(before > 0);
    assert_true(aq_machine_resident_bytes() >= before + size / 2);
    aq_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_model_is_a_trimmed_name),
        cmocka_unit_test(test_there_is_a_processor),
        cmocka_unit_test(test_touched_memory_is_resident),
    };

    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
