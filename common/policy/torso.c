/*
 * The kinds of elements, the names of lists of them, and how both are read.
 */
#include "common/policy/torso.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/parse.h"

enum { NUMBERS_MAX = 4, ELEMENT_TEXT_MAX = 48, SPACE_TEXT_BYTES = 256 };

/* What the layers so far give. */
typedef struct torso_end {
    enum aq_activation activation;
    uint32_t width;
    bool is_picture;
    bool is_bare; /* it waits for an activation, which the next convolution does without */
    aq_picture_shape picture;
} torso_end;

typedef struct element_kind {
    const char *word;
    const char *form; /* of what stands behind the colon: capitals are a number, and what is in
                         brackets may be left out: it is 0 */
    bool keeps_state; /* of as many values as its first number says */
    int (*add)(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error);
} element_kind;

typedef struct element {
    const element_kind *kind;
    uint32_t numbers[NUMBERS_MAX];
} element;

/* ---- the kinds ------------------------------------------------------------------------------ */

/* Appends a layer that looks at a picture patch by patch, whose shape lacks the picture's. */
static int add_patches(const char *word, aq_conv_shape shape, enum aq_activation activation,
                       torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const aq_picture_shape *from = &end->picture;
    const bool is_pool = shape.filters == 0;
    if (!end->is_picture) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.torso: a %s takes a picture, of (height, width) or "
                       "(height, width, channels), and here it would be given %" PRIu32 " numbers",
                       word, end->width);
    }
    shape.height = from->height;
    shape.width = from->width;
    shape.channels = from->channels;
    shape.filters = is_pool ? shape.channels : shape.filters;
    const aq_picture_shape to = {.height = aq_conv_out_height(&shape),
                                 .width = aq_conv_out_width(&shape),
                                 .channels = shape.filters};
    if (to.height == 0 || to.width == 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.torso: patches of %" PRIu32 " x %" PRIu32
                       " do not fit into what is there for them, %" PRIu32 " x %" PRIu32,
                       shape.kernel, shape.kernel, shape.height, shape.width);
    }
    const aq_layer_spec layer =
        is_pool ? aq_layer_pool(&shape, activation) : aq_layer_conv2d(&shape, activation);
    end->picture = to;
    end->width = layer.outputs;
    return aq_net_spec_add(spec, &layer, error);
}

static int add_conv(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const aq_conv_shape shape = {
        .filters = numbers[0], .kernel = numbers[1], .stride = numbers[2], .padding = numbers[3]};
    end->is_bare = false;
    return add_patches("convolution", shape, end->activation, end, spec, error);
}

static int add_pool(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const aq_conv_shape shape = {.kernel = numbers[0], .stride = numbers[1], .padding = numbers[2]};
    return add_patches("pool", shape, AQ_ACTIVATION_NONE, end, spec, error);
}

/* x + conv(act(conv(act(x)))), with 3 x 3 pixels at each step. */
static int add_block(torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const uint32_t from = spec->layer_count; /* the value of the layer before */
    const aq_conv_shape alone = {.kernel = 1, .stride = 1};
    const aq_conv_shape same = {
        .filters = end->picture.channels, .kernel = 3, .stride = 1, .padding = 1};
    aq_layer_spec sum = aq_layer_add(end->width);
    sum.sources = (aq_layer_sources){.count = 2, .values = {from, from + 3}};
    int rc = add_patches("block", alone, end->activation, end, spec, error);
    rc = rc == 0 ? add_patches("block", same, end->activation, end, spec, error) : rc;
    rc = rc == 0 ? add_patches("block", same, AQ_ACTIVATION_NONE, end, spec, error) : rc;
    return rc == 0 ? aq_net_spec_add(spec, &sum, error) : rc;
}

/* A section of IMPALA's deep network. */
static int add_residual(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const aq_conv_shape wider = {.filters = numbers[0], .kernel = 3, .stride = 1, .padding = 1};
    const aq_conv_shape half = {.kernel = 3, .stride = 2, .padding = 1};
    int rc = add_patches("convolution", wider, AQ_ACTIVATION_NONE, end, spec, error);
    rc = rc == 0 ? add_patches("pool", half, AQ_ACTIVATION_NONE, end, spec, error) : rc;
    for (uint32_t i = 0; i < numbers[1] && rc == 0; i++) {
        rc = add_block(end, spec, error);
    }
    end->is_bare = true;
    return rc;
}

/* The activation that a section waits for, unless a convolution follows. */
static int add_activation(torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const aq_conv_shape alone = {.kernel = 1, .stride = 1};
    return end->is_bare ? add_patches("block", alone, end->activation, end, spec, error) : 0;
}

/* What the input says to the gates, and they. */
static int add_gru(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const uint32_t width = numbers[0];
    int rc = add_activation(end, spec, error);
    const aq_layer_spec said =
        aq_layer_linear(end->width, AQ_GRU_GATES * width, AQ_ACTIVATION_NONE);
    const aq_layer_spec gru = aq_layer_gru(width);
    rc = rc == 0 ? aq_net_spec_add(spec, &said, error) : rc;
    *end = (torso_end){.activation = end->activation, .width = width};
    return rc == 0 ? aq_net_spec_add(spec, &gru, error) : rc;
}

