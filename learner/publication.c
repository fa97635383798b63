/*
 * Publication: see publication.h.
 */
#include "learner/publication.h"

#include "common/wire/wire_policy.h"
#include "quantizer/engine.h"
#include "quantizer/qerror.h"

/* A frame holds the tensors and a description of at most a few KiB. */
#define FRAME_OVERHEAD_MAX ((size_t)64 * 1024)

static int measure(const aq_publication_config *config, aq_snapshot *snapshot,
                   const aq_net_spec *spec, const aq_params *params, const float *obs, size_t rows,
                   aq_error *error)
{
    aq_engine *engine = NULL;
    int rc = aq_engine_create(snapshot, rows, config->cpu_flags, &engine, error);
    if (rc) {
        return rc;
    }
    rc = aq_quant_error_measure(engine, spec, params, obs, rows, &snapshot->quant_error);
    aq_engine_destroy(engine);
    return rc ? aq_fail(error, rc, "the quantization error could not be measured") : 0;
}

/* What the same version takes in fp32. */
static int weigh_twin(const aq_snapshot *twin, size_t frame_bytes_max, size_t *ret_bytes)
{
    aq_buffer frame;
    aq_buffer_init(&frame, frame_bytes_max);
    int rc = aq_wire_policy_pack(twin, &frame);
    if (!rc) {
        *ret_bytes = frame.size;
    }
    aq_buffer_fini(&frame);
    return rc;
}

int aq_publication_make(const aq_publication_config *config, const aq_quantize_meta *meta,
                        const aq_net_spec *spec, const aq_params *params, const float *obs,
                        size_t rows, aq_publication *ret_publication, aq_error *error)
{
    aq_publication made = {0};
    rows = rows < config->error_rows ? rows : config->error_rows;

    int rc = aq_quantize(spec, params, &(aq_quantize_plan){.format = config->format}, meta,
                         &made.snapshot, error);
    if (rc) {
        return rc;
    }
    size_t bytes_fp32 = aq_snapshot_tensor_bytes_f32(made.snapshot);
    size_t bytes = aq_snapshot_tensor_bytes(made.snapshot);
    aq_buffer_init(&made.frame, bytes_fp32 + bytes + FRAME_OVERHEAD_MAX);
    if (rows > 0) {
        rc = measure(config, made.snapshot, spec, params, obs, rows, error);
        if (rc) {
            goto fail;
        }
    }
    made.int8_error = made.snapshot->quant_error;
    if (config->format == AQ_FORMAT_F32) {
        made.twin = aq_snapshot_ref(made.snapshot);
    } else {
        rc = aq_quantize(spec, params, &(aq_quantize_plan){.format = AQ_FORMAT_F32}, meta,
                         &made.twin, error);
        if (rc) {
            goto fail;
        }
        made.fell_back = made.int8_error.action_disagreement > config->error_budget;
    }
    if (made.fell_back) {
        aq_snapshot_unref(made.snapshot);
        made.snapshot = aq_snapshot_ref(made.twin);
    }
    rc = aq_wire_policy_pack(made.snapshot, &made.frame);
    made.frame_bytes_fp32 = made.frame.size;
    if (!rc && made.twin != made.snapshot) {
        rc = weigh_twin(made.twin, made.frame.size_max, &made.frame_bytes_fp32);
    }
    if (rc) {
        (void)aq_fail(error, rc, "policy version %llu could not be packed",
                      (unsigned long long)meta->version);
        goto fail;
    }
    *ret_publication = made;
    return 0;

fail:
    aq_publication_fini(&made);
    return rc;
}

void aq_publication_fini(aq_publication *publication)
{
    aq_snapshot_unref(publication->snapshot);
    aq_snapshot_unref(publication->twin);
    publication->snapshot = NULL;
    publication->twin = NULL;
    aq_buffer_fini(&publication->frame);
}
