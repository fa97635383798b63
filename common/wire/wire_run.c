/*
 * Schemas and run settings to and from their messages. Views point into their source, so that a
 * Join or a snapshot is answered without copies; what comes in is copied and checked whole.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_run.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/config/run_names.h"
#include "common/wire/wire_frame.h"

_Static_assert((int)ACTORQ__V1__ROLE__ROLE_ACTOR == (int)AQ_ROLE_ACTOR &&
                   (int)ACTORQ__V1__ROLE__ROLE_EVALUATOR == (int)AQ_ROLE_EVALUATOR &&
                   (int)ACTORQ__V1__ROLE__ROLE_REPLAY == (int)AQ_ROLE_REPLAY,
               "roles have the same numbers on the wire");
_Static_assert((int)ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING == (int)AQ_RUN_RUNNING &&
                   (int)ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED == (int)AQ_RUN_SOLVED &&
                   (int)ACTORQ__V1__RUN_STATE__RUN_STATE_BUDGET == (int)AQ_RUN_BUDGET &&
                   (int)ACTORQ__V1__RUN_STATE__RUN_STATE_STOPPED == (int)AQ_RUN_STOPPED &&
                   (int)ACTORQ__V1__RUN_STATE__RUN_STATE_DIVERGED == (int)AQ_RUN_DIVERGED,
               "states have the same numbers on the wire");

/* ---- schema -------------------------------------------------------------------------------- */

static void space_to(const aq_space *space, Actorq__V1__Space *ret_message)
{
    actorq__v1__space__init(ret_message);
    ret_message->kind = space->kind;
    if (space->kind == AQ_SPACE_DISCRETE && space->rank == 0) {
        ret_message->choice_count = space->choice_count;
    } else {
        AQ_ASSERT(space->rank <= AQ_SHAPE_RANK_MAX);
        AQ_ASSERT(space->bound_count <= AQ_BOUNDS_MAX);
        ret_message->dtype = space->dtype;
        ret_message->n_shape = space->rank;
        ret_message->shape = aq_wire_lend(space->shape);
        ret_message->n_low = space->bound_count;
        ret_message->low = aq_wire_lend(space->low);
        ret_message->n_high = space->bound_count;
        ret_message->high = aq_wire_lend(space->high);
        ret_message->frames = space->frames;
    }
}

void aq_wire_schema_to(const aq_schema *schema, aq_wire_schema_view *ret_view)
{
    space_to(&schema->obs, &ret_view->observation);
    space_to(&schema->action, &ret_view->action);
    actorq__v1__schema__init(&ret_view->message);
    ret_view->message.observation = &ret_view->observation;
    ret_view->message.action = &ret_view->action;
}

static int space_from(const Actorq__V1__Space *message, const char *name, aq_space *ret_space,
                      aq_error *error)
{
    if (message == NULL) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: not described", name);
    }
    memset(ret_space, 0, sizeof(*ret_space));
    if (message->kind == AQ_SPACE_DISCRETE && message->n_shape == 0) {
        aq_space_init_discrete(ret_space, message->choice_count);
        return 0;
    }
    if (message->n_shape > AQ_SHAPE_RANK_MAX) {
        return aq_fail(error, AQ_E_SCHEMA, "%s: a box of %zu dimensions; 1 to %d are possible",
                       name, message->n_shape, AQ_SHAPE_RANK_MAX);
    }
    if (message->n_low != message->n_high || message->n_low > AQ_BOUNDS_MAX) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "%s: %zu lower and %zu upper bounds; as many of each, up to %d", name,
                       message->n_low, message->n_high, AQ_BOUNDS_MAX);
    }
    ret_space->kind = message->kind;
    ret_space->dtype = message->dtype;
    ret_space->rank = (uint32_t)message->n_shape;
    ret_space->frames = message->frames;
    ret_space->bound_count = (uint32_t)message->n_low;
    for (size_t i = 0; i < message->n_shape; i++) {
        ret_space->shape[i] = message->shape[i];
    }
    for (size_t i = 0; i < message->n_low; i++) {
        ret_space->low[i] = message->low[i];
        ret_space->high[i] = message->high[i];
    }
    return 0;
}

int aq_wire_schema_from(const Actorq__V1__Schema *message, aq_schema *ret_schema, aq_error *error)
{
    aq_schema schema;
    if (message == NULL) {
        return aq_fail(error, AQ_E_SCHEMA, "the schema is missing");
    }
    int rc = space_from(message->observation, "observation", &schema.obs, error);
    if (rc == 0) {
        rc = space_from(message->action, "action", &schema.action, error);
    }
    if (rc == 0) {
        rc = aq_schema_validate(&schema, error);
    }
    if (rc == 0) {
        *ret_schema = schema;
    }
    return rc;
}

