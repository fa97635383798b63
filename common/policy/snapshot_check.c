/*
 * aq_snapshot_settle: every byte of a policy is looked at once before an actor acts on it.
 *
 * The workload is one snapshot of up to some megabytes a second, on the thread that receives it, so
 * the loops over tensors are branch-free and left to the compiler's vectorizer.
 */
#include <float.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/utf8.h"
#include "common/experience/finite.h"
#include "common/policy/netspec.h"
#include "common/policy/snapshot.h"
#include "common/policy/snapshot_layer_check.h"

static int check_task(const char *task, aq_error *error)
{
    if (memchr(task, '\0', AQ_TASK_NAME_MAX) == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name does not end");
    }
    if (task[0] == '\0') {
        return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name is empty");
    }
    return aq_utf8_is_plain(task)
               ? 0
               : aq_fail(error, AQ_E_CORRUPT, "policy: the task's name is not printable");
}

static int check_header(const aq_snapshot *snapshot, aq_error *error)
{
    if (snapshot->version == 0) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: version 0; versions start at 1");
    }
    int rc = check_task(snapshot->task, error);
    if (rc != 0) {
        return rc;
    }
    const aq_quant_error *measured = &snapshot->quant_error;
    if (!(measured->cost >= 0.0f && measured->cost <= 1.0f)) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: a cost of quantizing of %g; 0 to 1 is one",
                       (double)measured->cost);
    }
    if (!(measured->kl >= 0.0f && measured->kl <= FLT_MAX)) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: a divergence of %g is no measurement",
                       (double)measured->kl);
    }
    if (!(measured->output_rms >= 0.0f && measured->output_rms <= FLT_MAX) ||
        !(measured->output_max >= 0.0f && measured->output_max <= FLT_MAX)) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "policy: an output error of rms %g, maximum %g is no measurement",
                       (double)measured->output_rms, (double)measured->output_max);
    }
    return 0;
}

static int check_spec(const aq_net_spec *spec, aq_error *error)
{
    aq_error why;
    return aq_net_spec_validate(spec, &why) == 0
               ? 0
               : aq_fail(error, AQ_E_CORRUPT, "policy: %s", why.text);
}

/* The network takes what the environment shows and answers what the head reads. */
static int check_fit(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_schema *schema = &snapshot->schema;
    int rc = aq_schema_validate(schema, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy");
    }
    if (schema->obs.kind != AQ_SPACE_BOX) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: a network cannot take an observation that is a discrete choice");
    }
    uint32_t inputs = aq_net_spec_inputs(&snapshot->spec);
    if (aq_space_elements(&schema->obs) != inputs) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the network takes %u values, an observation has %zu", inputs,
                       aq_space_elements(&schema->obs));
    }
    const aq_head *head = aq_head_of(snapshot->head);
    if (head == NULL) {
        return aq_fail(error, AQ_E_VERSION, "policy: unknown rule to act by %u", snapshot->head);
    }
    return head->check(&snapshot->spec, &schema->action, error);
}

static int check_arrays(const aq_snapshot *snapshot, aq_error *error)
{
    const size_t count = aq_net_spec_array_values(&snapshot->spec);
    const size_t bad = aq_find_nonfinite(snapshot->arrays, count);
    return bad == count ? 0
                        : aq_fail(error, AQ_E_CORRUPT,
                                  "policy: value %zu of its arrays is NaN or infinite", bad);
}

static int check_tensors(const aq_snapshot *snapshot, aq_error *error)
{
    int rc = check_arrays(snapshot, error);
    for (uint32_t i = 0; rc == 0 && i < snapshot->spec.layer_count; i++) {
        rc = aq_snapshot_layer_check(&snapshot->spec.layers[i], &snapshot->layers[i], i, error);
    }
    return rc;
}

int aq_snapshot_validate(const aq_snapshot *snapshot, aq_error *error)
{
    int rc = check_header(snapshot, error);
    if (rc == 0) {
        rc = check_spec(&snapshot->spec, error);
    }
    if (rc == 0) {
        rc = check_fit(snapshot, error);
    }
    return rc != 0 || snapshot->is_settled ? rc : check_tensors(snapshot, error);
}

int aq_snapshot_settle(aq_snapshot *snapshot, aq_error *error)
{
    AQ_ASSERT(atomic_load_explicit(&snapshot->references, memory_order_relaxed) == 1);
    int rc = aq_snapshot_validate(snapshot, error);
    snapshot->is_settled = rc == 0;
    return rc;
}
