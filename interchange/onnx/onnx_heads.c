/*
 * The table of the heads, and what they share: the greatest output, and the spread between bounds.
 */
#include "interchange/onnx/onnx_heads.h"

#include "common/base/assert.h"
#include "common/policy/gaussian.h"

typedef struct head_view {
    aq_onnx_graph *graph;
    const aq_snapshot *snapshot;
    const char *outputs;
    uint32_t width;    /* of the outputs */
    uint32_t elements; /* of an action */
} head_view;

typedef void put_fn(const head_view *view);

static void end(const head_view *view, const char *name, const char *says, int64_t width)
{
    aq_onnx_ends(view->graph, &(aq_onnx_end){name, says, AQ_ONNX_FLOAT, width});
}

/* ---- choices -------------------------------------------------------------------------------- */

/* The greatest output, and of a head that draws the logarithms of probabilities. Of several choices
 * at once both come from the outputs of each by itself, and stand side by side. */
static void put_choices(const head_view *view, bool draws)
{
    aq_onnx_graph *graph = view->graph;
    const aq_head_terms terms = aq_snapshot_terms(view->snapshot);
    const bool is_row = aq_space_is_several(terms.action);
    const uint32_t parts = aq_head_parts(&terms);
    const char *actions[AQ_BOUNDS_MAX + 1] = {NULL}, *logarithms[AQ_BOUNDS_MAX + 1] = {NULL};
    const char *own = view->outputs;
    uint32_t first = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const uint32_t past = first + aq_head_width(&terms, i);
        if (is_row) {
            aq_onnx_scope(graph, "choice%u", i);
            own = aq_onnx_part(graph, "outputs", view->outputs, first, past);
        }
        actions[i] = aq_onnx_node(graph, "ArgMax", "action", AQ_ONNX_OF(own));
        aq_onnx_set_int(graph, "axis", 1);
        aq_onnx_set_int(graph, "keepdims", is_row);
        if (draws) {
            logarithms[i] = aq_onnx_node(graph, "LogSoftmax", "log_probabilities", AQ_ONNX_OF(own));
            aq_onnx_set_int(graph, "axis", 1);
        }
        first = past;
    }
    aq_onnx_scope(graph, "%s", "");
    if (is_row) {
        (void)aq_onnx_node(graph, "Concat", "action", actions);
        aq_onnx_set_int(graph, "axis", 1);
    }
    if (is_row && draws) {
        (void)aq_onnx_node(graph, "Concat", "log_probabilities", logarithms);
        aq_onnx_set_int(graph, "axis", 1);
    }
    aq_onnx_ends(graph, &(aq_onnx_end){"action", "the choice of the greatest output", AQ_ONNX_INT64,
                                       is_row ? parts : 0});
    if (draws) {
        end(view, "log_probabilities", "logarithm of each choice's probability", view->width);
    }
}

static void put_argmax(const head_view *view)
{
    put_choices(view, false);
}