static const element_kind kinds[] = {
    {"conv", "FILTERSxKERNEL/STRIDE[+PADDING]", false, add_conv},
    {"pool", "KERNEL/STRIDE[+PADDING]", false, add_pool},
    {"residual", "FILTERSxBLOCKS", false, add_residual},
    {"gru", "WIDTH", true, add_gru},
};

/* MinAtar's (Young and Tian, 2019), that of DQN in Nature (Mnih et al., 2015), and the deep one of
 * IMPALA (Espeholt et al., 2018); and a memory as wide as those of the presets. */
static const struct named_torso {
    const char *name, *elements;
} names[] = {
    {"minatar", "conv:16x3/1"},
    {"nature", "conv:32x8/4,conv:64x4/2,conv:64x3/1"},
    {"impala", "residual:16x2,residual:32x2,residual:32x2"},
    {"gru", "gru:64"},
};

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The numbers of a text in that form. */
static bool read_numbers(const char *text, const char *form, uint32_t *numbers)
{
    for (uint32_t count = 0; *form != '\0'; count++) {
        uint64_t number = 0;
        const char *begin = text;
        for (; is_digit(*text) && number <= AQ_NET_WIDTH_MAX; text++) {
            number = 10 * number + (uint64_t)(*text - '0');
        }
        if (text == begin || number < 1 || number > AQ_NET_WIDTH_MAX) {
            return false;
        }
        numbers[count] = (uint32_t)number;
        for (; is_capital(*form); form++) {
        }
        if (*form == '[' && *text == '\0') {
            return true;
        }
        form += *form == '[' || *form == ']';
        if (*form != *text) {
            return false;
        }
        form += *form != '\0';
        text += *text != '\0';
    }
    return *text == '\0';
}

static bool read_element(const char *text, size_t length, element *ret_element)
{
    char copy[ELEMENT_TEXT_MAX];
    if (length >= sizeof(copy)) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *colon = strchr(copy, ':');
    if (colon == NULL) {
        return false;
    }
    *colon = '\0';
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].word, copy) == 0) {
            *ret_element = (element){.kind = &kinds[i]};
            return read_numbers(colon + 1, kinds[i].form, ret_element->numbers);
        }
    }
    return false;
}

/* The list that a name stands for, or the text itself. */
static const char *elements_of(const char *text)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        text = strcmp(names[i].name, text) == 0 ? names[i].elements : text;
    }
    return text;
}

/* The first element of a text that is not empty, and what is behind it, NULL where it ends. */
static bool next_element(const char **text, element *ret_element)
{
    const size_t length = strcspn(*text, ",");
    const bool is_read = read_element(*text, length, ret_element);
    *text = (*text)[length] == ',' ? *text + length + 1 : NULL;
    return is_read;
}

static int refuse(const char *text, aq_error *error)
{
    char possible[SPACE_TEXT_BYTES] = "";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        aq_text_append(possible, sizeof(possible), "%s, ", names[i].name);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        aq_text_append(possible, sizeof(possible), "%s%s:%s", i > 0 ? ", " : "or a list of ",
                       kinds[i].word, kinds[i].form);
    }
    return aq_fail(error, AQ_E_INVALID,
                   "learner.torso is \"%s\"; possible are %s, such as \"conv:16x3/1\", with "
                   "numbers of 1 to %" PRIu32,
                   text, possible, AQ_NET_WIDTH_MAX);
}

int aq_torso_check(const char *text, aq_error *error)
{
    element read;
    const char *rest = text[0] != '\0' ? elements_of(text) : NULL;
    while (rest != NULL) {
        if (!next_element(&rest, &read)) {
            return refuse(text, error);
        }
    }
    return 0;
}

uint32_t aq_torso_state(const char *text)
{
    const char *rest = text[0] != '\0' ? elements_of(text) : NULL;
    uint32_t width = 0;
    while (rest != NULL) {
        element read = {0};
        const bool is_read = next_element(&rest, &read);
        width += is_read && read.kind->keeps_state ? read.numbers[0] : 0;
    }
    return width;
}

int aq_torso_add(const char *text, const aq_space *obs, enum aq_activation activation,
                 uint32_t *ret_width, aq_net_spec *spec, aq_error *error)
{
    torso_end end = {.activation = activation, .width = (uint32_t)aq_space_elements(obs)};
    const char *rest = text[0] != '\0' ? elements_of(text) : NULL;
    int rc = 0;
    end.is_picture = aq_space_is_picture(obs, &end.picture);
    while (rest != NULL && rc == 0) {
        element read;
        rc = next_element(&rest, &read) ? read.kind->add(read.numbers, &end, spec, error)
                                        : refuse(text, error);
    }
    rc = rc == 0 ? add_activation(&end, spec, error) : rc;
    if (rc == 0) {
        *ret_width = end.width;
    }
    return rc;
}
