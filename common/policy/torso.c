/*
 * The kinds of elements, the names of lists of them, and how both are read.
 */
#include "common/policy/torso.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS_MAX = 3, ELEMENT_TEXT_MAX = 48, SPACE_TEXT_BYTES = 128 };

/* What the layers so far give. */
typedef struct torso_end {
    enum aq_activation activation;
    uint32_t width;
    bool is_picture;
    aq_picture_shape picture;
} torso_end;

typedef struct element_kind {
    const char *word;
    const char *form; /* of what stands behind the colon: capitals are a number */
    bool keeps_state; /* of as many values as its first number says */
    int (*add)(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error);
} element_kind;

typedef struct element {
    const element_kind *kind;
    uint32_t numbers[NUMBERS_MAX];
} element;

/* ---- the kinds ------------------------------------------------------------------------------ */

static int add_conv(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const aq_picture_shape *from = &end->picture;
    const aq_conv_shape shape = {.height = from->height,
                                 .width = from->width,
                                 .channels = from->channels,
                                 .filters = numbers[0],
                                 .kernel = numbers[1],
                                 .stride = numbers[2]};
    if (!end->is_picture) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.torso: a convolution takes a picture, of (height, width) or "
                       "(height, width, channels), and here it would be given %" PRIu32 " numbers",
                       end->width);
    }
    if (shape.kernel > shape.height || shape.kernel > shape.width) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.torso: patches of %" PRIu32 " x %" PRIu32
                       " do not fit into what is there for them, %" PRIu32 " x %" PRIu32,
                       shape.kernel, shape.kernel, shape.height, shape.width);
    }
    const aq_layer_spec layer = aq_layer_conv2d(&shape, end->activation);
    end->picture = (aq_picture_shape){.height = aq_conv_out_height(&shape),
                                      .width = aq_conv_out_width(&shape),
                                      .channels = shape.filters};
    end->width = layer.outputs;
    return aq_net_spec_add(spec, &layer, error);
}

/* What the input says to the gates, and they. */
static int add_gru(const uint32_t *numbers, torso_end *end, aq_net_spec *spec, aq_error *error)
{
    const uint32_t width = numbers[0];
    const aq_layer_spec said =
        aq_layer_linear(end->width, AQ_GRU_GATES * width, AQ_ACTIVATION_NONE);
    const aq_layer_spec gru = aq_layer_gru(width);
    int rc = aq_net_spec_add(spec, &said, error);
    *end = (torso_end){.activation = end->activation, .width = width};
    return rc == 0 ? aq_net_spec_add(spec, &gru, error) : rc;
}

static const element_kind kinds[] = {
    {"conv", "FILTERSxKERNEL/STRIDE", false, add_conv},
    {"gru", "WIDTH", true, add_gru},
};

/* MinAtar's (Young and Tian, 2019) and that of DQN in Nature (Mnih et al., 2015). */
static const struct named_torso {
    const char *name, *elements;
} names[] = {
    {"minatar", "conv:16x3/1"},
    {"nature", "conv:32x8/4,conv:64x4/2,conv:64x3/1"},
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
            ret_element->kind = &kinds[i];
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
    size_t used = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        used += (size_t)snprintf(possible + used, sizeof(possible) - used, "%s, ", names[i].name);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        used += (size_t)snprintf(possible + used, sizeof(possible) - used, "%s%s:%s",
                                 i > 0 ? ", " : "or a list of ", kinds[i].word, kinds[i].form);
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
    if (rc == 0) {
        *ret_width = end.width;
    }
    return rc;
}
