/*
 * Configure call: see configure_call.h.
 */
#include "learner/daemon/configure_call.h"

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/config/gradient_rows.h"
#include "common/settings/settings.h"
#include "common/sys/log.h"
#include "common/wire/wire_frame.h"
#include "learner/daemon/learner_parts.h"
#include "learner/run/live_settings.h"

enum { LIVE_MAX = 64, VALUE_TEXT_MAX = 1 << 20 };

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
    if (answer == NULL) {
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
    if (answer == NULL) {
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
    if (copy != NULL) {
        answer->texts[answer->text_count++] = copy;
    }
    return copy;
}

static int on_change(void *user, const aq_setting *row, const char *before, const char *after)
{
    configure_answer *answer = user;
    Actorq__V1__SettingChange *change = &answer->changes[answer->reply.n_changes];
    AQ_ASSERT(answer->reply.n_changes < LIVE_MAX);
    change->key = aq_wire_text(row->key);
    change->before = keep_text(answer, before);
    change->after = keep_text(answer, after);
    if (change->before == NULL || change->after == NULL) {
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
    aq_buffer_init(&text, VALUE_TEXT_MAX);
    int rc = aq_settings_show(row, config, &text);
    if (rc == 0) {
        value->key = aq_wire_text(row->key);
        value->value = keep_text(answer, (const char *)text.data);
        rc = value->value != NULL ? 0 : AQ_E_NOMEM;
    }
    aq_buffer_fini(&text);
    answer->reply.n_live += rc == 0 ? 1 : 0;
    return rc;
}

/* What becomes of `before` under `after`, both valid. */
static int fill_answer(configure_answer *answer, const aq_run_config *before,
                       const aq_run_config *after)
{
    const aq_settings_table *table = aq_run_config_table();
    int rc = aq_settings_compare(table, before, after, on_change, answer);
    for (size_t i = 0; rc == 0 && i < table->count; i++) {
        rc = table->rows[i].is_live ? add_value(answer, &table->rows[i], after) : 0;
    }
    return rc;
}

/* ---- the change ----------------------------------------------------------------------------- */

aq_coordinator_config aq_configure_limits(const aq_run_plan *plan)
{
    return (aq_coordinator_config){
        .member_timeout_ns = (int64_t)plan->config.net.member_timeout_ms * AQ_NS_PER_MS,
        .env_steps_limit = plan->config.limits.env_steps,
        .learner_steps_limit = plan->config.limits.learner_steps,
        .wall_limit_s = plan->config.limits.wall_s,
        .threshold = plan->threshold,
        .row_steps = aq_gradient_steps_of_row(&plan->config),
    };
}

static void apply(aq_learner_parts *parts)
{
    const aq_coordinator_config limits = aq_configure_limits(&parts->live.now);
    aq_coordinator_configure(parts->coordinator, &limits);
    aq_training_configure(parts->training);
    aq_log_set_run_level(parts->live.now.config.log.level);
    aq_learner_service_configured(parts->service);
}

static void say(const aq_learner_parts *parts, const configure_answer *answer, const char *peer)
{
    for (size_t i = 0; i < answer->reply.n_changes; i++) {
        const Actorq__V1__SettingChange *change = &answer->changes[i];
        aq_log(AQ_LOG_INFO, "setting_changed", "", "key=%s before=%s after=%s peer=%s", change->key,
               change->before, change->after, peer);
        aq_run_report_setting(parts->report, change->key, change->before, change->after);
    }
}

static int change(aq_learner_parts *parts, const aq_run_plan *next, configure_answer *answer,
                  const char *peer, aq_error *error)
{
    int rc = fill_answer(answer, &parts->live.now.config, &next->config);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    if (answer->reply.n_changes > 0) {
        rc = aq_live_plan_change(&parts->live, &parts->folder, next, error);
        if (rc != 0) {
            return rc;
        }
        apply(parts);
        say(parts, answer, peer);
    }
    answer->reply.settings_generation = aq_learner_service_generation(parts->service);
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

void aq_configure_call(aq_learner_parts *parts, const Actorq__V1__ConfigureRequest *request,
                       Actorq__V1__ConfigureReply_Closure closure, void *call)
{
    aq_error error = {0};
    aq_run_plan next;
    configure_answer *answer = create_answer();
    int rc = answer != NULL ? aq_live_settings_change(&parts->live.now,
                                                      (const char *const *)request->assignments,
                                                      request->n_assignments, &next, &error)
                            : aq_fail(&error, AQ_E_NOMEM, "out of memory");
    if (rc == 0) {
        rc = change(parts, &next, answer, aq_rpc_call_peer(call), &error);
    }
    if (rc != 0) {
        aq_rpc_fail(call, code_of(rc), "%s", error.text);
    } else {
        closure(&answer->reply, call);
    }
    free_answer(answer);
}
