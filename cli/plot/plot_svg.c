/*
 * Plot SVG: see plot_svg.h. Looks are in classes of one style sheet, which each picture carries:
 * several pictures in a page have the same rules. The picture has a background of its own, so that
 * its colours are right whatever is behind it.
 */
#include "cli/plot/plot_svg.h"

#include <inttypes.h>

#include "common/base/plain_text.h"

static const char style[] =
    "<style>\n"
    ".aq-plot text{font-family:system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#1c2026}\n"
    ".aq-plot .aq-tick{font-size:12px}.aq-plot .aq-label{font-size:13px}\n"
    ".aq-plot .aq-title{font-size:15px;font-weight:600}\n"
    ".aq-plot .aq-ground{fill:#ffffff}\n"
    ".aq-plot .aq-grid{stroke:#e3e6ea;stroke-width:1}\n"
    ".aq-plot .aq-axis{stroke:#6d7680;stroke-width:1}\n"
    ".aq-plot .aq-level{stroke:#6d7680;stroke-width:1.5;stroke-dasharray:2 4}\n"
    ".aq-plot .aq-curve{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
    ".aq-plot .aq-dashed{stroke-dasharray:7 5}\n"
    ".aq-plot .aq-band{stroke:none;fill-opacity:.18}\n"
    ".aq-plot .aq-0{color:#2466c9}.aq-plot .aq-1{color:#d1590b}\n"
    ".aq-plot .aq-2{color:#18834a}.aq-plot .aq-3{color:#8a3fb5}\n"
    ".aq-plot .aq-4{color:#c4283c}.aq-plot .aq-5{color:#0f7f8c}\n"
    ".aq-plot .aq-6{color:#7d5a1c}.aq-plot .aq-7{color:#5b6470}\n"
    "@media screen and (prefers-color-scheme:dark){\n"
    ".aq-plot text{fill:#e6e9ed}.aq-plot .aq-ground{fill:#14171c}\n"
    ".aq-plot .aq-grid{stroke:#2b3038}.aq-plot .aq-axis{stroke:#8b949f}\n"
    ".aq-plot .aq-level{stroke:#8b949f}\n"
    ".aq-plot .aq-0{color:#6ea8ff}.aq-plot .aq-1{color:#ff9e57}\n"
    ".aq-plot .aq-2{color:#52c785}.aq-plot .aq-3{color:#c792ea}\n"
    ".aq-plot .aq-4{color:#ff7b86}.aq-plot .aq-5{color:#4ccad6}\n"
    ".aq-plot .aq-6{color:#d1a85c}.aq-plot .aq-7{color:#a3adba}\n"
    "}\n"
    "</style>\n";

static void put_cut(aq_long_text *svg, const char *text)
{
    char plain[AQ_PLOT_TEXT_BYTES];
    aq_long_text_add_html(svg, aq_plain_text(plain, sizeof(plain), text));
}

static void put_name(aq_long_text *svg, const char *name)
{
    if (name) {
        aq_long_text_add(svg, "<title>");
        put_cut(svg, name);
        aq_long_text_add(svg, "</title>");
    }
}

/* ---- strokes -------------------------------------------------------------------------------- */

void aq_plot_svg_rule(aq_long_text *svg, enum aq_plot_rule rule, aq_plot_at from, aq_plot_at to)
{
    static const char *const classes[] = {
        [AQ_RULE_GRID] = "aq-grid", [AQ_RULE_AXIS] = "aq-axis", [AQ_RULE_LEVEL] = "aq-level"};
    aq_long_text_add(svg, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                     classes[rule], from.x, from.y, to.x, to.y);
}

