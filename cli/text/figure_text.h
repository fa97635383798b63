/*
 * Figures as short texts for people: "12.3k", "1.5 MB", "2m05s", and "-" for a measurement that
 * does not exist yet. Each call needs a room of its own while its text is in use.
 */
#ifndef AQ_CLI_TEXT_FIGURE_TEXT_H
#define AQ_CLI_TEXT_FIGURE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct aq_figure {
    char text[32];
} aq_figure;

/* All return room->text. What is not finite becomes "-". */
const char *aq_figure_count(aq_figure *room, double count);
const char *aq_figure_bytes(aq_figure *room, double bytes);
const char *aq_figure_duration(aq_figure *room, double seconds);
const char *aq_figure_joules(aq_figure *room, double joules); /* "12.3 J", "2.5 kJ" */

/* What there is of a second: a count, but of two digits below ten: "2.5", "0.04". */
const char *aq_figure_rate(aq_figure *room, double per_s);

/* Four digits, "%.4g"; as aq_text_return has it, with one decimal. */
const char *aq_figure_number(aq_figure *room, double value);
const char *aq_figure_return(aq_figure *room, double value);

/* A share as "12 %", "0.4 %"; what is not all is "99.9 %" at most. */
const char *aq_figure_share(aq_figure *room, double share);

/* What the best version reached, by the learner's word. */
typedef struct aq_best_figure {
    double mean, std; /* NaN: nothing is known */
    uint64_t version;
    uint64_t episodes; /* 0: nobody knows of how many */
    bool is_fresh;     /* they had no part in its choice; else it is a screening */
} aq_best_figure;

/* "187.5 +- 25.5 over 120 fresh episodes of version 31"; returns out. */
const char *aq_figure_best(const aq_best_figure *best, char *out, size_t size);

#endif
