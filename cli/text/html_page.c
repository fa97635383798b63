/*
 * HTML page: see html_page.h.
 */
#include "cli/text/html_page.h"

#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

/* Colours are those of the figures (plot_svg.c). On paper nothing may be scrolled, so tables shrink
 * and break their lines; on a phone figures are scrolled rather than made too small to read. */
static const char style[] =
    "<style>\n"
    ":root{--ink:#1c2026;--paper:#fff;--line:#dfe3e8;--soft:#56606c;--raised:#f4f6f8}\n"
    "@media screen and (prefers-color-scheme:dark){"
    ":root{--ink:#e6e9ed;--paper:#14171c;--line:#2b3038;--soft:#a3adba;--raised:#1b2027}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.55 system-ui,'DejaVu Sans',sans-serif;font-variant-numeric:tabular-nums;"
    "color:var(--ink);background:var(--paper);max-width:82rem;margin:2rem auto;padding:0 1.25rem}\n"
    "h1{font-size:1.6rem;line-height:1.25;overflow-wrap:anywhere}"
    "h2{font-size:1.2rem;margin:2.2rem 0 .6rem}\n"
    "p{max-width:46rem;overflow-wrap:anywhere}\n"
    ".wide{overflow-x:auto;margin:0 0 1.4rem}p.soft{margin:.4rem 0 .2rem;font-size:.9rem}\n"
    "table{border-collapse:collapse;font-size:.9rem}\n"
    "th,td{padding:.35rem .7rem;border-bottom:1px solid var(--line);text-align:right;"
    "white-space:nowrap}th{color:var(--soft)}\n"
    "th:first-child,td:first-child{padding-left:0}\n"
    "th:first-child,td:first-child,.words{text-align:left}\n"
    ".soft{color:var(--soft)}\n"
    "pre{overflow-x:auto;font-size:.85rem;line-height:1.5;border:1px solid var(--line);"
    "background:var(--raised);border-radius:.5rem;padding:.7rem .9rem}\n"
    ".figures{display:grid;gap:1.2rem;margin:1rem 0;"
    "grid-template-columns:repeat(auto-fit,minmax(min(34rem,100%),1fr))}\n"
    "figure{margin:0;min-width:0;overflow-x:auto;break-inside:avoid}"
    "svg{max-width:100%;height:auto}\n"
    "@media screen and (max-width:40rem){body{margin:1rem auto;padding:0 .9rem}"
    "h1{font-size:1.3rem}figure svg{width:36rem;max-width:none}}\n"
    "@media print{body{max-width:none;margin:0;padding:0;font-size:10.5pt}.figures{display:block}"
    ".wide,figure{overflow:visible}figure{margin:.6rem 0}"
    "table{width:100%;font-size:8.5pt}th,td{white-space:normal;padding:.15rem .3rem}"
    "h2{break-after:avoid}p.soft{break-after:avoid}tr{break-inside:avoid}"
    "pre{white-space:pre-wrap}}\n"
    "</style>\n";

void aq_html_begin(aq_long_text *out, const char *title)
{
    aq_long_text_add(out, "%s<title>", head);
    aq_long_text_add_html(out, title);
    aq_long_text_add(out, "</title>\n%s</head>\n<body>\n", style);
}

void aq_html_end(aq_long_text *out)
{
    aq_long_text_add(out, "</body>\n</html>\n");
}

void aq_html_heading(aq_long_text *out, const char *text)
{
    aq_long_text_add(out, "<h1>");
    aq_long_text_add_html(out, text);
    aq_long_text_add(out, "</h1>\n");
}

/* ---- tables --------------------------------------------------------------------------------- */

void aq_html_table_begin(aq_long_text *out, const char *caption)
{
    aq_long_text_add(out,
                     "<p class=\"soft\">%s</p>\n<div class=\"wide\" tabindex=\"0\"><table>\n"
                     "<thead><tr>",
                     caption);
}

void aq_html_table_rows(aq_long_text *out)
{
    aq_long_text_add(out, "</tr></thead>\n<tbody>\n");
}

void aq_html_table_end(aq_long_text *out)
{
    aq_long_text_add(out, "</tbody></table></div>\n");
}

static void add_cell(aq_long_text *out, const char *begin, const char *text)
{
    aq_long_text_add(out, "%s", begin);
    aq_long_text_add_html(out, text);
    aq_long_text_add(out, "</td>");
}

void aq_html_figure(aq_long_text *out, const char *text)
{
    add_cell(out, "<td>", text);
}

void aq_html_words(aq_long_text *out, const char *text)
{
    add_cell(out, "<td class=\"words\">", text);
}

void aq_html_mean(aq_long_text *out, const char *mean, const char *spread)
{
    aq_long_text_add(out, "<td>%s%s%s</td>", mean, spread != NULL ? " \u00b1 " : "",
                     spread != NULL ? spread : "");
}

void aq_html_methods_begin(aq_long_text *out)
{
    aq_long_text_add(out, "<details><summary>How each figure was come by</summary>\n<table>\n");
}

void aq_html_method(aq_long_text *out, const char *figure, const char *text)
{
    aq_long_text_add(out, "<tr><td>%s</td><td class=\"words\">%s</td></tr>\n", figure, text);
}

void aq_html_methods_end(aq_long_text *out)
{
    aq_long_text_add(out, "</table></details>\n");
}

/* ---- lines ---------------------------------------------------------------------------------- */

void aq_html_lines(aq_long_text *out, aq_long_text *lines, const char *before, const char *after)
{
    char *rest = NULL;
    aq_long_text_add(lines, "%c", '\0'); /* a text from here on */
    for (char *line = lines->rc == 0 ? strtok_r((char *)lines->bytes.data, "\n", &rest) : NULL;
         line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        aq_long_text_add(out, "%s", before);
        aq_long_text_add_html(out, line);
        aq_long_text_add(out, "%s", after);
    }
}
