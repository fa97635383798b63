/*
 * Env picture: see env_picture.h.
 */
#include "cli/play/env_picture.h"

#include <string.h>

#include "common/base/parse.h"

enum { TEXT_BYTES = 256, SCHEMA_TEXT_BYTES = 128, RGB = 3 };

/* ---- whether there is one ------------------------------------------------------------------- */

/* A picture of bytes: rows, columns and, perhaps, channels. */
static bool is_image(const aq_env *env)
{
    const aq_space *obs = &env->schema.obs;
    return obs->kind == AQ_SPACE_BOX && obs->dtype == AQ_DTYPE_U8 &&
           (obs->rank == 2 || obs->rank == 3);
}

static uint32_t channels_of(const aq_space *obs)
{
    return obs->rank == 3 ? obs->shape[2] : 1;
}

/* "game:, gym: and so on": the suites some of whose tasks are drawn, each once. They stand side by
 * side in the list. */
static void list_suites(char *out, size_t size)
{
    const char *last = "";
    size_t last_length = 0, used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *class = aq_env_at(i);
        const size_t length = strcspn(class->name, ":") + 1;
        const bool is_new = length != last_length || strncmp(class->name, last, length) != 0;
        if (class->draw == NULL || !is_new) {
            continue;
        }
        if (aq_text_format(out + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)length,
                           class->name) != 0) {
            return;
        }
        used += strlen(out + used);
        last = class->name;
        last_length = length;
    }
}

int aq_env_picture_check(const aq_env *env, aq_error *error)
{
    char schema[SCHEMA_TEXT_BYTES], suites[TEXT_BYTES];
    if (env->can_be_drawn || is_image(env)) {
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
    const aq_space *obs = &env->schema.obs;
    *ret_rows = is_image(env) ? obs->shape[0] : 0;
    *ret_columns = is_image(env) ? obs->shape[1] : 0;
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

static void draw_image(const aq_space *space, const uint8_t *obs, aq_canvas *canvas)
{
    const uint32_t rows = space->shape[0], columns = space->shape[1];
    const uint32_t channels = channels_of(space);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++, obs += channels) {
            aq_canvas_cell(canvas, rows, columns, row, column, cell_colour(obs, channels));
        }
    }
}

void aq_env_picture_draw(const aq_env *env, const void *state, const void *obs, aq_canvas *canvas)
{
    if (env->can_be_drawn) {
        env->class->draw(env->params, state, canvas);
    } else {
        draw_image(&env->schema.obs, obs, canvas);
    }
}