void aq_plot_svg_curve(aq_long_text *svg, uint32_t colour, const char *name,
                       const aq_plot_at *points, size_t count)
{
    aq_long_text_add(svg, "<g class=\"aq-%" PRIu32 "\">", colour % AQ_PALETTE_COLOURS);
    put_name(svg, name);
    aq_long_text_add(svg, "<polyline class=\"aq-curve%s\" stroke=\"currentColor\" points=\"",
                     colour / AQ_PALETTE_COLOURS % 2 == 1 ? " aq-dashed" : "");
    for (size_t i = 0; i < count; i++) {
        aq_long_text_add(svg, "%s%.1f,%.1f", i > 0 ? " " : "", points[i].x, points[i].y);
    }
    if (count == 1) { /* the round ends of a line without length are a dot */
        aq_long_text_add(svg, " %.1f,%.1f", points[0].x, points[0].y);
    }
    aq_long_text_add(svg, "\"/></g>\n");
}

void aq_plot_svg_band(aq_long_text *svg, uint32_t colour, const aq_plot_cut *cuts, size_t count)
{
    aq_long_text_add(
        svg, "<g class=\"aq-%" PRIu32 "\"><polygon class=\"aq-band\" fill=\"currentColor\" ",
        colour % AQ_PALETTE_COLOURS);
    aq_long_text_add(svg, "points=\"");
    for (size_t i = 0; i < count; i++) {
        aq_long_text_add(svg, "%s%.1f,%.1f", i > 0 ? " " : "", cuts[i].x, cuts[i].top);
    }
    for (size_t i = count; i > 0; i--) {
        aq_long_text_add(svg, " %.1f,%.1f", cuts[i - 1].x, cuts[i - 1].bottom);
    }
    aq_long_text_add(svg, "\"/></g>\n");
}

void aq_plot_svg_box(aq_long_text *svg, uint32_t colour, const char *name, aq_plot_box box)
{
    aq_long_text_add(svg, "<g class=\"aq-%" PRIu32 "\">", colour % AQ_PALETTE_COLOURS);
    put_name(svg, name);
    aq_long_text_add(
        svg,
        "<rect class=\"aq-box\" fill=\"currentColor\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
        "height=\"%.1f\"/></g>\n",
        box.x, box.y, box.width, box.height);
}

/* A picture within the picture, which hides what hangs over; a clip path would need a name that no
 * other picture of a page has. */
void aq_plot_svg_clip(aq_long_text *svg, aq_plot_box box)
{
    aq_long_text_add(svg,
                     "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                     "viewBox=\"%.1f %.1f %.1f %.1f\">\n",
                     box.x, box.y, box.width, box.height, box.x, box.y, box.width, box.height);
}

void aq_plot_svg_clip_end(aq_long_text *svg)
{
    aq_long_text_add(svg, "</svg>\n");
}

void aq_plot_svg_text(aq_long_text *svg, enum aq_plot_lettering lettering,
                      enum aq_plot_anchor anchor, bool upwards, aq_plot_at at, const char *text)
{
    static const char *const classes[] = {[AQ_LETTERS_TICK] = "aq-tick",
                                          [AQ_LETTERS_LABEL] = "aq-label",
                                          [AQ_LETTERS_TITLE] = "aq-title"};
    static const char *const anchors[] = {
        [AQ_ANCHOR_START] = "start", [AQ_ANCHOR_MIDDLE] = "middle", [AQ_ANCHOR_END] = "end"};
    aq_long_text_add(svg, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\"",
                     classes[lettering], anchors[anchor], at.x, at.y);
    if (upwards) {
        aq_long_text_add(svg, " transform=\"rotate(-90 %.1f %.1f)\"", at.x, at.y);
    }
    aq_long_text_add(svg, ">");
    put_cut(svg, text);
    aq_long_text_add(svg, "</text>\n");
}

void aq_plot_svg_begin(aq_long_text *svg, uint32_t width, uint32_t height, const char *title)
{
    aq_long_text_add(svg,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"aq-plot\" role=\"img\" "
                     "viewBox=\"0 0 %" PRIu32 " %" PRIu32 "\" width=\"%" PRIu32
                     "\" height=\"%" PRIu32 "\">\n",
                     width, height, width, height);
    put_name(svg, title);
    aq_long_text_add(svg, "%s", style);
    aq_long_text_add(svg,
                     "<rect class=\"aq-ground\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\"/>\n",
                     width, height);
}

void aq_plot_svg_end(aq_long_text *svg)
{
    aq_long_text_add(svg, "</svg>\n");
}
