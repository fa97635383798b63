/*
 * The registry, and that it agrees with what a configuration can choose.
 */
#include "learner/algorithms/algorithm.h"
#include "tests/support/test.h"

TEST(every_algorithm_is_complete)
{
    const aq_space choices = {.kind = AQ_SPACE_DISCRETE}, numbers = {.kind = AQ_SPACE_BOX};
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        const aq_algorithm_class *a = aq_algorithm_at(i);
        assert_int_equal(a->head_of_choices != 0,
                         aq_algorithm_takes((enum aq_algorithm)i, &choices));
        assert_int_equal(a->head_of_numbers != 0,
                         aq_algorithm_takes((enum aq_algorithm)i, &numbers));
        assert_true(a->create != NULL && a->destroy != NULL && a->train != NULL);
        assert_true(a->policy != NULL && a->arrays != NULL);
        assert_true(a->needs.update == AQ_UPDATES_BY_GROUP ||
                    !aq_algorithm_has((enum aq_algorithm)i, AQ_LEARNS_ONCE));
    }
}

TEST(what_a_configuration_can_choose_is_what_there_is)
{
    const aq_settings_table *table = aq_run_config_table();
    const char *const *choices = NULL;
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, "learner.algorithm") == 0) {
            choices = table->rows[i].choices;
        }
    }
    assert_non_null(choices);
    for (; count < aq_algorithm_count(); count++) {
        assert_string_equal(choices[count], aq_algorithm_at(count)->name);
    }
    assert_string_equal(choices[AQ_ALGORITHM_AUTO], "auto");
    assert_null(choices[count + 1]);
}
