/*
 * Env picture: see env_picture.h.
 */
#include "envs/env_picture.h"

#include <string.h>

#include "common/base/parse.h"

enum { TEXT_BYTES = 256, SCHEMA_TEXT_BYTES = 128, RGB = 3 };

/* ---- whether there is one ------------------------------------------------------------------- */

/* Of bytes. */
static bool is_image(const aq_env *env, aq_picture_shape *ret_shape)
{
    const aq_space *obs = &env->schema.obs;
    return aq_space_is_picture(obs, ret_shape) && obs->dtype == AQ_DTYPE_U8;
}

/* "game:, gym: and so on": the suites some of whose tasks are drawn, each once. They stand side by
 * side in the list. */
static void list_suites(char *out, size_t size)
{
    const char *last = "";
    size_t last_length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *class = aq_env_at(i);
        const size_t length = strcspn(class->name, ":") + 1;
        const bool is_new = length != last_length || strncmp(class->name, last, length) != 0;
        if (class->draw == NULL || !is_new) {
            continue;
        }
        aq_text_append(out, size, "%s%.*s", out[0] != '\0' ? ", " : "", (int)length, class->name);
        last = class->name;
        last_length = length;
    }
}

int aq_env_picture_check(const aq_env *env, aq_error *error)
{
    char schema[SCHEMA_TEXT_BYTES], suites[TEXT_BYTES];
    aq_picture_shape shape;
    if (env->can_be_drawn || is_image(env, &shape)) {
        return 0;
    }
    list_suites(suites, sizeof(suites));
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "there is no picture of %s: it does not draw itself, and what is seen of it is "
                   "no image (%s); tasks of %s and those with images of u8 can be looked at",
                   env->name, aq_schema_text(&env->schema, schema, sizeof(schema)), suites);
}

void aq_env_picture_cells(const aq_env *env, uint32_t *ret_rows, uint32_t *ret_columns)
{
    aq_picture_shape shape;
    const bool has_cells = is_image(env, &shape);
    *ret_rows = has_cells ? shape.height : 0;
    *ret_columns = has_cells ? shape.width : 0;
}

/* ---- images --------------------------------------------------------------------------------- */

static uint8_t scaled(uint8_t value, uint8_t brightness)
{
    return (uint8_t)((value * brightness + 127) / 255);
}

/* Grey for one channel, red, green and blue for three; of others the brightest one's colour, in its
 * brightness. */
static aq_colour cell_colour(const uint8_t *cell, uint32_t channels)
{
    static const aq_colour colours[] = {
        {255, 255, 255}, {240, 100, 80},  {90, 150, 250}, {250, 205, 70},
        {110, 220, 120}, {200, 120, 230}, {90, 220, 220}, {160, 160, 160},
    };
    uint32_t best = 0;
    if (channels == RGB) {
        return (aq_colour){cell[0], cell[1], cell[2]};
    }
    for (uint32_t i = 1; i < channels; i++) {
        best = cell[i] > cell[best] ? i : best;
    }
    const aq_colour colour = colours[best % (sizeof(colours) / sizeof(colours[0]))];
    return (aq_colour){scaled(colour.red, cell[best]), scaled(colour.green, cell[best]),
                       scaled(colour.blue, cell[best])};
}

static void draw_image(const aq_picture_shape *shape, const uint8_t *obs, aq_canvas *canvas)
{
    for (uint32_t row = 0; row < shape->height; row++) {
        for (uint32_t column = 0; column < shape->width; column++, obs += shape->channels) {
            aq_canvas_cell(canvas, shape->height, shape->width, row, column,
                           cell_colour(obs, shape->channels));
        }
    }
}

/* ---- frames --------------------------------------------------------------------------------- */

/* The mean of the pixels that lie in one of the canvas. */
static aq_colour mean_colour(const aq_env_frame *frame, uint32_t row, uint32_t rows,
                             uint32_t column, uint32_t columns)
{
    uint64_t sums[RGB] = {0};
    for (uint32_t y = row; y < row + rows; y++) {
        for (uint32_t x = column; x < column + columns; x++) {
            for (uint32_t i = 0; i < RGB; i++) {
                sums[i] += frame->pixels[((uint64_t)y * frame->columns + x) * RGB + i];
            }
        }
    }
    const uint64_t count = (uint64_t)rows * columns;
    return (aq_colour){(uint8_t)(sums[0] / count), (uint8_t)(sums[1] / count),
                       (uint8_t)(sums[2] / count)};
}

/* As large as it fits without being bent, in the middle. */
static void draw_frame(const aq_env_frame *frame, aq_canvas *canvas)
{
    const double across = (double)canvas->width / frame->columns;
    const double down = (double)canvas->height / frame->rows;
    const double scale = across < down ? across : down;
    const double left = 0.5 * (canvas->width - scale * frame->columns);
    const double top = 0.5 * (canvas->height - scale * frame->rows);
    const uint32_t side = scale < 1.0 ? (uint32_t)(1.0 / scale) : 1;
    aq_canvas_fill(canvas, (aq_colour){0, 0, 0});
    for (uint32_t y = 0; y < canvas->height; y++) {
        for (uint32_t x = 0; x < canvas->width; x++) {
            const double row = (y + 0.5 - top) / scale, column = (x + 0.5 - left) / scale;
            if (row < 0.0 || column < 0.0 || row >= frame->rows || column >= frame->columns) {
                continue;
            }
            const uint32_t first = (uint32_t)row, other = (uint32_t)column;
            const uint32_t rows = frame->rows - first < side ? frame->rows - first : side;
            const uint32_t columns = frame->columns - other < side ? frame->columns - other : side;
            const aq_colour colour = mean_colour(frame, first, rows, other, columns);
            aq_canvas_cell(canvas, canvas->height, canvas->width, y, x, colour);
        }
    }
}

int aq_env_picture_draw(const aq_env *env, void *state, const void *obs, aq_canvas *canvas,
                        const char **ret_text)
{
    aq_env_frame frame;
    aq_picture_shape shape;
    *ret_text = NULL;
    if (!env->can_be_drawn) {
        if (is_image(env, &shape)) {
            draw_image(&shape, obs, canvas);
        }
    } else if (env->class->frame == NULL) {
        env->class->draw(env->params, state, canvas);
    } else if (!env->class->frame(env->params, state, &frame)) {
        return AQ_E_PEER;
    } else if (frame.pixels == NULL) {
        *ret_text = frame.text;
    } else {
        draw_frame(&frame, canvas);
    }
    return 0;
}
