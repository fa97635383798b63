/*
 * The actor's core: how it is made, and what it refuses to be made of.
 */
#include "actor/core/actor_core.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"

static const aq_actor_core_config config = {.run_id = KIT_RUN, .member = 7, .incarnation = 1};

static void refuse(const aq_run_settings *settings, int code, const char *words)
{
    aq_actor_core *core = NULL;
    assert_refused(aq_actor_core_create(settings, &config, &core, &refusal), code, words);
    assert_null(core);
}

TEST(what_cannot_be_run_is_refused_in_words)
{
    aq_run_settings settings = kit_settings();
    settings.schema_hash++;
    refuse(&settings, AQ_E_SCHEMA, "");
    settings = kit_settings();
    memcpy(settings.task, "gym:Nothing", sizeof("gym:Nothing"));
    refuse(&settings, AQ_E_NOT_FOUND, "gym:Nothing");
    settings = kit_settings();
    settings.config.replay.chunk_length = 65536;
    refuse(&settings, AQ_E_TOO_BIG, "net.message_bytes");
    settings = kit_settings();
    settings.recorded[0] = (aq_column){"hidden", AQ_DTYPE_F32, AQ_PER_BOUNDARY, 64, {0}, {0}};
    settings.recorded_count = 1;
    refuse(&settings, AQ_E_UNSUPPORTED, "cannot record 'hidden'");
}

TEST(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    aq_run_settings settings = kit_settings();
    aq_actor_core *core = NULL;
    assert_made_despite_failures(core, aq_actor_core_create(&settings, &config, &core, NULL));
    aq_actor_core_destroy(core);
    aq_actor_core_destroy(NULL);
}