static void put_categorical(const head_view *view)
{
    put_choices(view, true);
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* A number for each element: its low, its high, or their difference. */
static const char *put_bounds(const head_view *view, const char *name, float by_low, float by_high)
{
    const aq_space *space = &view->snapshot->schema.action;
    float *bounds = aq_onnx_room(view->graph, view->elements, sizeof(*bounds));
    for (uint32_t i = 0; bounds != NULL && i < view->elements; i++) {
        const size_t at = aq_space_bound(space, i);
        bounds[i] = by_low * space->low[at] + by_high * space->high[at];
    }
    return aq_onnx_floats(view->graph, name, bounds, view->elements);
}

/* action = low + (x + 1) / 2 (high - low), held between both, in the order of aq_head_spread. */
static void put_spread(const head_view *view, const char *x)
{
    aq_onnx_graph *graph = view->graph;
    aq_onnx_scope(graph, "action");
    const char *low = put_bounds(view, "low", 1.0f, 0.0f);
    const char *high = put_bounds(view, "high", 0.0f, 1.0f);
    const char *range = put_bounds(view, "range", -1.0f, 1.0f);
    const char *one = aq_onnx_scalar(graph, "one", 1.0f);
    const char *half = aq_onnx_scalar(graph, "half", 0.5f);
    const char *above = aq_onnx_node(graph, "Add", "above", AQ_ONNX_OF(x, one));
    const char *share = aq_onnx_node(graph, "Mul", "share", AQ_ONNX_OF(above, half));
    const char *part = aq_onnx_node(graph, "Mul", "part", AQ_ONNX_OF(share, range));
    const char *spread = aq_onnx_node(graph, "Add", "spread", AQ_ONNX_OF(part, low));
    const char *least = aq_onnx_node(graph, "Max", "at_least", AQ_ONNX_OF(spread, low));
    aq_onnx_scope(graph, "%s", "");
    (void)aq_onnx_node(graph, "Min", "action", AQ_ONNX_OF(least, high));
    end(view, "action", "each element between its bounds", view->elements);
}

static void put_tanh_box(const head_view *view)
{
    put_spread(view, view->outputs);
}

/* What a distribution is, as ends of the model. */
static void put_distribution(const head_view *view, const char *mean, const char *log_deviation)
{
    aq_onnx_graph *graph = view->graph;
    (void)aq_onnx_node(graph, "Identity", "mean", AQ_ONNX_OF(mean));
    (void)aq_onnx_node(graph, "Identity", "log_deviation", AQ_ONNX_OF(log_deviation));
    end(view, "mean", "mean of each element, spread between its bounds as from -1 to 1",
        view->elements);
    end(view, "log_deviation", "logarithm of each element's standard deviation there",
        view->elements);
}

/* Held between their bounds, as those of every head but gSDE are. */
static const char *put_held(const head_view *view, const char *log_deviation)
{
    const char *least = aq_onnx_scalar(view->graph, "least", (float)AQ_LOG_DEVIATION_MIN);
    const char *most = aq_onnx_scalar(view->graph, "most", (float)AQ_LOG_DEVIATION_MAX);
    return aq_onnx_node(view->graph, "Clip", "held", AQ_ONNX_OF(log_deviation, least, most));
}

static void put_gaussian(const head_view *view)
{
    aq_onnx_graph *graph = view->graph;
    put_spread(view, view->outputs);
    const char *row =
        aq_onnx_floats(graph, "log_deviations", view->snapshot->arrays, view->elements);
    const char *shape = aq_onnx_node(graph, "Shape", "outputs_shape", AQ_ONNX_OF(view->outputs));
    const char *rows = aq_onnx_node(graph, "Expand", "log_deviation_rows", AQ_ONNX_OF(row, shape));
    put_distribution(view, view->outputs, put_held(view, rows));
}

static void put_squashed(const head_view *view)
{
    const int64_t half = view->elements;
    const char *mean = aq_onnx_part(view->graph, "means", view->outputs, 0, half);
    const char *log_deviation =
        aq_onnx_part(view->graph, "log_deviations", view->outputs, half, 2 * half);
    const char *squashed = aq_onnx_node(view->graph, "Tanh", "squashed", AQ_ONNX_OF(mean));
    put_spread(view, squashed);
    put_distribution(view, mean, put_held(view, log_deviation));
}

/* (elements, features) of an array, turned for a MatMul behind the features, and squared or not. */
static const char *put_turned(const head_view *view, const char *name, const float *matrix,
                              bool is_squared)
{
    float *turned = aq_onnx_room(view->graph, (size_t)view->width * view->elements, sizeof(float));
    for (size_t i = 0; turned != NULL && i < view->elements; i++) {
        for (size_t h = 0; h < view->width; h++) {
            const float value = matrix[i * view->width + h];
            turned[h * view->elements + i] = is_squared ? value * value : value;
        }
    }
    const aq_onnx_tensor tensor = {AQ_ONNX_FLOAT, {view->width, view->elements}, turned};
    return aq_onnx_constant(view->graph, name, &tensor);
}

static void put_gsde(const head_view *view)
{
    aq_onnx_graph *graph = view->graph;
    const float *weight = view->snapshot->arrays;
    const float *bias = weight + (size_t)view->width * view->elements;
    const float *deviation = bias + view->elements;
    aq_onnx_scope(graph, "gsde");
    const char *weights = put_turned(view, "weights", weight, false);
    const char *biases = aq_onnx_floats(graph, "bias", bias, view->elements);
    const char *product =
        aq_onnx_node(graph, "MatMul", "product", AQ_ONNX_OF(view->outputs, weights));
    const char *mean = aq_onnx_node(graph, "Add", "mean", AQ_ONNX_OF(product, biases));
    const char *variances = put_turned(view, "variances", deviation, true);
    const char *squares =
        aq_onnx_node(graph, "Mul", "squares", AQ_ONNX_OF(view->outputs, view->outputs));
    const char *spread = aq_onnx_node(graph, "MatMul", "spread", AQ_ONNX_OF(squares, variances));
    const char *least = aq_onnx_scalar(graph, "least_variance", (float)AQ_GSDE_LEAST_VARIANCE);
    const char *variance = aq_onnx_node(graph, "Add", "variance", AQ_ONNX_OF(spread, least));
    const char *log_variance = aq_onnx_node(graph, "Log", "log_variance", AQ_ONNX_OF(variance));
    const char *half = aq_onnx_scalar(graph, "half", 0.5f);
    const char *log_deviation =
        aq_onnx_node(graph, "Mul", "log_deviation", AQ_ONNX_OF(log_variance, half));
    aq_onnx_scope(graph, "%s", "");
    put_spread(view, mean);
    put_distribution(view, mean, log_deviation);
}

/* ---- the table ------------------------------------------------------------------------------ */

static put_fn *put_of(uint32_t head)
{
    static put_fn *const rows[AQ_HEADS_END] = {
        [AQ_HEAD_ARGMAX] = put_argmax,           [AQ_HEAD_TANH_BOX] = put_tanh_box,
        [AQ_HEAD_CATEGORICAL] = put_categorical, [AQ_HEAD_GAUSSIAN] = put_gaussian,
        [AQ_HEAD_SQUASHED] = put_squashed,       [AQ_HEAD_GSDE] = put_gsde,
    };
    AQ_ASSERT(head < AQ_HEADS_END);
    return rows[head];
}

int aq_onnx_head_check(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_space *action = &snapshot->schema.action;
    if (put_of(snapshot->head) == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "export: the head '%s' is not known to the writer of ONNX",
                       aq_head_name(snapshot->head));
    }
    return action->kind == AQ_SPACE_BOX ? aq_head_check_range(action, error) : 0;
}

void aq_onnx_put_head(aq_onnx_graph *graph, const aq_snapshot *snapshot, const char *outputs)
{
    const head_view view = {
        .graph = graph,
        .snapshot = snapshot,
        .outputs = outputs,
        .width = aq_net_spec_outputs(&snapshot->spec),
        .elements = (uint32_t)aq_space_elements(&snapshot->schema.action),
    };
    put_of(snapshot->head)(&view);
    end(&view, outputs, "what the network gives", view.width);
}