_Static_assert(4 * AQ_BOUNDS_MAX * sizeof(float) + 256 <= AQ_WIRE_SCHEMA_BYTES_MAX,
               "bounds take the most");

size_t aq_wire_schema_pack(const aq_schema *schema, uint8_t out[AQ_WIRE_SCHEMA_BYTES_MAX])
{
    aq_wire_schema_view view;
    aq_wire_schema_to(schema, &view);
    AQ_ASSERT(protobuf_c_message_get_packed_size(&view.message.base) <= AQ_WIRE_SCHEMA_BYTES_MAX);
    return protobuf_c_message_pack(&view.message.base, out);
}

int aq_wire_schema_unpack(const uint8_t *bytes, size_t size, aq_schema *ret_schema, aq_error *error)
{
    ProtobufCMessage *message;
    int rc = aq_message_unpack(&actorq__v1__schema__descriptor, bytes, size, &message);
    if (rc != 0) {
        return aq_fail(error, rc, "the schema cannot be read: %s", aq_error_text(rc));
    }
    rc = aq_wire_schema_from((const Actorq__V1__Schema *)message, ret_schema, error);
    aq_message_free(message);
    return rc;
}

/* ---- settings ------------------------------------------------------------------------------ */

/* Members that have one name and one type in the struct and in the message. */
#define SAME_MEMBERS(X)                                                                            \
    X(schema_hash)                                                                                 \
    X(seed)                                                                                        \
    X(n_step)                                                                                      \
    X(evaluation_threshold)                                                                        \
    X(sample_rows)                                                                                 \
    X(versions_max)                                                                                \
    X(network_hash)                                                                                \
    X(gradient_values)

static void table_to(const aq_table_spec *spec, Actorq__V1__TableSettings *ret_message)
{
    actorq__v1__table_settings__init(ret_message);
    ret_message->name = aq_wire_text(spec->name);
#define COPY(section, member) ret_message->member = spec->member;
    AQ_TABLE_SPEC_NUMBERS(COPY)
#undef COPY
}

static int table_from(const Actorq__V1__TableSettings *message, aq_table_spec *ret_spec,
                      aq_error *error)
{
    int rc = aq_wire_text_copy(ret_spec->name, sizeof(ret_spec->name), message->name,
                               "the name of a table", error);
#define COPY(section, member) ret_spec->member = message->member;
    AQ_TABLE_SPEC_NUMBERS(COPY)
#undef COPY
    return rc;
}

static int tables_from(const Actorq__V1__RunSettings *message, aq_run_settings *settings,
                       aq_error *error)
{
    int rc = 0;
    if (message->n_tables > AQ_TABLES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%zu tables; 1 to %d are possible", message->n_tables,
                       AQ_TABLES_MAX);
    }
    settings->table_count = (uint32_t)message->n_tables;
    for (uint32_t i = 0; rc == 0 && i < settings->table_count; i++) {
        rc = table_from(message->tables[i], &settings->tables[i], error);
    }
    return rc;
}

static void recorded_to(const aq_run_settings *settings, aq_wire_settings_view *view)
{
    AQ_ASSERT(settings->recorded_count <= AQ_COLUMNS_RECORDED_MAX);
    for (uint32_t i = 0; i < settings->recorded_count; i++) {
        const aq_column *column = &settings->recorded[i];
        actorq__v1__column__init(&view->recorded[i]);
        view->recorded[i].name = aq_wire_text(column->name);
        view->recorded[i].dtype = column->dtype;
        view->recorded[i].per = column->per;
        view->recorded[i].bytes = column->bytes;
        view->recorded_pointers[i] = &view->recorded[i];
    }
    view->message.n_recorded = settings->recorded_count;
    view->message.recorded = view->recorded_pointers;
}

static int recorded_from(const Actorq__V1__RunSettings *message, aq_run_settings *settings,
                         aq_error *error)
{
    int rc = 0;
    if (message->n_recorded > AQ_COLUMNS_RECORDED_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%zu recorded columns; up to %d are possible",
                       message->n_recorded, AQ_COLUMNS_RECORDED_MAX);
    }
    settings->recorded_count = (uint32_t)message->n_recorded;
    for (uint32_t i = 0; rc == 0 && i < settings->recorded_count; i++) {
        const Actorq__V1__Column *from = message->recorded[i];
        aq_column *column = &settings->recorded[i];
        column->dtype = from->dtype;
        column->per = from->per;
        column->bytes = from->bytes;
        rc = aq_wire_text_copy(column->name, sizeof(column->name), from->name,
                               "the name of a column", error);
    }
    return rc;
}

