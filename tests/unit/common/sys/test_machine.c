/*
 * What reports say of the machine.
 */
#include "common/sys/machine.h"
#include "tests/support/test.h"

TEST(the_model_is_a_trimmed_name)
{
    const char *model = aq_machine_model();
    size_t length = strlen(model);
    assert_true(length > 0);
    assert_true(model[0] != ' ' && model[length - 1] != ' ');
    assert_null(strstr(model, "  "));
    assert_ptr_equal(model, aq_machine_model());
}

TEST(a_host_has_a_name_or_none)
{
    char name[256], first[1] = "x";
    memset(name, 'x', sizeof(name));
    aq_machine_host(name, sizeof(name));
    assert_true(strlen(name) < sizeof(name));
    aq_machine_host(first, sizeof(first));
    assert_string_equal(first, "");
}

TEST(there_is_a_processor)
{
    assert_true(aq_machine_cpu_count() >= 1);
}

TEST(touched_memory_is_resident)
{
    const size_t size = (size_t)32 << 20;
    uint64_t before = aq_machine_resident_bytes();
    void *block = aq_alloc(size, 1); /* zeroed, so touched */

    assert_non_null(block);
    assert_true(before > 0);
    assert_true(aq_machine_resident_bytes() >= before + size / 2);
    aq_free(block);
}
