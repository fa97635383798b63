/*
 * quantization_error POLICY_FOLDER [CSV]: what each weight format costs each subject, as CSV on
 * standard output; or, with a file, whether that is still what stands there: a change of the
 * quantizer shows as a difference of bench/quantization_error.csv.
 *
 * Everything runs on the scalar kernels. Integer formats give the same numbers everywhere; others
 * may differ in their last bits from one mathematics library to the next, so three digits are told.
 * A cell is empty where the policy has no such thing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/quantization/error_subject.h"
#include "cli/policy/post_quantize.h"
#include "common/base/buffer.h"
#include "common/sys/file.h"

enum { CSV_BYTES_MAX = 1 << 20, NUMBER_BYTES = 32, NETWORK_BYTES = 128, SCALAR = 0 };
#define ROUNDING_MAX 1e-8

static const struct way {
    const char *method, *activations;
    uint32_t bits;
    aq_post_quantize_plan plan;
} ways[] = {
    {"exact", "float", 32, {.quantize = {.format = AQ_FORMAT_F32}}},
    {"nearest", "float", 16, {.quantize = {.format = AQ_FORMAT_F16}}},
    {"nearest", "float", 16, {.quantize = {.format = AQ_FORMAT_BF16}}},
    {"symmetric", "dynamic", 8, {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL}}},
    {"symmetric",
     "static min-max",
     8,
     {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
      .static_activations = true,
      .range_method = AQ_RANGE_MIN_MAX}},
    {"symmetric",
     "static moving-average",
     8,
     {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
      .static_activations = true,
      .range_method = AQ_RANGE_MOVING_AVERAGE}},
    {"symmetric",
     "static percentile",
     8,
     {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL},
      .static_activations = true,
      .range_method = AQ_RANGE_PERCENTILE}},
    {"symmetric", "dynamic", 6, {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL, .bits = 6}}},
    {"symmetric", "dynamic", 4, {.quantize = {.format = AQ_FORMAT_INT8_CHANNEL, .bits = 4}}},
    {"symmetric", "dynamic", 8, {.quantize = {.format = AQ_FORMAT_INT8_TENSOR}}},
    {"paper", "dynamic", 8, {.quantize = {.format = AQ_FORMAT_INT8_TENSOR, .paper = true}}},
    {"paper",
     "dynamic",
     4,
     {.quantize = {.format = AQ_FORMAT_INT8_TENSOR, .paper = true, .bits = 4}}},
    {"symmetric", "dynamic", 4, {.quantize = {.format = AQ_FORMAT_INT4}}},
    {"symmetric", "dynamic", 2, {.quantize = {.format = AQ_FORMAT_INT2}}},
    {"density 0.5", "dynamic", 8, {.quantize = {.format = AQ_FORMAT_INT8_SPARSE, .density = 0.5f}}},
};

/* Sums in another order than the reference's differ in their last bits, which is no error. */
static const char *number(char *room, const struct way *way, double value)
{
    const bool is_rounding = way->plan.quantize.format == AQ_FORMAT_F32 || value < ROUNDING_MAX;
    (void)snprintf(room, NUMBER_BYTES, "%.3g", is_rounding ? 0.0 : value);
    return room;
}

static void write_row(FILE *out, const aq_error_subject *subject, const struct way *way,
                      const aq_snapshot *made)
{
    char network[NETWORK_BYTES], share[NUMBER_BYTES], rms[NUMBER_BYTES], most[NUMBER_BYTES];
    char kl[NUMBER_BYTES];
    const aq_quant_error *error = &made->quant_error;
    const aq_layer_spec *last = &made->spec.layers[made->spec.layer_count - 1];
    const bool has_distribution = last->kind == AQ_LAYER_CATEGORICAL;
    (void)fprintf(
        out, "%s,%s,%s,%s,%u,%s,%zu,%s,%s,%s,%s\n", subject->environment,
        aq_net_spec_text(&made->spec, network, sizeof(network)),
        aq_format_name(way->plan.quantize.format), way->method, way->bits, way->activations,
        aq_snapshot_tensor_bytes(made), number(share, way, (double)error->cost),
        number(rms, way, (double)error->output_rms), number(most, way, (double)error->output_max),
        has_distribution ? number(kl, way, (double)error->kl) : "");
}

static int write_subject(FILE *out, const aq_error_subject *subject, aq_error *error)
{
    const aq_post_quantize_obs obs = {.measured = subject->measured,
                                      .ranged = subject->ranged,
                                      .measured_rows = subject->measured_rows,
                                      .ranged_rows = subject->ranged_rows};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        aq_snapshot *made;
        aq_post_quantize_plan plan = ways[i].plan;
        plan.cpu_flags = SCALAR;
        int rc = aq_post_quantize(subject->exact, &plan, &obs, &made, error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "%s, %s", subject->environment,
                                   aq_format_name(plan.quantize.format));
        }
        write_row(out, subject, &ways[i], made);
        aq_snapshot_unref(made);
    }
    return 0;
}

static int write_all(FILE *out, const char *folder, aq_error *error)
{
    int rc = 0;
    (void)fputs("environment,network,format,method,bits,activations,bytes,cost,rms,max,"
                "kl\n",
                out);
    for (size_t i = 0; rc == 0 && i < AQ_ERROR_SUBJECTS; i++) {
        aq_error_subject subject = {0};
        rc = aq_error_subject_init(i, folder, &subject, error);
        rc = rc != 0 ? rc : write_subject(out, &subject, error);
        aq_error_subject_fini(&subject);
    }
    return rc;
}

/* How many lines differ; each is shown as it was and as it is. */
static size_t compare(const char *was, const char *is)
{
    size_t differences = 0;
    while (*was != '\0' || *is != '\0') {
        const size_t was_length = strcspn(was, "\n");
        const size_t is_length = strcspn(is, "\n");
        if (was_length != is_length || memcmp(was, is, is_length) != 0) {
            (void)printf("-%.*s\n+%.*s\n", (int)was_length, was, (int)is_length, is);
            differences++;
        }
        was += was_length + (was[was_length] == '\n');
        is += is_length + (is[is_length] == '\n');
    }
    return differences;
}

static int check(const char *path, const char *fresh, aq_error *error)
{
    aq_buffer stored;
    aq_buffer_init(&stored, CSV_BYTES_MAX);
    int rc = aq_file_read(path, &stored, error);
    rc = rc != 0 ? rc : aq_buffer_append(&stored, "", 1);
    if (rc == 0 && compare((const char *)stored.data, fresh) > 0) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "%s is not what the quantizer does now; where that is meant, write it anew",
                     path);
    }
    aq_buffer_fini(&stored);
    return rc;
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    char *text = NULL;
    size_t size = 0;
    if (argc != 2 && argc != 3) {
        (void)fputs("usage: quantization_error POLICY_FOLDER [CSV]\n", stderr);
        return EXIT_FAILURE;
    }
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        (void)fputs("quantization_error: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    int rc = write_all(out, argv[1], &error);
    if (fclose(out) != 0 && rc == 0) {
        rc = aq_fail(&error, AQ_E_NOMEM, "out of memory");
    }
    if (rc == 0 && argc == 3) {
        rc = check(argv[2], text, &error);
    } else if (rc == 0) {
        (void)fputs(text, stdout);
    }
    free(text);
    if (rc != 0) {
        (void)fprintf(stderr, "quantization_error: %s\n", error.text);
        return EXIT_FAILURE;
    }
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
