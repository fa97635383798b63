/*
 * What an ONNX model says and what is refused. That it computes what the engine does is tested
 * where it is run (tests/integration/onnx).
 */
#include <float.h>

#include "common/net/rpc/rpc_envelope.h"
#include "interchange/onnx/onnx_export.h"
#include "proto/onnx.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/random_policy.h"

enum { MODEL_BYTES_MAX = 1 << 24 };

static const aq_onnx_note no_notes[] = {{NULL, NULL}};

static aq_snapshot *policy(enum random_policy_net net, uint32_t format, uint32_t head)
{
    const aq_net_spec spec = random_policy_spec(net);
    const random_policy_how how = {.seed = 4, .format = format, .head = head};
    return random_policy_create(&spec, &how);
}

TEST_ENDING(free_model, aq_message_free);

static const Actorq__V1__OnnxModel *exported(const aq_snapshot *snapshot,
                                             aq_onnx_figures *ret_figures)
{
    ProtobufCMessage *message = NULL;
    aq_buffer *file = buffer_up_to(MODEL_BYTES_MAX);
    assert_succeeds(aq_onnx_export(snapshot, "pole", no_notes, file, ret_figures, &refusal));
    assert_int_equal(
        aq_message_unpack(&actorq__v1__onnx_model__descriptor, file->data, file->size, &message),
        0);
    at_end(free_model, message);
    return (const Actorq__V1__OnnxModel *)message;
}

static size_t count_of(const Actorq__V1__OnnxModel *model, const char *op)
{
    size_t count = 0;
    for (size_t i = 0; i < model->graph->n_node; i++) {
        count += strcmp(model->graph->node[i]->op_type, op) == 0;
    }
    return count;
}

TEST(operators_are_those_of_the_formats)
{
    static const struct {
        enum random_policy_net net;
        uint32_t format;
        const char *op;
        size_t count;
        int64_t opset, rows;
    } rows[] = {
        {NET_RELU, AQ_FORMAT_F32, "MatMul", 3, AQ_ONNX_OPSET, 0},
        {NET_RELU, AQ_FORMAT_BF16, "MatMul", 3, AQ_ONNX_OPSET, 0},
        {NET_RELU, AQ_FORMAT_INT8_CHANNEL, "MatMulInteger", 3, AQ_ONNX_OPSET, 1},
        {NET_CONV, AQ_FORMAT_INT8_TENSOR, "ConvInteger", 2, AQ_ONNX_OPSET, 1},
        {NET_IMPALA, AQ_FORMAT_INT8_CHANNEL, "MaxPool", 2, AQ_ONNX_OPSET, 1},
        {NET_IMPALA, AQ_FORMAT_INT8_CHANNEL, "Relu", 3, AQ_ONNX_OPSET, 1},
        {NET_NORM, AQ_FORMAT_F32, "LayerNormalization", 3, AQ_ONNX_OPSET_NORM, 0},
    };
    EACH_ROW(i, rows) {
        aq_onnx_figures figures;
        const Actorq__V1__OnnxModel *model =
            exported(policy(rows[i].net, rows[i].format, AQ_HEAD_ARGMAX), &figures);
        assert_int_equal(count_of(model, rows[i].op), rows[i].count);
        assert_int_equal(model->opset_import[0]->version, rows[i].opset);
        assert_int_equal(figures.opset, rows[i].opset);
        assert_int_equal(figures.rows, rows[i].rows);
        assert_int_equal(figures.nodes, model->graph->n_node);
    }
}

TEST(ends_have_names_and_widths)
{
    static const char *const names[] = {"action", "mean", "log_deviation", "outputs"};
    aq_onnx_figures figures;
    const Actorq__V1__OnnxModel *model =
        exported(policy(NET_RELU, AQ_FORMAT_F32, AQ_HEAD_GAUSSIAN), &figures);
    assert_string_equal(model->graph->name, "pole");
    assert_string_equal(model->graph->input[0]->name, "obs");
    assert_int_equal(model->graph->n_output, 4);
    EACH_ROW(i, names) {
        const Actorq__V1__OnnxValueInfo *end = model->graph->output[i];
        assert_string_equal(end->name, names[i]);
        assert_string_equal(end->type->tensor_type->shape->dim[0]->dim_param, "rows");
        assert_int_equal(end->type->tensor_type->shape->dim[1]->dim_value, 2);
    }
    assert_int_equal(figures.weights_bytes / 4,
                     4 * 64 + 64 + 64 * 64 + 64 + 64 * 2 + 2 + 2 * 4 + 4);
}

static void refuse(const aq_snapshot *snapshot, int code, const char *words)
{
    aq_onnx_figures figures;
    aq_buffer *file = buffer_up_to(MODEL_BYTES_MAX);
    assert_int_equal(aq_onnx_export(snapshot, "p", no_notes, file, &figures, &refusal), code);
    assert_says(refusal.text, words);
    assert_int_equal(file->size, 0);
}

TEST(formats_that_no_operator_takes_are_refused)
{
    static const uint32_t formats[] = {AQ_FORMAT_INT4, AQ_FORMAT_INT2, AQ_FORMAT_INT8_SPARSE};
    EACH_ROW(i, formats) {
        refuse(policy(NET_RELU, formats[i], AQ_HEAD_ARGMAX), AQ_E_UNSUPPORTED,
               aq_format_name(formats[i]));
        assert_says(refusal.text, "as C (--format c)");
    }
}

TEST(a_layer_that_keeps_a_state_is_refused_with_what_takes_it)
{
    refuse(policy(NET_GRU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX), AQ_E_UNSUPPORTED,
           "gru, is not known to the writer of ONNX; as C (--format c) it can be exported");
}

TEST(an_action_without_a_range_and_a_broken_policy_are_refused)
{
    aq_snapshot_layer_data data;
    aq_snapshot *box = policy(NET_TANH, AQ_FORMAT_F32, AQ_HEAD_TANH_BOX);
    aq_snapshot *broken = policy(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_ARGMAX);
    box->schema.action.low[2] = -FLT_MAX;
    box->schema.action.high[2] = FLT_MAX;
    refuse(box, AQ_E_UNSUPPORTED, "no range");
    aq_snapshot_layer_edit(broken, 1, &data);
    data.sum[3]++;
    refuse(broken, AQ_E_CORRUPT, "layer 1");
}

TEST(a_name_that_no_text_of_a_model_can_be_is_refused)
{
    static const char *const names[] = {"", "\xff", "two\nlines"};
    const aq_snapshot *snapshot = policy(NET_RELU, AQ_FORMAT_F32, AQ_HEAD_ARGMAX);
    EACH_ROW(i, names) {
        aq_onnx_figures figures;
        aq_buffer *file = buffer_up_to(MODEL_BYTES_MAX);
        assert_refused(aq_onnx_export(snapshot, names[i], no_notes, file, &figures, &refusal),
                       AQ_E_INVALID, "the name");
        assert_int_equal(file->size, 0);
    }
}

TEST(a_failed_allocation_leaves_the_buffer_as_it_was)
{
    int rc;
    aq_onnx_figures figures;
    aq_buffer *file = buffer_up_to(MODEL_BYTES_MAX);
    const aq_snapshot *snapshot = policy(NET_RELU, AQ_FORMAT_INT8_CHANNEL, AQ_HEAD_GSDE);
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(file->size, 0);
        rc = aq_onnx_export(snapshot, "p", no_notes, file, &figures, &refusal);
    }
}
