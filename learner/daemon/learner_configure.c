/*
 * The learner daemon: settings that change while the run goes on.
 *
 * In this order: everything is checked; the run folder keeps it; each part is told. So what cannot
 * be kept is not done, and a learner that dies in between goes on with it after its restart. The
 * trainer and the quantizer's stage take their share when they next look; members hear with their
 * next heartbeat.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "learner/algorithms/learning_rate.h"
#include "learner/daemon/learner_net_priv.h"
#include "learner/run/given_settings.h"
#include "learner/run/live_settings.h"

enum { LIVE_MAX = 64, CONFIG_TEXT_MAX = 1 << 20 };

/* ---- the run folder ------------------------------------------------------------------------- */

int aq_learner_print_config(aq_learner *learner)
{
    aq_buffer text;
    aq_buffer_init(&text, CONFIG_TEXT_MAX);
    int rc = aq_settings_print_yaml(aq_run_config_table(), &learner->plan.config, &text);
    if (!rc) {
        rc = aq_buffer_append(&text, "", 1);
    }
    char *copy = rc ? NULL : aq_text_copy((const char *)text.data);
    aq_buffer_fini(&text);
    if (!copy) {
        return rc ? rc : AQ_E_NOMEM;
    }
    aq_free(learner->config_text);
    learner->config_text = copy;
    return 0;
}

int aq_learner_take_up_settings(aq_learner *learner, aq_run_config *config, aq_error *error)
{
    learner->given = *config;
    return learner->options->resume
               ? aq_given_settings_take_up(learner->options->run_dir, config, error)
               : 0;
}

int aq_learner_keep_settings(aq_learner *learner, aq_error *error)
{
    int rc = aq_run_folder_write_config(&learner->folder, &learner->plan.config, error);
    return rc ? rc
              : aq_given_settings_settle(learner->folder.path, &learner->given,
                                         &learner->plan.config, error);
}

