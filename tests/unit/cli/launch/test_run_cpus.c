/*
 * Who of a run gets which processors.
 */
#include "cli/launch/run_cpus.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"

typedef struct row {
    const char *of_learner, *of_others;
    uint64_t threads;
    const char *learner, *others; /* NULL: nobody is held to any */
} row;

static int plan(const row *wanted, aq_run_cpus *ret_cpus, aq_error *error)
{
    const aq_cpus allowed = {{false, true, true, true}};
    aq_run_config config = config_defaults();
    config.learner.threads = wanted->threads;
    (void)snprintf(config.learner.cpus, sizeof(config.learner.cpus), "%s", wanted->of_learner);
    (void)snprintf(config.actor.cpus, sizeof(config.actor.cpus), "%s", wanted->of_others);
    return aq_run_cpus_plan(&config, 1, &allowed, ret_cpus, error);
}

TEST(processors_are_given_as_the_settings_say)
{
    static const row rows[] = {
        {"", "", 1, NULL, NULL},         {"auto", "auto", 1, "1", "2-3"},
        {"auto", "auto", 2, "1-2", "3"}, {"auto", "auto", 3, NULL, NULL},
        {"2", "auto", 1, "2", "1,3"},    {"auto", "", 1, "1", "1-3"},
        {"", "3", 1, "1-3", "3"},        {"", "auto", 1, NULL, NULL},
        {"1-2", "2-3", 1, "1-2", "2-3"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[AQ_CPUS_TEXT_MAX];
        aq_run_cpus cpus;
        assert_succeeds(plan(&rows[i], &cpus, NULL));
        for (int is_learner = 0; is_learner < 2; is_learner++) {
            const char *expected = is_learner ? rows[i].learner : rows[i].others;
            const aq_cpus *got = aq_run_cpus_of(&cpus, is_learner);
            assert_int_equal(got == NULL, expected == NULL);
            if (got != NULL) {
                aq_cpus_text(got, text, sizeof(text));
                assert_string_equal(text, expected);
            }
        }
    }
}

TEST(a_refusal_names_the_setting)
{
    aq_run_cpus cpus;
    aq_error error = {0};
    assert_int_equal(plan(&(row){"7", "", 1, NULL, NULL}, &cpus, &error), AQ_E_INVALID);
    assert_non_null(strstr(error.text, "learner.cpus: processor 7 is not among"));
    assert_int_equal(plan(&(row){"", "all", 1, NULL, NULL}, &cpus, &error), AQ_E_INVALID);
    assert_non_null(strstr(error.text, "actor.cpus: 'all' is no list"));
}
