/*
 * Cheetah, hopper, humanoid and walker do what the original did, and begin as its rules say.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/envs/golden_suite.h"

static void test_cheetah_moves_as_the_original(void **state)
{
    (void)state;
    suite_golden_play("cheetah_1.csv", 1e-11);
}

static void test_each_step_of_cheetah_in_contact_is_the_originals(void **state)
{
    (void)state;
    suite_golden_play("cheetah_3.csv", 1e-9);
}

static void test_cheetah_sees_and_earns_what_the_original_does(void **state)
{
    (void)state;
    suite_golden_play("cheetah_probes.csv", 1e-11);
}

static void test_hopper_moves_as_the_original(void **state)
{
    (void)state;
    suite_golden_play("hopper_1.csv", 1e-11);
}

static void test_hopper_sees_and_earns_what_the_original_does(void **state)
{
    (void)state;
    suite_golden_play("hopper_probes.csv", 1e-11);
}

static void test_humanoid_moves_as_the_original(void **state)
{
    (void)state;
    suite_golden_play("humanoid_1.csv", 1e-7);
}

static void test_humanoid_sees_and_earns_what_the_original_does(void **state)
{
    (void)state;
    suite_golden_play("humanoid_probes.csv", 1e-9);
}

static void test_walker_moves_as_the_original(void **state)
{
    (void)state;
    suite_golden_play("walker_1.csv", 1e-9);
}

static void test_each_step_of_walker_in_contact_is_the_originals(void **state)
{
    (void)state;
    suite_golden_play("walker_3.csv", 1e-9);
}

static void test_walker_sees_and_earns_what_the_original_does(void **state)
{
    (void)state;
    suite_golden_play("walker_probes.csv", 1e-11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheetah_moves_as_the_original),
        cmocka_unit_test(test_each_step_of_cheetah_in_contact_is_the_originals),
        cmocka_unit_test(test_cheetah_sees_and_earns_what_the_original_does),
        cmocka_unit_test(test_hopper_moves_as_the_original),
        cmocka_unit_test(test_hopper_sees_and_earns_what_the_original_does),
        cmocka_unit_test(test_humanoid_moves_as_the_original),
        cmocka_unit_test(test_humanoid_sees_and_earns_what_the_original_does),
        cmocka_unit_test(test_walker_moves_as_the_original),
        cmocka_unit_test(test_each_step_of_walker_in_contact_is_the_originals),
        cmocka_unit_test(test_walker_sees_and_earns_what_the_original_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