static int keep_change(const aq_learner *learner, const aq_run_config *config, aq_error *error)
{
    int rc = aq_given_settings_keep(learner->folder.path, &learner->given, error);
    return rc ? rc : aq_run_folder_write_config(&learner->folder, config, error);
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* protobuf-c wants arrays of pointers, and texts that are not const. */
typedef struct configure_answer {
    Actorq__V1__ConfigureReply reply;
    Actorq__V1__SettingChange changes[LIVE_MAX], *change_pointers[LIVE_MAX];
    Actorq__V1__SettingValue values[LIVE_MAX], *value_pointers[LIVE_MAX];
    char *texts[3 * LIVE_MAX]; /* its own */
    size_t text_count;
} configure_answer;

static configure_answer *create_answer(void)
{
    configure_answer *answer = aq_alloc(1, sizeof(*answer));
    if (!answer) {
        return NULL;
    }
    actorq__v1__configure_reply__init(&answer->reply);
    for (size_t i = 0; i < LIVE_MAX; i++) {
        actorq__v1__setting_change__init(&answer->changes[i]);
        actorq__v1__setting_value__init(&answer->values[i]);
        answer->change_pointers[i] = &answer->changes[i];
        answer->value_pointers[i] = &answer->values[i];
    }
    answer->reply.changes = answer->change_pointers;
    answer->reply.live = answer->value_pointers;
    return answer;
}

static void free_answer(configure_answer *answer)
{
    if (!answer) {
        return;
    }
    for (size_t i = 0; i < answer->text_count; i++) {
        aq_free(answer->texts[i]);
    }
    aq_free(answer);
}

static char *keep_text(configure_answer *answer, const char *text)
{
    char *copy = aq_text_copy(text);
    if (copy) {
        answer->texts[answer->text_count++] = copy;
    }
    return copy;
}

static int on_change(void *user, const aq_setting *row, const char *before, const char *after)
{
    configure_answer *answer = user;
    Actorq__V1__SettingChange *change = &answer->changes[answer->reply.n_changes];
    AQ_ASSERT(answer->reply.n_changes < LIVE_MAX);
    change->key = (char *)(uintptr_t)row->key;
    change->before = keep_text(answer, before);
    change->after = keep_text(answer, after);
    if (!change->before || !change->after) {
        return AQ_E_NOMEM;
    }
    answer->reply.n_changes++;
    return 0;
}

static int add_value(configure_answer *answer, const aq_setting *row, const aq_run_config *config)
{
    aq_buffer text;
    Actorq__V1__SettingValue *value = &answer->values[answer->reply.n_live];
    AQ_ASSERT(answer->reply.n_live < LIVE_MAX);
    aq_buffer_init(&text, CONFIG_TEXT_MAX);
    int rc = aq_settings_show(row, config, &text);
    if (!rc) {
        value->key = (char *)(uintptr_t)row->key;
        value->value = keep_text(answer, (const char *)text.data);
        rc = value->value ? 0 : AQ_E_NOMEM;
    }
    aq_buffer_fini(&text);
    answer->reply.n_live += rc ? 0 : 1;
    return rc;
}

/* What becomes of `before` under `after`, both valid. */
static int fill_answer(configure_answer *answer, const aq_run_config *before,
                       const aq_run_config *after)
{
    const aq_settings_table *table = aq_run_config_table();
    int rc = aq_settings_compare(table, before, after, on_change, answer);
    for (size_t i = 0; !rc && i < table->count; i++) {
        rc = table->rows[i].is_live ? add_value(answer, &table->rows[i], after) : 0;
    }
    return rc;
}

/* ---- the change ----------------------------------------------------------------------------- */

void aq_learner_configure_trainer(aq_learner *learner)
{
    const aq_run_config *config = &learner->plan.config;
    const double share = aq_learning_rate_share(
        config, aq_coordinator_env_steps(learner->coordinator), aq_trainer_step(learner->trainer));
    const aq_trainer_settings trainer = {
        .publish_period = config->quantizer.publish_period,
        .learning_rate = share * config->learner.learning_rate,
        .critic_learning_rate = share * config->learner.critic_learning_rate,
    };
    aq_trainer_configure(learner->trainer, &trainer);
}

static void apply(aq_learner *learner)
{
    const aq_run_config *config = &learner->plan.config;
    const aq_coordinator_config limits = aq_learner_limits(&learner->plan);
    aq_coordinator_configure(learner->coordinator, &limits);
    aq_learner_configure_trainer(learner);
    aq_quantizer_stage_configure(learner->stage, (uint32_t)config->quantizer.full_period,
                                 config->quantizer.error_budget);
    aq_log_set_run_level(config->log.level);
    int64_t due_ns = aq_clock_monotonic_ns() +
                     (int64_t)(config->learner.checkpoint_period_s * (double)AQ_NS_PER_S);
    if (due_ns < learner->checkpoint_due_ns) {
        learner->checkpoint_due_ns = due_ns;
    }
    int rc = aq_learner_print_config(learner);
    (void)rc; /* without memory, checkpoints show the settings as they were */
}

static void say(aq_learner *learner, const configure_answer *answer, const char *peer)
{
    double wall_s = aq_coordinator_wall_s(learner->coordinator, aq_clock_monotonic_ns());
    for (size_t i = 0; i < answer->reply.n_changes; i++) {
        const Actorq__V1__SettingChange *change = &answer->changes[i];
        aq_error error = {0};
        aq_log(AQ_LOG_INFO, "setting_changed", "", "key=%s before=%s after=%s peer=%s", change->key,
               change->before, change->after, peer);
        if (aq_metrics_setting(learner->metrics, wall_s,
                               aq_coordinator_env_steps(learner->coordinator),
                               aq_trainer_step(learner->trainer), change->key, change->before,
                               change->after, &error)) {
            aq_learner_say_metrics_failed(learner, &error);
        }
    }
}

static int change(aq_learner *learner, const aq_run_plan *plan, configure_answer *answer,
                  const char *peer, aq_error *error)
{
    int rc = fill_answer(answer, &learner->plan.config, &plan->config);
    if (rc) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    if (answer->reply.n_changes > 0) {
        rc = keep_change(learner, &plan->config, error);
        if (rc) {
            return aq_fail_context(error, rc, "nothing was changed, as it can't be kept");
        }
        learner->plan = *plan;
        apply(learner);
        (void)aq_learner_service_configured(learner->service);
        say(learner, answer, peer);
    }
    answer->reply.settings_generation = aq_learner_service_generation(learner->service);
    return 0;
}

static enum aq_rpc_code code_of(int rc)
{
    switch (rc) {
    case AQ_E_INVALID:
        return AQ_RPC_INVALID_ARGUMENT;
    case AQ_E_UNSUPPORTED:
        return AQ_RPC_FAILED_PRECONDITION;
    case AQ_E_NOMEM:
        return AQ_RPC_RESOURCE_EXHAUSTED;
    default:
        return AQ_RPC_INTERNAL;
    }
}

void aq_learner_configure(void *user, const Actorq__V1__ConfigureRequest *request,
                          Actorq__V1__ConfigureReply_Closure closure, void *call)
{
    aq_learner *learner = user;
    aq_error error = {0};
    aq_run_plan plan;
    configure_answer *answer = create_answer();
    int rc =
        answer ? aq_live_settings_change(&learner->plan, (const char *const *)request->assignments,
                                         request->n_assignments, &plan, &error)
               : aq_fail(&error, AQ_E_NOMEM, "out of memory");
    if (!rc) {
        rc = change(learner, &plan, answer, aq_rpc_call_peer(call), &error);
    }
    if (rc) {
        aq_rpc_fail(call, code_of(rc), "%s", error.text);
    } else {
        closure(&answer->reply, call);
    }
    free_answer(answer);
}
