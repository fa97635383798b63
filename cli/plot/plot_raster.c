/*
 * Plot raster: see plot_raster.h. Lines and letters are strokes on a canvas, whose borders are
 * smooth; bands are see-through and are blended column by column, so that no pixel is blended
 * twice where two parts of a band meet.
 */
#include "cli/plot/plot_raster.h"

#include <math.h>

#include "cli/play/png_picture.h"
#include "cli/plot/plot_letters.h"
#include "cli/text/plain_text.h"
#include "common/base/memory.h"
#include "common/base/utf8.h"

enum { PIXELS_PER_PX = 2 };

#define BAND_SHARE 0.18

/* Shares of the letters' line: how high a capital is, how thick a stroke. */
#define CAPITAL_SHARE 0.72
#define WEIGHT_SHARE  0.085
#define BOLD_SHARE    0.125

static const aq_colour white = {255, 255, 255};
static const aq_colour ink = {0x1c, 0x20, 0x26};
static const aq_colour axis_grey = {0x6d, 0x76, 0x80};
static const aq_colour grid_grey = {0xe3, 0xe6, 0xea};
static const aq_colour palette[AQ_PALETTE_COLOURS] = {
    {0x24, 0x66, 0xc9}, {0xd1, 0x59, 0x0b}, {0x18, 0x83, 0x4a}, {0x8a, 0x3f, 0xb5},
    {0xc4, 0x28, 0x3c}, {0x0f, 0x7f, 0x8c}, {0x7d, 0x5a, 0x1c}, {0x5b, 0x64, 0x70},
};

static aq_plot_raster *raster_of(aq_plot_pen *pen)
{
    return (aq_plot_raster *)pen;
}

static aq_colour colour_of(uint32_t colour)
{
    return palette[colour % AQ_PALETTE_COLOURS];
}

/* ---- strokes -------------------------------------------------------------------------------- */

static double unit_of(const aq_canvas *canvas)
{
    return canvas->width < canvas->height ? canvas->width : canvas->height;
}

static aq_point point_of(const aq_canvas *canvas, aq_plot_at at)
{
    return (aq_point){(at.x * PIXELS_PER_PX - 0.5 * canvas->width) / unit_of(canvas),
                      (at.y * PIXELS_PER_PX - 0.5 * canvas->height) / unit_of(canvas)};
}

static void stroke(aq_plot_raster *raster, aq_plot_at from, aq_plot_at to, double thickness,
                   aq_colour colour)
{
    aq_canvas *canvas = &raster->canvas;
    if (raster->pen.rc == 0) {
        aq_canvas_stroke(canvas, point_of(canvas, from), point_of(canvas, to),
                         thickness * PIXELS_PER_PX / unit_of(canvas), colour);
    }
}

/* A line of marks and gaps; `*walked` is how far along its pattern it is, in px. */
static void stroke_dashed(aq_plot_raster *raster, aq_plot_at from, aq_plot_at to, double thickness,
                          aq_colour colour, double mark, double gap, double *walked)
{
    const double length = hypot(to.x - from.x, to.y - from.y);
    double at = 0;
    while (at < length) {
        const double phase = fmod(*walked, mark + gap);
        const double left = phase < mark ? mark - phase : mark + gap - phase;
        const double end = fmin(length, at + fmax(left, 1e-3));
        if (phase < mark) {
            const double a = at / length, b = end / length;
            stroke(raster, (aq_plot_at){from.x + a * (to.x - from.x), from.y + a * (to.y - from.y)},
                   (aq_plot_at){from.x + b * (to.x - from.x), from.y + b * (to.y - from.y)},
                   thickness, colour);
        }
        *walked += end - at;
        at = end;
    }
}

static void draw_rule(aq_plot_pen *pen, enum aq_plot_rule rule, aq_plot_at from, aq_plot_at to)
{
    aq_plot_raster *raster = raster_of(pen);
    double walked = 0;
    if (rule == AQ_RULE_LEVEL) {
        stroke_dashed(raster, from, to, 1.5, axis_grey, 2, 4, &walked);
    } else {
        stroke(raster, from, to, 1, rule == AQ_RULE_GRID ? grid_grey : axis_grey);
    }
}

