/*
 * Configurations for tests: see config_kit.h.
 */
#include "tests/support/config_kit.h"

#include "common/config/run_rules.h"
#include "tests/support/test.h"

aq_run_config config_defaults(void)
{
    aq_run_config config;
    memset(&config, 0, sizeof(config));
    aq_settings_init(aq_run_config_table(), &config);
    return config;
}

void config_set(aq_run_config *config, const char *assignment)
{
    assert_succeeds(aq_settings_assign(aq_run_config_table(), assignment, config, &refusal));
}

aq_run_config config_with(const char *const settings[CONFIG_SETTINGS_MAX])
{
    aq_run_config config = config_defaults();
    for (size_t i = 0; i < CONFIG_SETTINGS_MAX && settings[i] != NULL; i++) {
        config_set(&config, settings[i]);
    }
    return config;
}

void config_accept(const aq_run_config *config)
{
    assert_succeeds(aq_run_rules_check(config, &refusal));
}

void config_refuse(const aq_run_config *config, const char *const *words)
{
    assert_int_equal(aq_run_rules_check(config, &refusal), AQ_E_INVALID);
    assert_int_equal(refusal.code, AQ_E_INVALID);
    for (; *words != NULL; words++) {
        assert_says(refusal.text, *words);
    }
}
