/*
 * Compare columns: what a comparison tells of each arm, declared once: the page, the terminal, the
 * CSV and the JSON walk a list of precisions, or one of modes, in its order. In the JSON modes have
 * what precisions have, too.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_COLUMNS_H
#define AQ_CLI_COMPARE_COMPARE_COLUMNS_H

#include "cli/compare/compare_summary.h"

/* What stands together, in which order. The last two are no list of columns. */
#define AQ_COMPARE_TABLES(X)                                                                       \
    X(AQ_PRECISION_REACHED, AQ_COMPARE_PRECISIONS,                                                 \
      "Means over seeds with 95 % intervals. Less fp32: what the same versions earned as "         \
      "broadcast, less in fp32.")                                                                  \
    X(AQ_PRECISION_COST, AQ_COMPARE_PRECISIONS,                                                    \
      "Means of a whole run. An actor's steps are those in a second in which it does not wait "    \
      "for replay.")                                                                               \
    X(AQ_MODE_REACHED, AQ_COMPARE_MODES,                                                           \
      "What was reached, and when: means over seeds with 95 % intervals.")                         \
    X(AQ_MODE_COST, AQ_COMPARE_MODES,                                                              \
      "What it took: means of a whole run. Efficiency: steps/s over as many times those of one "   \
      "learner with one actor.")                                                                   \
    X(AQ_MODE_USE, AQ_COMPARE_MODES, "Who used the processors: processor time of a run, by role.") \
    X(AQ_MODE_GRADIENTS, AQ_COMPARE_MODES, "What its gradients were like.")                        \
    X(AQ_MODE_BEHIND, AQ_COMPARE_MODES,                                                            \
      "How many versions what was learned from was behind: share of the rows (of the gradients, "  \
      "where actors push them).")                                                                  \
    X(AQ_MODE_SCALING, AQ_COMPARE_MODES,                                                           \
      "Efficiency of so many side by side, 1 where each does as much as one alone: measured, on "  \
      "the processors that there were, or by the model, where each actor and rank of what was "    \
      "measured could have one of its own.")
#define AQ_COMPARE_TABLE_CONSTANT(table, subject, caption) table,
enum aq_compare_table { AQ_COMPARE_TABLES(AQ_COMPARE_TABLE_CONSTANT) AQ_COMPARE_TABLE_COUNT };

enum aq_compare_place {
    AQ_ON_PAGE = 1,
    AQ_ON_TERMINAL = 2,
    AQ_IN_CSV = 4,
    AQ_IN_JSON = 8,
    AQ_IN_ANY = 15,
};

enum aq_compare_kind {
    AQ_KIND_RETURN,
    AQ_KIND_TIME, /* a mean of durations */
    AQ_KIND_STEPS,
    AQ_KIND_COUNT,
    AQ_KIND_RATE,
    AQ_KIND_DURATION,
    AQ_KIND_JOULES,
    AQ_KIND_NUMBER,
    AQ_KIND_AMOUNT, /* a number in four digits */
    AQ_KIND_BYTES,
    AQ_KIND_SHARE,
    AQ_KIND_RATIO,
    AQ_KIND_TIMES,    /* a ratio, as "2.00x" */
    AQ_KIND_CROSSING, /* a time, in the row's words */
    AQ_KIND_SPEEDUP,  /* times, or why there are none */
    AQ_KIND_SIZE,
    AQ_KIND_SOURCE,  /* of energy */
    AQ_KIND_MISSING, /* why there is no speed-up */
    AQ_KIND_STATE,   /* what became of the runs, where not all finished */
};

/* What a row holds of a kind. */
enum aq_compare_stored { AQ_STORED_MEAN_CI, AQ_STORED_DOUBLE, AQ_STORED_SIZE, AQ_STORED_WORDS };
enum aq_compare_stored aq_compare_kind_stored(enum aq_compare_kind kind);

typedef struct aq_compare_column {
    enum aq_compare_table table;
    const char *key;    /* of JSON and CSV */
    const char *title;  /* for people */
    const char *method; /* how it was come by, a sentence's worth; NULL: the title says it */
    enum aq_compare_kind kind;
    size_t offset;           /* in a row */
    const char *short_title; /* on a terminal; NULL: the same */
    const char *ci95_key;    /* of half its interval; NULL: of none */
    unsigned places;         /* where it is; 0: in all of them */
} aq_compare_column;

/* The next of a subject's columns that is in one of the places, the first where `last` is NULL;
 * NULL behind the last. Static storage. */
const aq_compare_column *aq_compare_column_next(enum aq_compare_subject subject, unsigned places,
                                                const aq_compare_column *last);

/* The number itself, and half its interval, NaN where there is none; of words NaN. */
double aq_compare_column_value(const aq_compare_column *column, const aq_compare_row *row,
                               double *ret_ci95);

/* Those of a source, and why there is no speed-up; NULL: there are none. Static storage, or lent by
 * the row. */
const char *aq_compare_column_words(const aq_compare_column *column, const aq_compare_row *row);

/* "12.3 +- 0.4 s", "not reached (2 of 3)"; "-" for none. The page has other signs. */
void aq_compare_column_text(const aq_compare_column *column, const aq_compare_summary *summary,
                            const aq_compare_row *row, enum aq_compare_place place, char *out,
                            size_t size);

#endif
