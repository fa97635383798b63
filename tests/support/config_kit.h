/*
 * Configurations for tests: the defaults, with a few assignments, and what becomes of them.
 */
#ifndef AQ_TESTS_SUPPORT_CONFIG_KIT_H
#define AQ_TESTS_SUPPORT_CONFIG_KIT_H

#include "common/config/run_config.h"

enum { CONFIG_SETTINGS_MAX = 6 };

aq_run_config config_defaults(void);
void config_set(aq_run_config *config, const char *assignment);

/* The defaults but for these, up to a NULL. */
aq_run_config config_with(const char *const settings[CONFIG_SETTINGS_MAX]);

/* By the rules between settings; refused with all of these words, up to a NULL. */
void config_accept(const aq_run_config *config);
void config_refuse(const aq_run_config *config, const char *const *words);

#endif
