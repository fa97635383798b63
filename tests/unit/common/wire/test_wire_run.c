/*
 * Schemas, networks and settings come back from their messages as they were, and bad ones do not.
 */
#include "common/wire/wire_network.h"
#include "common/wire/wire_run.h"
#include "tests/support/run_settings_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

TEST(any_schema_survives_its_message)
{
    aq_rng rng = rng_of(fixture_seed(), 3);
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
    aq_rng rng = rng_of(fixture_seed(), 4);
    for (int i = 0; i < 2000; i++) {
        aq_net_spec spec, back;
        aq_wire_network_view view;
        fixture_random_network(&rng, &spec);
        aq_wire_network_to(&spec, &view);
        assert_int_equal(aq_wire_network_from(&view.message, &back, NULL), 0);
        assert_memory_equal(&back, &spec, sizeof(spec));
    }
}

TEST(a_network_that_branches_survives_its_message)
{
    aq_net_spec spec = {.layer_count = 3,
                        .layers = {aq_layer_linear(4, 5, AQ_ACTIVATION_TANH),
                                   aq_layer_linear(5, 5, AQ_ACTIVATION_NONE), aq_layer_add(5)}};
    aq_net_spec back;
    aq_wire_network_view view;
    spec.layers[2].sources = (aq_layer_sources){.count = 2, .values = {1, 2}};
    aq_wire_network_to(&spec, &view);
    assert_int_equal(view.layers[1].n_sources, 0);
    assert_int_equal(aq_wire_network_from(&view.message, &back, NULL), 0);
    assert_memory_equal(&back, &spec, sizeof(spec));
    view.layers[2].n_sources = 5;
    assert_refused(aq_wire_network_from(&view.message, &back, &refusal), AQ_E_CORRUPT,
                   "network: layer 2 takes 5 values; 1 to 4 are possible");
}

TEST(arrays_with_names_that_do_not_fit_are_refused)
{
    const aq_net_spec spec = {.layer_count = 1,
                              .layers = {aq_layer_linear(4, 5, AQ_ACTIVATION_TANH)},
                              .array_count = 1,
                              .arrays = {{"a", 3}}};
    char name[] = "abcdefghijklmnopqrstuvwx";
    aq_net_spec back;
    aq_wire_network_view view;
    aq_wire_network_to(&spec, &view);
    view.arrays[0].name = name;
    assert_refused(aq_wire_network_from(&view.message, &back, &refusal), AQ_E_CORRUPT,
                   "the name of an array");
    name[23] = '\0';
    assert_succeeds(aq_wire_network_from(&view.message, &back, &refusal));
    view.message.n_arrays = 5;
    assert_refused(aq_wire_network_from(&view.message, &back, &refusal), AQ_E_CORRUPT,
                   "5 arrays; at most 4");
}

static void assert_survives_packing(const aq_run_settings *settings)
{
    static uint8_t bytes[4096];
    aq_run_settings back;
    aq_wire_settings_view view;
    aq_wire_settings_to(settings, &view);
    assert_true(actorq__v1__run_settings__get_packed_size(&view.message) <= sizeof(bytes));
    const size_t size = actorq__v1__run_settings__pack(&view.message, bytes);
    Actorq__V1__RunSettings *message = actorq__v1__run_settings__unpack(NULL, size, bytes);
    assert_non_null(message);
    assert_succeeds(aq_wire_settings_from(message, &back, &refusal));
    assert_memory_equal(&back, settings, sizeof(back));
    actorq__v1__run_settings__free_unpacked(message, NULL);
}

TEST(settings_survive_packing)
{
    aq_run_settings settings = run_settings_kit();
    assert_survives_packing(&settings);
    settings.evaluation_threshold = NAN;
    settings.recorded[0] = (aq_column){"noise", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}};
    settings.recorded[1] = (aq_column){"hidden", AQ_DTYPE_U8, AQ_PER_BOUNDARY, 3, {0}, {0}};
    settings.recorded_count = 2;
    assert_survives_packing(&settings);
}

static void assert_schema_refused(const Actorq__V1__Schema *message, const char *words)
{
    aq_schema back;
    assert_refused(aq_wire_schema_from(message, &back, &refusal), AQ_E_SCHEMA, words);
}