static void draw_whisker(aq_plot_pen *pen, aq_plot_at from, aq_plot_at to)
{
    stroke(raster_of(pen), from, to, 1.2, ink);
}

static void draw_curve(aq_plot_pen *pen, uint32_t colour, const char *name,
                       const aq_plot_at *points, size_t count)
{
    aq_plot_raster *raster = raster_of(pen);
    double walked = 0;
    (void)name; /* pixels have none */
    if (count == 1) {
        stroke(raster, points[0], points[0], 2, colour_of(colour));
    }
    for (size_t i = 0; i + 1 < count; i++) {
        if (aq_plot_is_dashed(colour)) {
            stroke_dashed(raster, points[i], points[i + 1], 2, colour_of(colour), 7, 5, &walked);
        } else {
            stroke(raster, points[i], points[i + 1], 2, colour_of(colour));
        }
    }
}

/* ---- areas ---------------------------------------------------------------------------------- */

static uint8_t mix(uint8_t under, uint8_t over, double share)
{
    return (uint8_t)lrint(under + (over - under) * share);
}

static void blend(aq_canvas *canvas, uint32_t row, uint32_t column, aq_colour colour, double share)
{
    uint8_t *pixel = canvas->pixels + ((size_t)row * canvas->width + column) * 3;
    pixel[0] = mix(pixel[0], colour.red, share);
    pixel[1] = mix(pixel[1], colour.green, share);
    pixel[2] = mix(pixel[2], colour.blue, share);
}

/* Part of a column of pixels, from `top` down to `bottom`, which may be within pixels. */
static void blend_column(aq_canvas *canvas, uint32_t column, double top, double bottom,
                         aq_colour colour)
{
    const double end = fmin(bottom, canvas->height);
    for (double row = fmax(0, floor(top)); row < end; row++) {
        const double cover = fmin(bottom, row + 1) - fmax(top, row);
        blend(canvas, (uint32_t)row, column, colour, BAND_SHARE * cover);
    }
}

static void draw_band(aq_plot_pen *pen, uint32_t colour, const aq_plot_cut *cuts, size_t count)
{
    aq_canvas *canvas = &raster_of(pen)->canvas;
    for (size_t i = 0; pen->rc == 0 && i + 1 < count; i++) {
        const aq_plot_cut from = cuts[i], to = cuts[i + 1];
        /* The columns whose middles are from here up to there. */
        const double first = ceil(from.x * PIXELS_PER_PX - 0.5);
        const double end = fmin(ceil(to.x * PIXELS_PER_PX - 0.5), canvas->width);
        for (double column = fmax(0, first); column < end; column++) {
            const double at = ((column + 0.5) / PIXELS_PER_PX - from.x) / (to.x - from.x);
            blend_column(
                canvas, (uint32_t)column, PIXELS_PER_PX * (from.top + at * (to.top - from.top)),
                PIXELS_PER_PX * (from.bottom + at * (to.bottom - from.bottom)), colour_of(colour));
        }
    }
}

static void draw_box(aq_plot_pen *pen, uint32_t colour, const char *name, aq_plot_box box)
{
    aq_plot_raster *raster = raster_of(pen);
    aq_canvas *canvas = &raster->canvas;
    (void)name;
    const aq_point corners[] = {
        point_of(canvas, (aq_plot_at){box.x, box.y}),
        point_of(canvas, (aq_plot_at){box.x + box.width, box.y}),
        point_of(canvas, (aq_plot_at){box.x + box.width, box.y + box.height}),
        point_of(canvas, (aq_plot_at){box.x, box.y + box.height}),
    };
    if (pen->rc == 0) {
        aq_canvas_polygon(canvas, corners, 4, colour_of(colour));
    }
}

/* ---- letters -------------------------------------------------------------------------------- */

/* Where letters go: (0, 0) of the text's own grid is at `at`, one unit is `unit` px. */
typedef struct letter_place {
    aq_plot_at at;
    double unit;
    bool upwards;
    double weight; /* px */
} letter_place;

