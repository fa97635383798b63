/*
 * Schemas and run settings <-> their messages.
 *
 * `_to` functions fill a view, in storage that the caller lends, and allocate nothing. A view
 * points into its source and into itself: it is valid while both live, and must not be copied.
 * `_from` functions take a missing message (NULL), too, and check what they read: AQ_E_SCHEMA,
 * AQ_E_CORRUPT (a text that is too long) or AQ_E_INVALID (settings).
 */
#ifndef AQ_COMMON_WIRE_WIRE_RUN_H
#define AQ_COMMON_WIRE_WIRE_RUN_H

#include "common/config/run_settings.h"
#include "proto/membership.pb-c.h"
#include "proto/schema.pb-c.h"

typedef struct aq_wire_schema_view {
    Actorq__V1__Schema message;
    Actorq__V1__Space observation;
    Actorq__V1__Space action;
} aq_wire_schema_view;

void aq_wire_schema_to(const aq_schema *schema, aq_wire_schema_view *ret_view);
int aq_wire_schema_from(const Actorq__V1__Schema *message, aq_schema *ret_schema,
                        aq_error *error) AQ_MUST_USE;

/* A schema as bytes, for those who keep it and see no messages: at most AQ_WIRE_SCHEMA_BYTES_MAX,
 * whose number is returned; and back: as aq_wire_schema_from, and AQ_E_NOMEM. */
enum { AQ_WIRE_SCHEMA_BYTES_MAX = 2560 };
size_t aq_wire_schema_pack(const aq_schema *schema, uint8_t out[AQ_WIRE_SCHEMA_BYTES_MAX]);
int aq_wire_schema_unpack(const uint8_t *bytes, size_t size, aq_schema *ret_schema,
                          aq_error *error) AQ_MUST_USE;

enum { AQ_WIRE_VALUES_MAX = AQ_SETTINGS_ROWS_MAX }; /* all, if gradients are sent */

typedef struct aq_wire_settings_view {
    Actorq__V1__RunSettings message;
    aq_wire_schema_view schema;
    Actorq__V1__TableSettings tables[AQ_TABLES_MAX];
    Actorq__V1__TableSettings *table_pointers[AQ_TABLES_MAX];
    Actorq__V1__Column recorded[AQ_COLUMNS_RECORDED_MAX];
    Actorq__V1__Column *recorded_pointers[AQ_COLUMNS_RECORDED_MAX];
    Actorq__V1__SettingValue values[AQ_WIRE_VALUES_MAX];
    Actorq__V1__SettingValue *value_pointers[AQ_WIRE_VALUES_MAX];
    char numbers[AQ_WIRE_VALUES_MAX][AQ_SETTING_NUMBER_SIZE];
} aq_wire_settings_view;

void aq_wire_settings_to(const aq_run_settings *settings, aq_wire_settings_view *ret_view);
int aq_wire_settings_from(const Actorq__V1__RunSettings *message, aq_run_settings *ret_settings,
                          aq_error *error) AQ_MUST_USE;

#endif