/* What has a row in the configuration, as texts. */
static void values_to(const aq_run_settings *settings, aq_wire_settings_view *view)
{
    const aq_run_config *config = &settings->config;
    const aq_settings_table *table = aq_run_config_table();
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        if (aq_run_settings_tell(settings, row)) {
            const size_t n = view->message.n_values++;
            AQ_ASSERT(n < AQ_WIRE_VALUES_MAX);
            actorq__v1__setting_value__init(&view->values[n]);
            view->values[n].key = aq_wire_text(row->key);
            view->values[n].value = aq_wire_text(aq_setting_text(row, config, view->numbers[n]));
            view->value_pointers[n] = &view->values[n];
        }
    }
    view->message.values = view->value_pointers;
}

/* All that are seen here and no other, each once: the learner is believed to know the same. */
static int values_from(const Actorq__V1__RunSettings *message, aq_run_settings *settings,
                       aq_error *error)
{
    const aq_settings_table *table = aq_run_config_table();
    bool is_given[AQ_SETTINGS_ROWS_MAX] = {false};
    for (size_t i = 0; i < message->n_values; i++) {
        const Actorq__V1__SettingValue *value = message->values[i];
        const aq_setting *row = aq_settings_find(table, value->key);
        if (row == NULL || !aq_run_settings_tell(settings, row)) {
            return aq_fail(error, AQ_E_INVALID,
                           "%.*s is no setting that members know; is the learner of another "
                           "version?",
                           AQ_SETTINGS_KEY_MAX, value->key);
        }
        if (is_given[row - table->rows]) {
            return aq_fail(error, AQ_E_INVALID, "%s is there twice", row->key);
        }
        is_given[row - table->rows] = true;
        int rc = aq_setting_set(row, value->value, &settings->config, error);
        if (rc != 0) {
            return rc;
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        if (aq_run_settings_tell(settings, &table->rows[i]) && !is_given[i]) {
            return aq_fail(error, AQ_E_INVALID, "%s is missing; is the learner of another version?",
                           table->rows[i].key);
        }
    }
    return 0;
}

void aq_wire_settings_to(const aq_run_settings *settings, aq_wire_settings_view *ret_view)
{
    aq_wire_schema_to(&settings->schema, &ret_view->schema);
    actorq__v1__run_settings__init(&ret_view->message);
    ret_view->message.task = aq_wire_text(settings->task);
    ret_view->message.schema = &ret_view->schema.message;
#define COPY(member) ret_view->message.member = settings->member;
    SAME_MEMBERS(COPY)
#undef COPY
    AQ_ASSERT(settings->table_count <= AQ_TABLES_MAX);
    for (uint32_t i = 0; i < settings->table_count; i++) {
        table_to(&settings->tables[i], &ret_view->tables[i]);
        ret_view->table_pointers[i] = &ret_view->tables[i];
    }
    ret_view->message.n_tables = settings->table_count;
    ret_view->message.tables = ret_view->table_pointers;
    recorded_to(settings, ret_view);
    values_to(settings, ret_view);
}

int aq_wire_settings_from(const Actorq__V1__RunSettings *message, aq_run_settings *ret_settings,
                          aq_error *error)
{
    aq_run_settings settings;
    if (message == NULL) {
        return aq_fail(error, AQ_E_INVALID, "the run's settings are missing");
    }
    memset(&settings, 0, sizeof(settings));
#define COPY(member) settings.member = message->member;
    SAME_MEMBERS(COPY)
#undef COPY
    int rc = aq_wire_text_copy(settings.task, sizeof(settings.task), message->task, "task", error);
    if (rc == 0) {
        rc = aq_wire_schema_from(message->schema, &settings.schema, error);
    }
    if (rc == 0) {
        rc = tables_from(message, &settings, error);
    }
    if (rc == 0) {
        rc = recorded_from(message, &settings, error);
    }
    if (rc == 0) {
        rc = values_from(message, &settings, error);
    }
    if (rc != 0) {
        return rc;
    }
    rc = aq_run_settings_validate(&settings, error);
    if (rc == 0) {
        *ret_settings = settings;
    }
    return rc;
}
