/*
 * Networks of other programs: any bytes are refused in words, or give a policy that is valid. The
 * first byte of the input says what the rest is: an ONNX model, an archive of NumPy, one array of
 * it, or the values of layers that are chained as they come, for what an archive's checksums keep
 * the fuzzer from.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "interchange/import/onnx_read.h"
#include "interchange/import/policy_import.h"
#include "interchange/import/state_dict.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

/* As a policy of the task that it would fit, with each end that there is. */
static void make_policies(aq_foreign_net *net)
{
    aq_schema schema = {0};
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];
    const uint32_t inputs = aq_foreign_inputs(net), outputs = aq_foreign_outputs(net);
    for (int i = 0; i < AQ_BOUNDS_MAX; i++) {
        low[i] = -1.0f;
        high[i] = (float)i;
    }
    if (inputs == 0 || inputs > AQ_BOUNDS_MAX || outputs > AQ_BOUNDS_MAX) {
        return;
    }
    for (int end = AQ_IMPORT_END_FOUND; end <= AQ_IMPORT_END_ACTIONS; end++) {
        aq_snapshot *policy = NULL;
        aq_error error = {0};
        aq_space_init_box(&schema.obs, inputs, low, high);
        if (end == AQ_IMPORT_END_VALUES || end == AQ_IMPORT_END_LOGITS) {
            aq_space_init_discrete(&schema.action, outputs);
        } else {
            aq_space_init_box(&schema.action, outputs, low, high);
        }
        int rc = aq_policy_import(net, "a:b", &schema, (enum aq_import_end)end, &policy, &error);
        AQ_ASSERT(error.code == rc);
        if (rc == 0) {
            must(aq_snapshot_validate(policy, NULL));
            aq_snapshot_unref(policy);
        }
    }
}

static void read_arrays(const aq_npz_file *file)
{
    static const char *const layers[] = {NULL, "p,q.0"};
    for (int i = 0; i < 2; i++) {
        const aq_state_dict_how how = {.layers = layers[i], .activation = AQ_ACTIVATION_TANH};
        aq_foreign_net net = {0};
        aq_error error = {0};
        int rc = aq_state_dict_read(file, &how, &net, &error);
        AQ_ASSERT(error.code == rc);
        if (rc == 0) {
            make_policies(&net);
        }
        aq_foreign_net_fini(&net);
    }
}

static void read_model(const uint8_t *bytes, size_t size)
{
    aq_foreign_net net = {0};
    aq_error error = {0};
    int rc = aq_onnx_read(bytes, size, NULL, &net, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        make_policies(&net);
    }
    aq_foreign_net_fini(&net);
}

static void read_archive(const uint8_t *bytes, size_t size)
{
    aq_npz_file *file = must_alloc(1, sizeof(*file));
    aq_error error = {0};
    int rc = aq_npz_read(bytes, size, file, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        read_arrays(file);
    }
    aq_free(file);
}

/* One array as both a layer and its bias. */
static void read_array(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"p.weight", "p.bias", "q.0.weight", "q.2.weight",
                                        "log_std"};
    aq_npz_file *file = must_alloc(1, sizeof(*file));
    aq_error error = {0};
    int rc = aq_npy_read(bytes, size, &file->arrays[0], &error);
    AQ_ASSERT(error.code == rc);
    for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        file->arrays[i] = file->arrays[0];
        memcpy(file->arrays[i].name, names[i], strlen(names[i]) + 1);
        file->count++;
    }
    read_arrays(file);
    aq_free(file);
}

/* Byte by byte: a name's last letter, its rank and sizes of 1 to 16; the values are the input. */
static void read_layers(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"0.weight", "1.weight",  "2.weight", "4.weight",
                                        "0.bias",   "p.weight",  "log_std",  "q.0.weight",
                                        "2.bias",   "p.0.weight"};
    aq_npz_file *file = must_alloc(1, sizeof(*file));
    for (size_t i = 0; i + 3 <= size && file->count < AQ_NPZ_ARRAYS_MAX; i += 3) {
        aq_npz_array *array = &file->arrays[file->count];
        const char *name = names[fuzz_choice(bytes[i], 10)];
        *array = (aq_npz_array){
            .value_bytes = (bytes[i + 1] & 1) != 0 ? sizeof(double) : sizeof(float),
            .is_turned = (bytes[i + 1] & 2) != 0,
            .rank = bytes[i + 1] >> 2 & 3,
            .shape = {1 + bytes[i + 2] % 16, 1 + bytes[i + 2] / 16, 1},
            .values = bytes,
        };
        memcpy(array->name, name, strlen(name) + 1);
        array->count = 1;
        for (uint32_t k = 0; k < array->rank; k++) {
            array->count *= array->shape[k];
        }
        file->count += array->count * array->value_bytes <= size && aq_npz_find(file, name) == NULL;
    }
    read_arrays(file);
    aq_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const uint8_t *bytes, size_t size) = {read_model, read_archive,
                                                                         read_array, read_layers};
    if (size > 0) {
        readers[fuzz_choice(data[0], 4)](data + 1, size - 1);
    }
    return 0;
}
