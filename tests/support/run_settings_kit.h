/*
 * What a learner hands out, for tests that are no learner.
 */
#ifndef AQ_TESTS_SUPPORT_RUN_SETTINGS_KIT_H
#define AQ_TESTS_SUPPORT_RUN_SETTINGS_KIT_H

#include "common/config/run_settings.h"

/* Valid settings: CartPole's name and schema, one table, no threshold, and the default of each
 * setting that members see. To be changed before they are used. */
aq_run_settings run_settings_kit(void);

/* Gives them another schema. */
void run_settings_kit_schema(aq_run_settings *settings, const aq_schema *schema);

#endif
