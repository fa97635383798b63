/*
 * Writes policies of every kind as ONNX models into the folder that is its argument, and beside
 * each, as raw floats, observations and what the engine and the head make of them: NAME.onnx,
 * NAME.obs, and a file for each of the model's ends. test_onnx_models.py runs the models.
 */
#include "common/policy/gaussian.h"
#include "common/sys/file.h"
#include "interchange/onnx/onnx_export.h"
#include "interchange/onnx/onnx_heads.h"
#include "quantizer/engine/engine.h"
#include "tests/support/test.h"
#include "tests/unit/common/policy/head_kit.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 64, PATH_BYTES = 512 };

static const char *folder;

static void write_file(const char *name, const char *kind, const void *bytes, size_t size)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s.%s", folder, name, kind);
    assert_succeeds(aq_file_write_atomic(path, bytes, size, &refusal));
}

/* Choices as floats, so that every file holds the same. */
static void write_actions(const char *name, const aq_head_terms *terms, const float *outputs)
{
    const size_t elements = aq_space_elements(terms->action);
    float actions[ROWS * AQ_BOUNDS_MAX];
    terms->head->act(terms, outputs, ROWS, actions);
    for (size_t i = 0; terms->action->kind == AQ_SPACE_DISCRETE && i < ROWS * elements; i++) {
        int32_t choice;
        memcpy(&choice, &actions[i], sizeof(choice));
        actions[i] = (float)choice;
    }
    write_file(name, "action", actions, ROWS * elements * sizeof(*actions));
}

static void write_gaussian(const char *name, const aq_head_terms *terms, const float *outputs)
{
    const uint32_t elements = (uint32_t)aq_space_elements(terms->action);
    float means[ROWS * AQ_BOUNDS_MAX], deviations[ROWS * AQ_BOUNDS_MAX];
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = 0; i < elements; i++) {
            const aq_gaussian of =
                aq_gaussian_element(terms, outputs + (size_t)row * terms->width, i);
            means[row * elements + i] = (float)of.mean;
            deviations[row * elements + i] = (float)of.log_deviation;
        }
    }
    write_file(name, "mean", means, ROWS * elements * sizeof(*means));
    write_file(name, "log_deviation", deviations, ROWS * elements * sizeof(*deviations));
}

static void write_choices(const char *name, const aq_head_terms *terms, const float *outputs)
{
    float logarithms[ROWS * 64];
    assert_true(terms->width <= 64);
    const uint32_t parts = aq_head_parts(terms);
    for (uint32_t part = 0, at = 0; at < ROWS * terms->width; part++) {
        const uint32_t width = aq_head_width(terms, part % parts);
        aq_space lone;
        aq_space_init_discrete(&lone, width);
        for (int32_t choice = 0; choice < (int32_t)width; choice++) {
            logarithms[at + (uint32_t)choice] =
                terms->head->drawing->log_prob(&(aq_head_terms){.action = &lone, .width = width},
                                               outputs + at, &(aq_head_draw){&choice, NULL});
        }
        at += width;
    }
    write_file(name, "log_probabilities", logarithms, ROWS * terms->width * sizeof(float));
}

static void write_case(enum random_policy_net net, const random_policy_how *how, const char *name)
{
    static const aq_onnx_note notes[] = {{"actorq.seed", "77"}, {NULL, NULL}};
    const aq_net_spec spec = random_policy_spec(net);
    aq_snapshot *snapshot = random_policy_create(&spec, how);
    const aq_head_terms terms = aq_snapshot_terms(snapshot);
    const uint32_t inputs = aq_net_spec_inputs(&spec);
    aq_buffer *model = buffer_up_to((size_t)1 << 26);
    aq_onnx_figures figures;
    aq_engine *engine = NULL;
    if (aq_onnx_head_check(snapshot, NULL) == AQ_E_UNSUPPORTED) {
        return; /* a head without a row there is fine */
    }
    assert_succeeds(aq_onnx_export(snapshot, name, notes, model, &figures, &refusal));
    assert_succeeds(aq_engine_create(snapshot, ROWS, 0, &engine, &refusal));
    const float *obs = random_policy_observations(&spec, 3, ROWS);
    const float *outputs = aq_engine_step(engine, obs, NULL, ROWS);
    write_file(name, "onnx", model->data, model->size);
    write_file(name, "obs", obs, (size_t)ROWS * inputs * sizeof(*obs));
    write_file(name, "outputs", outputs, (size_t)ROWS * terms.width * sizeof(*outputs));
    write_actions(name, &terms, outputs);
    if (terms.head->drawing != NULL && terms.head->drawing->gaussian != NULL) {
        write_gaussian(name, &terms, outputs);
    } else if (terms.head->drawing != NULL) {
        write_choices(name, &terms, outputs);
    }
    aq_engine_destroy(engine);
}

TEST(models_of_every_layer_in_every_format)
{
    static const struct {
        uint32_t format;
        bool is_static;
    } formats[] = {
        {AQ_FORMAT_F32, false},         {AQ_FORMAT_F16, false},
        {AQ_FORMAT_BF16, false},        {AQ_FORMAT_INT8_CHANNEL, false},
        {AQ_FORMAT_INT8_CHANNEL, true}, {AQ_FORMAT_INT8_TENSOR, false},
        {AQ_FORMAT_INT8_TENSOR, true},
    };
    for (int net = 0; net < NET_COUNT; net++) {
        EACH_ROW(i, formats) {
            char name[64];
            const random_policy_how how = {.seed = 40u + (unsigned)net,
                                           .format = formats[i].format,
                                           .is_static = formats[i].is_static,
                                           .head =
                                               net == NET_TANH ? AQ_HEAD_TANH_BOX : AQ_HEAD_ARGMAX};
            (void)snprintf(name, sizeof(name), "net%d_%s%s", net, aq_format_name(formats[i].format),
                           formats[i].is_static ? "_static" : "");
            write_case((enum random_policy_net)net, &how, name);
        }
    }
}

TEST(models_of_every_head)
{
    for (uint32_t head = 1; head < HEAD_KIT_END; head++) {
        static const enum random_policy_net nets[] = {NET_RELU, NET_TANH};
        char name[64];
        aq_net_spec spec;
        aq_space space;
        enum random_policy_net net = NET_COUNT;
        /* Several choices have the outputs of NET_ELU, of which they don't have the same number. */
        for (int i = 0; i < 2 && net == NET_COUNT; i++) {
            spec = random_policy_spec(head < HEAD_KIT_ROW ? nets[i] : NET_ELU);
            net = !head_kit_fit(head, &spec, &space) ? NET_COUNT
                  : head < HEAD_KIT_ROW              ? nets[i]
                                                     : NET_ELU;
        }
        if (net == NET_COUNT) {
            continue;
        }
        const random_policy_how how = {.seed = head, .format = AQ_FORMAT_F32, .head = head};
        (void)snprintf(name, sizeof(name), "head%u_fp32", head);
        write_case(net, &how, name);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: onnx_cases FOLDER\n");
        return 2;
    }
    folder = argv[1];
    return aq_test_run(NULL);
}
