/*
 * Any text in a configuration's place is refused in words and changes nothing, or is a
 * configuration that can be printed and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/config/run_config.h"
#include "common/config/run_rules.h"
#include "common/config/run_tables.h"
#include "common/policy/layer_formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

enum { PRINTED_BYTES_MAX = 1 << 20, ASSIGNMENT_BYTES_MAX = 512 };

static void print(const aq_run_config *config, aq_buffer *out)
{
    aq_buffer_init(out, PRINTED_BYTES_MAX);
    must(aq_settings_print_yaml(aq_run_config_table(), config, out));
}

static void assert_prints_as(const aq_run_config *config, const aq_buffer *expected)
{
    aq_buffer printed;
    print(config, &printed);
    AQ_ASSERT(printed.size == expected->size);
    AQ_ASSERT(memcmp(printed.data, expected->data, expected->size) == 0);
    aq_buffer_fini(&printed);
}

/* What the programs do with a configuration that was read. */
static void use(const aq_run_config *config)
{
    aq_error error = {0};
    aq_hidden_shape shape;
    aq_run_tables tables;
    aq_layer_formats formats;
    double threshold = 0;
    int rc = aq_run_rules_check(config, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        must(aq_run_config_hidden(config, &shape));
        AQ_ASSERT(shape.count <= AQ_HIDDEN_LAYERS_MAX);
        AQ_ASSERT(shape.blocks <= AQ_SIMBA_BLOCKS_MAX);
        must(aq_run_config_critic_hidden(config, &shape));
        must(aq_run_config_threshold(config, 475, &threshold));
        must(aq_layer_formats_parse(config->quantizer.layer_formats, &formats, NULL));
        AQ_ASSERT(formats.count <= AQ_NET_LAYERS_MAX);
        must(aq_run_tables_make(config, &tables, NULL));
        AQ_ASSERT(tables.count >= 1);
        AQ_ASSERT(tables.count <= AQ_TABLES_MAX);
        AQ_ASSERT(tables.learner < tables.count);
    }
}

static void go_round(const aq_run_config *config)
{
    aq_run_config again;
    aq_buffer printed;
    print(config, &printed);
    aq_settings_init(aq_run_config_table(), &again);
    must(aq_settings_read_yaml(aq_run_config_table(), "again", (const char *)printed.data,
                               printed.size, &again, NULL));
    assert_prints_as(&again, &printed);
    aq_buffer_fini(&printed);
}

static void settle(const aq_run_config *config, const aq_buffer *defaults, int rc,
                   const aq_error *error)
{
    AQ_ASSERT(error->code == rc);
    if (rc == 0) {
        use(config);
        go_round(config);
    } else {
        AQ_ASSERT(error->text[0] != '\0');
        assert_prints_as(config, defaults);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static aq_buffer defaults; /* made once */
    const aq_settings_table *table = aq_run_config_table();
    aq_run_config config;
    aq_error error = {0};
    aq_settings_init(table, &config);
    if (defaults.data == NULL) {
        print(&config, &defaults);
    }
    int rc = aq_settings_read_yaml(table, "fuzz.yaml", (const char *)data, size, &config, &error);
    settle(&config, &defaults, rc, &error);
    if (size > ASSIGNMENT_BYTES_MAX) {
        return 0;
    }

    char *text = calloc(1, size + 1);
    AQ_ASSERT(text != NULL);
    memcpy(text, data, size);
    aq_settings_init(table, &config);
    error = (aq_error){0};
    rc = aq_settings_assign(table, text, &config, &error);
    settle(&config, &defaults, rc, &error);
    free(text);
    return 0;
}
