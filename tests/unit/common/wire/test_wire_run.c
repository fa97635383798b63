/*
 * Schemas, networks and settings come back from their messages as they were, and bad ones do not.
 */
#include <math.h>

#include <string.h>

#include "common/wire/wire_run.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

TEST(any_schema_survives_its_message)
{
    aq_rng rng;
    aq_rng_init(&rng, fixture_seed(), 3);
    for (int i = 0; i < 2000; i++) {
        aq_schema schema, back;
        aq_wire_schema_view view;
        fixture_random_schema(&rng, &schema);
        aq_wire_schema_to(&schema, &view);
        assert_int_equal(aq_wire_schema_from(&view.message, &back, NULL), 0);
        assert_memory_equal(&back, &schema, sizeof(schema));
    }
}

TEST(any_network_survives_its_message)
{
    aq_rng rng;
    aq_rng_init(&rng, fixture_seed(), 4);
    for (int i = 0; i < 2000; i++) {
        aq_net_spec spec, back;
        aq_wire_network_view view;
        fixture_random_network(&rng, &spec);
        aq_wire_network_to(&spec, &view);
        assert_int_equal(aq_wire_network_from(&view.message, &back, NULL), 0);
        assert_memory_equal(&back, &spec, sizeof(spec));
    }
}

TEST(settings_survive_their_message)
{
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    fixture_settings(&settings);
    aq_wire_settings_to(&settings, &view);
    assert_int_equal(aq_wire_settings_from(&view.message, &back, NULL), 0);
    assert_memory_equal(&back, &settings, sizeof(settings));
}

TEST(settings_survive_packing)
{
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    uint8_t bytes[1024];
    fixture_settings(&settings);
    settings.evaluation_threshold = NAN;
    aq_wire_settings_to(&settings, &view);
    size_t size = protobuf_c_message_pack(&view.message.base, bytes);
    Actorq__V1__RunSettings *message = actorq__v1__run_settings__unpack(NULL, size, bytes);
    assert_non_null(message);
    assert_int_equal(aq_wire_settings_from(message, &back, NULL), 0);
    assert_memory_equal(&back, &settings, sizeof(settings));
    actorq__v1__run_settings__free_unpacked(message, NULL);
}

typedef struct fixed_schema {
    aq_schema schema;
    aq_wire_schema_view view;
} fixed_schema;

static int make_schema(void **state)
{
    static fixed_schema it;
    fixture_schema(&it.schema);
    aq_wire_schema_to(&it.schema, &it.view);
    *state = &it;
    return 0;
}

