/*
 * Arrays of PyTorch's modules as a network: which are layers, in which order, and what stands
 * between them.
 */
#include "interchange/import/state_dict.h"
#include "tests/support/test.h"
#include "tests/unit/interchange/npz_kit.h"

/* "name:rowsxcolumns" or "name:width", one after the other; ~ is a blank in a name. */
static void make(npz_kit *kit, const char *arrays)
{
    char name[64], array[80];
    unsigned rows, columns;
    npz_kit_init(kit);
    while (*arrays != '\0') {
        const size_t length = strcspn(arrays, " ");
        (void)snprintf(array, sizeof(array), "%.*s", (int)length, arrays);
        columns = 0;
        assert_true(sscanf(array, "%63[^:]:%ux%u", name, &rows, &columns) >= 2);
        for (char *blank = name; (blank = strchr(blank, '~')) != NULL;) {
            *blank = ' ';
        }
        (void)snprintf(array, sizeof(array), "%s.npy", name);
        npz_kit_add_ramp(kit, array, rows, columns);
        arrays += length + (arrays[length] == ' ');
    }
    npz_kit_end(kit);
}

static int read_arrays(const char *arrays, const char *layers, uint32_t activation,
                       aq_foreign_net *net)
{
    static aq_npz_file file;
    const aq_state_dict_how how = {.layers = layers, .activation = activation};
    npz_kit kit;
    make(&kit, arrays);
    assert_succeeds(aq_npz_read(kit.file.data, kit.file.size, &file, &refusal));
    int rc = aq_state_dict_read(&file, &how, net, &refusal);
    npz_kit_fini(&kit);
    return rc;
}

TEST(arrays_become_the_network_that_they_are_of)
{
    static const struct {
        const char *arrays, *layers, *net;
        uint32_t activation;
    } rows[] = {
        {"0.weight:5x4 0.bias:5 2.weight:3x5 2.bias:3", NULL, "4-5r-3", AQ_ACTIVATION_RELU},
        {"w.weight:3x4", NULL, "4-3", 0},
        {"fc1.weight:5x4 ln1.weight:5 ln1.bias:5 fc2.weight:2x5", NULL, "4-5-normt-2",
         AQ_ACTIVATION_TANH},
        {"0.weight:5x4 1.weight:5 1.bias:5 3.weight:2x5", NULL, "4-5-norme-2", AQ_ACTIVATION_ELU},
        {"0.weight:5x4 2.weight:5 2.bias:5 3.weight:2x5", NULL, "4-5e-norm-2", AQ_ACTIVATION_ELU},
        {"0.weight:4 0.bias:4 1.weight:5x4 3.weight:2x5", NULL, "4-norm-5r-2", AQ_ACTIVATION_RELU},
        {"0.weight:4 0.bias:4 2.weight:5x4 4.weight:2x5", NULL, "4-normr-5r-2", AQ_ACTIVATION_RELU},
        {"in.weight:4 in.bias:4 fc1.weight:5x4 fc2.weight:2x5", NULL, "4-norm-5r-2",
         AQ_ACTIVATION_RELU},
        {"0.weight:5x4 2.weight:2x5", NULL, "4-5-2", AQ_ACTIVATION_NONE},
        {"0.weight:5x4 1.weight:2x5", NULL, "4-5-2", AQ_ACTIVATION_NONE},
        {"n.0.weight:5x4 n.1.weight:2x5", "n.0,n.1", "4-5r-2", AQ_ACTIVATION_RELU},
        {"n.0.f.weight:5x4 n.1.f.weight:2x5", NULL, "4-5r-2", AQ_ACTIVATION_RELU},
        {"weight:2x4 bias:2", NULL, "4-2", 0},
        {"my~0.weight:5x4 my~2.weight:2x5", NULL, "4-5r-2", AQ_ACTIVATION_RELU},
        {"p.0.weight:5x4 v.0.weight:7x4 p.2.weight:3x5 a.weight:2x3", "p,a", "4-5r-3r-2",
         AQ_ACTIVATION_RELU},
        {"a.weight:2x5 p.0.weight:5x4 pp.weight:9x9", "p.0,a", "4-5r-2", AQ_ACTIVATION_RELU},
        {"p.weight:2x4 r.weight_ih_l0:15x4 r.bias:15", "p", "4-2", 0},
        {"q.q.0.weight:5x4 q.q.2.weight:2x5 q_target.q.0.weight:5x4", "q", "4-5r-2",
         AQ_ACTIVATION_RELU},
    };
    EACH_ROW(i, rows) {
        aq_foreign_net net = {0};
        char text[256];
        assert_succeeds(read_arrays(rows[i].arrays, rows[i].layers, rows[i].activation, &net));
        assert_string_equal(aq_net_spec_text(&net.spec, text, sizeof(text)), rows[i].net);
        assert_float_equal(net.weight[0][1], 0.02f, 0.0f);
        aq_foreign_net_fini(&net);
    }
}

TEST(a_deviation_that_is_learned_comes_with_it)
{
    static const char *const arrays[] = {"w.weight:2x4 log_std:2", "actor_logstd:1x2 w.weight:2x4"};
    EACH_ROW(i, arrays) {
        aq_foreign_net net = {0};
        assert_succeeds(read_arrays(arrays[i], NULL, 0, &net));
        assert_int_equal(net.log_deviations, 2);
        assert_float_equal(net.log_deviation[1], 0.02f, 0.0f);
        aq_foreign_net_fini(&net);
    }
}

