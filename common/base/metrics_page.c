/*
 * Metrics page: see metrics_page.h.
 */
#include "common/base/metrics_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"

enum { NUMBER_MAX = 40 };

/* Whole numbers below it are exact, and are written as such. */
#define EXACT_MAX 9007199254740992.0

static void put_bytes(aq_metrics_page *page, const char *text, size_t size)
{
    if (page->rc == 0) {
        page->rc = aq_buffer_append(page->text, text, size);
    }
}

static void put(aq_metrics_page *page, const char *text)
{
    put_bytes(page, text, strlen(text));
}

static void put_escaped(aq_metrics_page *page, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\' || *at == '"') {
            put_bytes(page, "\\", 1);
        }
        put_bytes(page, *at == '\n' ? "\\n" : at, *at == '\n' ? 2 : 1);
    }
}

static const char *number_text(double value, char text[NUMBER_MAX])
{
    if (isinf(value)) {
        return value > 0 ? "+Inf" : "-Inf";
    }
    const bool whole = value == floor(value) && fabs(value) < EXACT_MAX;
    (void)snprintf(text, NUMBER_MAX, whole ? "%.0f" : "%.15g", value);
    return text;
}

void aq_metrics_page_begin(aq_metrics_page *page, aq_buffer *text)
{
    *page = (aq_metrics_page){.text = text, .prefix = "", .name = ""};
}

int aq_metrics_page_end(const aq_metrics_page *page)
{
    return page->rc;
}

void aq_page_family(aq_metrics_page *page, enum aq_metric_type type, const char *name,
                    const char *help)
{
    static const char *const types[] = {" counter\n", " gauge\n", " histogram\n"};
    AQ_ASSERT(strpbrk(help, "\n\\") == NULL);
    page->name = name;
    put(page, "# HELP ");
    put(page, page->prefix);
    put(page, name);
    put(page, " ");
    put(page, help);
    put(page, "\n# TYPE ");
    put(page, page->prefix);
    put(page, name);
    put(page, types[type]);
}

/* `suffix` belongs to the name. */
static void put_sample(aq_metrics_page *page, const char *suffix, const aq_metric_label *labels,
                       size_t count, double value)
{
    char text[NUMBER_MAX];
    put(page, page->prefix);
    put(page, page->name);
    put(page, suffix);
    for (size_t i = 0; i < count; i++) {
        put(page, i == 0 ? "{" : ",");
        put(page, labels[i].name);
        put(page, "=\"");
        put_escaped(page, labels[i].value);
        put(page, "\"");
    }
    put(page, count > 0 ? "} " : " ");
    put(page, number_text(value, text));
    put(page, "\n");
}

void aq_page_labelled(aq_metrics_page *page, const aq_metric_label *labels, size_t count,
                      double value)
{
    if (!isnan(value)) {
        put_sample(page, "", labels, count, value);
    }
}

void aq_page_sample(aq_metrics_page *page, const char *label, const char *label_value, double value)
{
    const aq_metric_label labels[] = {{label, label_value}};
    aq_page_labelled(page, labels, 1, value);
}

void aq_page_counter(aq_metrics_page *page, const char *name, const char *help, double value)
{
    aq_page_family(page, AQ_METRIC_COUNTER, name, help);
    aq_page_labelled(page, NULL, 0, value);
}

void aq_page_gauge(aq_metrics_page *page, const char *name, const char *help, double value)
{
    aq_page_family(page, AQ_METRIC_GAUGE, name, help);
    aq_page_labelled(page, NULL, 0, value);
}

void aq_page_histogram(aq_metrics_page *page, const char *name, const char *help,
                       const uint64_t *counts, size_t size, double unit, bool whole)
{
    uint64_t below = 0;
    aq_page_family(page, AQ_METRIC_HISTOGRAM, name, help);
    for (size_t i = 0; i < size; i++) {
        char bound[NUMBER_MAX];
        const double upper = whole ? ldexp(1, (int)i) - 1 : ldexp(1, (int)i) * unit;
        below += counts[i];
        if (i + 1 < size) {
            (void)snprintf(bound, sizeof(bound), "%.15g", upper);
            const aq_metric_label label = {"le", bound};
            put_sample(page, "_bucket", &label, 1, (double)below);
        }
    }
    const aq_metric_label rest = {"le", "+Inf"};
    put_sample(page, "_bucket", &rest, 1, (double)below);
    put_sample(page, "_count", NULL, 0, (double)below);
}