TEST(a_schema_that_can_not_be_is_refused)
{
    aq_schema schema;
    fixture_schema(&schema);
    aq_wire_schema_view view;
    aq_wire_schema_to(&schema, &view);
    assert_schema_refused(NULL, "the schema is missing");
    view.message.action = NULL;
    assert_schema_refused(&view.message, "action: not described");
    aq_wire_schema_to(&schema, &view);
    view.observation.n_shape = 5;
    assert_schema_refused(&view.message, "observation: a box of 5 dimensions");
    aq_wire_schema_to(&schema, &view);
    view.observation.n_high = 1;
    assert_schema_refused(&view.message, "observation: 4 lower and 1 upper bounds");
    view.observation.n_low = view.observation.n_high = AQ_BOUNDS_MAX + 1;
    assert_schema_refused(&view.message, "129 lower");
    aq_wire_schema_to(&schema, &view);
    view.action.kind = 3;
    assert_schema_refused(&view.message, "unknown kind of space 3");
}

TEST(a_network_of_too_many_layers_or_none_is_refused)
{
    Actorq__V1__Network message;
    aq_net_spec spec;
    actorq__v1__network__init(&message);
    assert_int_equal(aq_wire_network_from(&message, &spec, NULL), AQ_E_CORRUPT);
    assert_int_equal(aq_wire_network_from(NULL, &spec, NULL), AQ_E_CORRUPT);
    message.n_layers = AQ_NET_LAYERS_MAX + 1;
    assert_refused(aq_wire_network_from(&message, &spec, &refusal), AQ_E_CORRUPT, "49 layers");
}

/* Settings, and the message that is made of them. */
typedef struct travel {
    aq_run_settings settings;
    aq_wire_settings_view view;
} travel;

static travel *depart(void)
{
    static travel it;
    it.settings = run_settings_kit();
    aq_wire_settings_to(&it.settings, &it.view);
    return &it;
}

/* As the message was changed; then it is that of the settings again. */
static void refuse(travel *it, int code, const char *words)
{
    aq_run_settings back;
    memset(&back, 0x5a, sizeof(back));
    const aq_run_settings untouched = back;
    assert_refused(aq_wire_settings_from(&it->view.message, &back, &refusal), code, words);
    assert_memory_equal(&back, &untouched, sizeof(back));
    aq_wire_settings_to(&it->settings, &it->view);
}

TEST(all_tables_survive_packing)
{
    aq_run_settings settings = run_settings_kit();
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
    settings.tables[5].times_sampled_max = 240;
    settings.table_count = AQ_TABLES_MAX;
    assert_survives_packing(&settings);
}

TEST(settings_that_can_not_be_are_refused)
{
    Actorq__V1__TableSettings *nine[AQ_TABLES_MAX + 1];
    char task[AQ_TASK_NAME_MAX + 1] = {0};
    travel *it = depart();
    it->view.message.n_step = 0;
    refuse(it, AQ_E_INVALID, "items of 0 transitions");
    it->view.message.n_tables = 0; /* as a peer of before there were tables */
    refuse(it, AQ_E_INVALID, "0 tables");
    for (int i = 0; i <= AQ_TABLES_MAX; i++) {
        nine[i] = &it->view.tables[0];
    }
    it->view.message.n_tables = AQ_TABLES_MAX + 1;
    it->view.message.tables = nine;
    refuse(it, AQ_E_INVALID, "9 tables");
    it->view.tables[0].name = (char *)(uintptr_t) "a-name-of-32-letters-is-one-more";
    refuse(it, AQ_E_CORRUPT, "name of a table");
    it->view.message.schema_hash ^= 1;
    refuse(it, AQ_E_SCHEMA, "");
    memset(task, 'x', AQ_TASK_NAME_MAX);
    it->view.message.task = task;
    refuse(it, AQ_E_CORRUPT, "task");
    assert_int_equal(aq_wire_settings_from(NULL, &it->settings, NULL), AQ_E_INVALID);
}