TEST(what_is_no_policy_is_refused_in_words)
{
    static const struct {
        const char *arrays, *layers, *words;
        int code;
        uint32_t activation;
    } rows[] = {
        {"0.weight:5x4 2.weight:2x5", NULL, "--activation", AQ_E_INVALID, 0},
        {"0.weight:5x4 2.weight:2x6", NULL, "takes 6 values, and the layer before it gives 5",
         AQ_E_INVALID, AQ_ACTIVATION_RELU},
        {"p.0.weight:5x4 v.0.weight:7x4", NULL, "p.0 (5x4), v.0 (7x4), not all may be",
         AQ_E_INVALID, AQ_ACTIVATION_RELU},
        {"0.weight:5x4", "1", "no weights of '1' in it; there are 0 (5x4)", AQ_E_NOT_FOUND, 0},
        {"0.weight:5x4", "0,", "a name of --layers is empty", AQ_E_INVALID, 0},
        {"0.kernel:5x4", NULL, "there are none", AQ_E_NOT_FOUND, 0},
        {"0.weight:5x4 0.bias:4", NULL, "0.bias has 4 values for 5 rows", AQ_E_INVALID, 0},
        {"0.weight:5x4 1.weight:5 1.running_mean:5", NULL, "batch norm", AQ_E_UNSUPPORTED,
         AQ_ACTIVATION_RELU},
        {"0.weight:5x4 1.weight:2x5", NULL,
         "nothing stands between 0.weight and 1.weight if they are of a Sequential, and arrays do "
         "not tell; if relu does, name each module: --layers 0,1",
         AQ_E_UNSUPPORTED, AQ_ACTIVATION_RELU},
        {"n.0.weight:5x4 n.1.weight:5 n.1.bias:5 n.2.weight:2x5", "n", "--layers n.1,n.2",
         AQ_E_UNSUPPORTED, AQ_ACTIVATION_RELU},
        {"0.weight:5x4 1.weight:5 3.weight:2x5", NULL,
         "1.weight has one dimension and no bias beside it: PReLU, an RMS norm", AQ_E_UNSUPPORTED,
         AQ_ACTIVATION_RELU},
        {"weight:2x4 bias:3", NULL, "bias has 3 values for 2 rows", AQ_E_INVALID, 0},
        {"weight:2x4", "a", "there are weight (2x4)", AQ_E_NOT_FOUND, 0},
        {"0.weight:5x4 2.weight:5 2.bias:5 4.weight:2x5", NULL,
         "do not tell which is the activation", AQ_E_UNSUPPORTED, AQ_ACTIVATION_RELU},
        {"0.weight:5x4 r.weight_ih_l0:15x5 r.weight_hh_l0:15x5 r.bias_ih_l0:15 2.weight:2x5", NULL,
         "r.weight_ih_l0 is of a layer that is not known", AQ_E_UNSUPPORTED, AQ_ACTIVATION_RELU},
        {"weight_ih_l0:15x4 o.weight:2x5", NULL, "weight_ih_l0 is of a layer", AQ_E_UNSUPPORTED, 0},
        {"p.0.weight_v:5x4 p.0.weight_g:5x1 p.0.bias:5 p.2.weight:2x4", "p", "p.0.weight_v is of",
         AQ_E_UNSUPPORTED, AQ_ACTIVATION_RELU},
        {"a.in_proj_weight:12x4 o.weight:2x4", NULL, "a.in_proj_weight is of", AQ_E_UNSUPPORTED, 0},
        {"0.bias:5 0.parametrizations.weight.original0:5x1 2.weight:2x4", NULL, "0.bias is of",
         AQ_E_UNSUPPORTED, AQ_ACTIVATION_RELU},
    };
    EACH_ROW(i, rows) {
        aq_foreign_net net = {0};
        assert_int_equal(read_arrays(rows[i].arrays, rows[i].layers, rows[i].activation, &net),
                         rows[i].code);
        assert_says(refusal.text, rows[i].words);
        aq_foreign_net_fini(&net);
    }
}

TEST(values_of_another_type_are_refused_by_its_name)
{
    static aq_npz_file file;
    const aq_state_dict_how how = {0};
    const float values[4] = {0};
    aq_foreign_net net = {0};
    npz_kit kit;
    npz_kit_init(&kit);
    npz_kit_add(&kit, "a.weight.npy", "'descr': '>f4', 'fortran_order': False, 'shape': (2, 2)",
                values, sizeof(values));
    npz_kit_end(&kit);
    assert_succeeds(aq_npz_read(kit.file.data, kit.file.size, &file, &refusal));
    assert_refused(aq_state_dict_read(&file, &how, &net, &refusal), AQ_E_UNSUPPORTED,
                   "a.weight holds values of type '>f4'; little-endian floats are read");
    npz_kit_fini(&kit);
}

TEST(more_layers_than_a_network_has_are_refused)
{
    char arrays[(AQ_NET_LAYERS_MAX + 1) * 16];
    aq_foreign_net net = {0};
    for (int i = 0, used = 0; i <= AQ_NET_LAYERS_MAX; i++) {
        used += snprintf(arrays + used, sizeof(arrays) - (size_t)used, "%s%d.weight:1x1",
                         i > 0 ? " " : "", i);
    }
    assert_int_equal(read_arrays(arrays, NULL, AQ_ACTIVATION_RELU, &net), AQ_E_TOO_BIG);
    assert_says(refusal.text, "more than 48 layers");
}