static void assert_schema_refused(const Actorq__V1__Schema *message, const char *words)
{
    aq_schema back;
    aq_error error;
    assert_int_equal(aq_wire_schema_from(message, &back, &error), AQ_E_SCHEMA);
    if (strstr(error.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    }
}

TEST(a_schema_that_is_not_there_is_refused)
{
    assert_schema_refused(NULL, "the schema is missing");
}

TEST_WITH(a_schema_of_half_the_parts_is_refused, make_schema, NULL)
{
    fixed_schema *it = *state;
    it->view.message.action = NULL;
    assert_schema_refused(&it->view.message, "action: not described");
}

TEST_WITH(a_box_of_too_many_dimensions_is_refused, make_schema, NULL)
{
    fixed_schema *it = *state;
    it->view.observation.n_shape = 5;
    assert_schema_refused(&it->view.message, "observation: a box of 5 dimensions");
}

TEST_WITH(as_many_lower_as_upper_bounds_are_needed, make_schema, NULL)
{
    fixed_schema *it = *state;
    it->view.observation.n_high = 1;
    assert_schema_refused(&it->view.message, "observation: 4 lower and 1 upper bounds");
}

TEST_WITH(more_bounds_than_can_be_kept_are_refused, make_schema, NULL)
{
    fixed_schema *it = *state;
    it->view.observation.n_low = AQ_BOUNDS_MAX + 1;
    it->view.observation.n_high = AQ_BOUNDS_MAX + 1;
    assert_schema_refused(&it->view.message, "129 lower");
}

TEST_WITH(an_unknown_kind_of_space_is_refused, make_schema, NULL)
{
    fixed_schema *it = *state;
    it->view.action.kind = 3;
    assert_schema_refused(&it->view.message, "unknown kind of space 3");
}

TEST(a_network_of_too_many_layers_is_refused)
{
    Actorq__V1__Network message;
    aq_net_spec spec;
    aq_error error;
    actorq__v1__network__init(&message);
    message.n_layers = AQ_NET_LAYERS_MAX + 1;
    assert_int_equal(aq_wire_network_from(&message, &spec, &error), AQ_E_CORRUPT);
    assert_non_null(strstr(error.text, "17 layers"));
}

TEST(a_network_without_layers_is_refused)
{
    Actorq__V1__Network message;
    aq_net_spec spec;
    actorq__v1__network__init(&message);
    assert_int_equal(aq_wire_network_from(&message, &spec, NULL), AQ_E_CORRUPT);
    assert_int_equal(aq_wire_network_from(NULL, &spec, NULL), AQ_E_CORRUPT);
}

TEST(settings_out_of_bounds_are_refused)
{
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    aq_error error;
    fixture_settings(&settings);
    aq_wire_settings_to(&settings, &view);
    view.message.n_step = 0;
    assert_int_equal(aq_wire_settings_from(&view.message, &back, &error), AQ_E_INVALID);
    assert_non_null(strstr(error.text, "items of 0 transitions"));
}

TEST(all_tables_and_the_storage_survive_packing)
{
    static uint8_t bytes[4096];
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    fixture_settings(&settings);
    for (uint32_t i = 1; i < AQ_TABLES_MAX; i++) {
        settings.tables[i] = settings.tables[0];
        settings.tables[i].name[0] = (char)('a' + i);
        settings.tables[i].selector = i % 4;
        settings.tables[i].times_sampled_max = 32 + i;
        settings.tables[i].capacity_bytes = 1000 + i;
        settings.tables[i].priority_exponent = 0.25 * i;
    }
    settings.tables[3].remover = AQ_REMOVER_LOWEST_PRIORITY;
    settings.tables[5].sequence_length = settings.n_step = 20;
    settings.tables[5].sequence_period = 7;
    settings.table_count = AQ_TABLES_MAX;
    settings.storage = (aq_storage_settings){.durable = true,
                                             .segment_bytes = 1 << 20,
                                             .fsync_ms = 12,
                                             .memory_bytes = 1 << 30,
                                             .snapshot_ms = 345};
    aq_wire_settings_to(&settings, &view);
    size_t size = actorq__v1__run_settings__pack(&view.message, bytes);
    assert_true(size < sizeof(bytes));
    Actorq__V1__RunSettings *message = actorq__v1__run_settings__unpack(NULL, size, bytes);
    assert_non_null(message);
    assert_int_equal(aq_wire_settings_from(message, &back, NULL), 0);
    assert_memory_equal(&back, &settings, sizeof(settings));
    actorq__v1__run_settings__free_unpacked(message, NULL);
}

TEST(settings_without_tables_or_storage_are_refused)
{
    Actorq__V1__TableSettings *nine[AQ_TABLES_MAX + 1];
    char long_name[AQ_TABLE_NAME_MAX + 1] = "a-name-of-32-letters-is-one-more";
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    aq_error error;
    fixture_settings(&settings);
    aq_wire_settings_to(&settings, &view);
    view.message.storage = NULL;
    assert_int_equal(aq_wire_settings_from(&view.message, &back, &error), AQ_E_INVALID);
    assert_non_null(strstr(error.text, "storage are missing"));
    aq_wire_settings_to(&settings, &view);
    view.message.n_tables = 0; /* as a peer of before there were tables */
    assert_int_equal(aq_wire_settings_from(&view.message, &back, &error), AQ_E_INVALID);
    assert_non_null(strstr(error.text, "0 tables"));
    for (int i = 0; i <= AQ_TABLES_MAX; i++) {
        nine[i] = &view.tables[0];
    }
    view.message.n_tables = AQ_TABLES_MAX + 1;
    view.message.tables = nine;
    assert_int_equal(aq_wire_settings_from(&view.message, &back, &error), AQ_E_INVALID);
    assert_non_null(strstr(error.text, "9 tables"));
    aq_wire_settings_to(&settings, &view);
    view.tables[0].name = long_name;
    assert_int_equal(aq_wire_settings_from(&view.message, &back, &error), AQ_E_CORRUPT);
    assert_non_null(strstr(error.text, "name of a table"));
}

TEST(settings_with_another_hash_are_refused)
{
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    fixture_settings(&settings);
    aq_wire_settings_to(&settings, &view);
    view.message.schema_hash ^= 1;
    assert_int_equal(aq_wire_settings_from(&view.message, &back, NULL), AQ_E_SCHEMA);
    assert_int_equal(aq_wire_settings_from(NULL, &back, NULL), AQ_E_INVALID);
}

TEST(a_task_whose_name_is_too_long_is_refused)
{
    char name[AQ_TASK_NAME_MAX + 1];
    aq_run_settings settings, back;
    aq_wire_settings_view view;
    aq_error error;
    memset(name, 'x', sizeof(name));
    name[AQ_TASK_NAME_MAX] = '\0';
    fixture_settings(&settings);
    aq_wire_settings_to(&settings, &view);
    view.message.task = name;
    assert_int_equal(aq_wire_settings_from(&view.message, &back, &error), AQ_E_CORRUPT);
    assert_non_null(strstr(error.text, "task"));
}

#define SCHEMA(test) cmocka_unit_test_setup_teardown(test, make_schema, NULL)
