/*
 * Compare mode figures: what a comparison of modes tells of each, declared once: the page, the
 * terminal, the CSV and the JSON walk this list.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_MODE_FIGURES_H
#define AQ_CLI_COMPARE_COMPARE_MODE_FIGURES_H

#include "cli/compare/compare_summary.h"

/* What stands together. */
#define AQ_MODE_TABLES(X)                                                                          \
    X(AQ_MODE_REACHED, "What was reached, and when: means over seeds with 95 % intervals.")        \
    X(AQ_MODE_COST, "What it took: means of a whole run. Efficiency: steps/s over as many times "  \
                    "those of one learner with one actor.")                                        \
    X(AQ_MODE_USE, "Who used the processors: seconds of processor time of a run, by role.")        \
    X(AQ_MODE_GRADIENTS, "What its gradients were like.")
enum aq_mode_table { AQ_MODE_TABLES(AQ_CHOICE_CONSTANT) AQ_MODE_TABLE_COUNT };
const char *aq_mode_table_caption(enum aq_mode_table table); /* static storage */

enum aq_mode_kind {
    AQ_KIND_RETURN, /* an aq_mean_ci, as the two below; the others are doubles */
    AQ_KIND_TIME,
    AQ_KIND_STEPS,
    AQ_KIND_COUNT,
    AQ_KIND_NUMBER,
    AQ_KIND_BYTES,
    AQ_KIND_SHARE,
    AQ_KIND_RATIO,
};

typedef struct aq_mode_figure {
    enum aq_mode_table table;
    const char *key;    /* of JSON and CSV; an interval is <key>_ci95 */
    const char *title;  /* for people */
    const char *method; /* how it was come by, a sentence's worth */
    enum aq_mode_kind kind;
    size_t offset; /* in a row */
} aq_mode_figure;

size_t aq_mode_figure_count(void);
const aq_mode_figure *aq_mode_figure_at(size_t i); /* static storage */

/* The number itself, and half its interval; the latter NaN where there is none. */
double aq_mode_figure_value(const aq_mode_figure *figure, const aq_compare_row *row,
                            double *ret_ci95);

/* "12.3 ± 0.4 s", "not reached (2 of 3)"; "-" for none. Returns `out`. */
const char *aq_mode_figure_text(const aq_mode_figure *figure, const aq_compare_row *row, char *out,
                                size_t size);

#endif