TEST(columns_that_cannot_be_recorded_are_refused_in_words)
{
    travel *it = depart();
    it->settings.recorded[0] = (aq_column){"obs", AQ_DTYPE_F32, AQ_PER_STEP, 8, {0}, {0}};
    it->settings.recorded_count = 1;
    aq_wire_settings_to(&it->settings, &it->view);
    refuse(it, AQ_E_INVALID, "two columns of the name obs");
    it->view.recorded[0].name = (char *)(uintptr_t) "a_name_of_more_than_a_few_letters";
    refuse(it, AQ_E_CORRUPT, "the name of a column");
    it->view.message.n_recorded = AQ_COLUMNS_RECORDED_MAX + 1;
    refuse(it, AQ_E_INVALID, "5 recorded columns; up to 4");
}

/* ---- what has a row in the configuration ---------------------------------------------------- */

/* Each as far from its default as its row allows, unless that contradicts another. */
static void change_each(aq_run_config *config)
{
    const aq_settings_table *table = aq_run_config_table();
    aq_run_settings kit = run_settings_kit();
    for (size_t i = 0; i < table->count; i++) {
        const aq_setting *row = &table->rows[i];
        char *member = (char *)config + row->offset;
        const uint64_t most = (uint64_t)row->max;
        const double real = row->min + 0.1 * (row->max - row->min);
        if (row->seen_by == 0) {
            continue;
        }
        if (row->type == AQ_SETTING_U64) {
            memcpy(member, &most, sizeof(most));
        } else if (row->type == AQ_SETTING_F64) {
            memcpy(member, &real, sizeof(real));
        } else { /* true, and the second choice */
            member[0] = 1;
        }
    }
    config->replay.storage = AQ_STORAGE_SEGMENTS; /* memory_bytes needs them, uncompressed */
    config->replay.compression = kit.config.replay.compression;
    config->replay.segment_bytes = UINT64_C(4294967295);
}

TEST(each_setting_that_members_see_survives_packing)
{
    aq_run_settings settings = run_settings_kit();
    change_each(&settings.config);
    assert_true(settings.config.actor.envs == 4096 && settings.config.actor.epsilon_alpha == 10.0);
    assert_survives_packing(&settings);
}

TEST(settings_that_members_do_not_see_do_not_travel)
{
    travel *it = depart();
    aq_run_settings back;
    it->settings.config.learner.batch_size = 64;
    aq_wire_settings_to(&it->settings, &it->view);
    for (size_t i = 0; i < it->view.message.n_values; i++) {
        assert_string_not_equal(it->view.values[i].key, "learner.batch_size");
    }
    assert_int_equal(aq_wire_settings_from(&it->view.message, &back, NULL), 0);
    assert_int_equal(back.config.learner.batch_size, 0);
}

TEST(each_setting_is_held_to_its_row_and_named)
{
    static char bad[][24] = {"", "x", "-1", "nan", "inf", "1e300", "99999999999999999999", "\x01"};
    travel *it = depart();
    const size_t count = it->view.message.n_values;
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            it->view.values[i].value = bad[k];
            refuse(it, AQ_E_INVALID, it->view.values[i].key);
        }
    }
}

TEST(settings_that_are_unknown_missing_or_there_twice_are_named)
{
    static const struct {
        const char *key, *words;
    } refusals[] = {
        {"actor.colour", "actor.colour is no setting that members know; is the learner of another"},
        {"learner.discount", "learner.discount is no setting that members know"},
        {"", " is no setting"},
        {"actor.count", "actor.count is there twice"},
    };
    travel *it = depart();
    EACH_ROW(i, refusals) {
        Actorq__V1__SettingValue *last = &it->view.values[it->view.message.n_values - 1];
        last->key = (char *)(uintptr_t)refusals[i].key;
        last->value = it->view.values[0].value;
        refuse(it, AQ_E_INVALID, refusals[i].words);
    }
    it->view.message.n_values--;
    refuse(it, AQ_E_INVALID, "log.level is missing; is the learner of another version?");
    it->view.message.n_values = 0; /* as a learner of before they travelled so */
    refuse(it, AQ_E_INVALID, "learner.reward_clip is missing");
}

TEST(a_key_or_a_value_may_be_as_long_as_a_message)
{
    static char text[1 << 20];
    travel *it = depart();
    memset(text, 'x', sizeof(text) - 1);
    it->view.values[0].value = text;
    refuse(it, AQ_E_INVALID, "...' is not a finite decimal number");
    it->view.values[0].key = text;
    refuse(it, AQ_E_INVALID, "xxx is no setting that members know");
}