static aq_plot_at place_point(const letter_place *place, double x, const char *pair)
{
    const double along = (x + pair[0] - '0') * place->unit;
    const double down = (pair[1] - '0' - AQ_LETTER_BASELINE) * place->unit;
    return place->upwards ? (aq_plot_at){place->at.x + down, place->at.y - along}
                          : (aq_plot_at){place->at.x + along, place->at.y + down};
}

static void draw_strokes(aq_plot_raster *raster, const letter_place *place, double x,
                         const char *strokes)
{
    for (const char *pair = strokes; *pair;) {
        if (*pair == ' ') {
            pair++;
            continue;
        }
        const bool goes_on = pair[2] != '\0' && pair[2] != ' ';
        const bool alone = !goes_on && (pair == strokes || pair[-1] == ' ');
        if (goes_on || alone) {
            stroke(raster, place_point(place, x, pair),
                   place_point(place, x, goes_on ? pair + 2 : pair),
                   alone ? 1.4 * place->weight : place->weight, ink);
        }
        pair += 2;
    }
}

/* Draws when `raster` is there; the width in units of the grid. */
static double walk_text(aq_plot_raster *raster, const letter_place *place, const char *text)
{
    double x = 0;
    uint32_t code;
    size_t size;
    for (const char *at = text; (size = aq_utf8_decode(at, &code)) > 0; at += size) {
        uint32_t width;
        const char *strokes = aq_plot_letter(code, &width);
        if (raster) {
            draw_strokes(raster, place, x, strokes);
        }
        x += width + AQ_LETTER_SPACING;
    }
    return x > 0 ? x - AQ_LETTER_SPACING : 0;
}

static void draw_text(aq_plot_pen *pen, enum aq_plot_lettering lettering,
                      enum aq_plot_anchor anchor, bool upwards, aq_plot_at at, const char *text)
{
    char plain[AQ_PLOT_TEXT_BYTES];
    const double px = aq_plot_letters_px(lettering);
    letter_place place = {
        .at = at,
        .unit = px * CAPITAL_SHARE / AQ_LETTER_BASELINE,
        .upwards = upwards,
        .weight = px * (lettering == AQ_LETTERS_TITLE ? BOLD_SHARE : WEIGHT_SHARE),
    };
    text = aq_plain_text(plain, sizeof(plain), text);
    const double share = anchor == AQ_ANCHOR_END ? 1 : anchor == AQ_ANCHOR_MIDDLE ? 0.5 : 0;
    const double back = share * place.unit * walk_text(NULL, &place, text);
    if (upwards) {
        place.at.y += back;
    } else {
        place.at.x -= back;
    }
    (void)walk_text(raster_of(pen), &place, text);
}

/* ---- the picture ---------------------------------------------------------------------------- */

static const aq_plot_pen_class raster_class = {
    .rule = draw_rule,
    .curve = draw_curve,
    .band = draw_band,
    .box = draw_box,
    .whisker = draw_whisker,
    .text = draw_text,
};

void aq_plot_raster_begin(aq_plot_raster *raster, uint32_t width, uint32_t height)
{
    *raster = (aq_plot_raster){
        .pen = {.class = &raster_class},
        .canvas = {.width = width * PIXELS_PER_PX, .height = height * PIXELS_PER_PX},
    };
    aq_canvas *canvas = &raster->canvas;
    canvas->pixels = aq_alloc_unset((size_t)canvas->width * canvas->height, 3);
    if (canvas->pixels == NULL) {
        raster->pen.rc = AQ_E_NOMEM;
        return;
    }
    aq_canvas_fill(canvas, white);
}

int aq_plot_raster_end(aq_plot_raster *raster, aq_buffer *out)
{
    aq_canvas *canvas = &raster->canvas;
    int rc = raster->pen.rc;
    if (rc == 0) {
        rc = aq_png_picture(canvas->width, canvas->height, canvas->pixels, out);
    }
    aq_free(canvas->pixels);
    canvas->pixels = NULL;
    return rc;
}
