/*
 * Table spec: what one table of a replay shard keeps, how items are chosen and which leave. A run
 * has one or more; all hold the same chunks, each under its own rules. The first is the "main"
 * table, made of the settings replay.*; others are described by replay.tables, one text:
 *
 *   recent: selector=lifo capacity=10000; whole: selector=queue n_step=1
 *
 * What a description leaves out is as in the main table, but for the limiter: a further table
 * stops nobody unless it says samples_per_insert itself. (Nor is it to wait for a min_size that it
 * cannot hold; and who says n_step but no sequence_length means n-step items.)
 */
#ifndef AQ_COMMON_CONFIG_TABLE_SPEC_H
#define AQ_COMMON_CONFIG_TABLE_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/choice.h"
#include "common/base/error.h"

/* Replay shards of a run at a time, and their slots. */
enum { AQ_SHARDS_MAX = 64 };

enum { AQ_TABLE_NAME_MAX = 32, AQ_TABLES_MAX = 8, AQ_SEQUENCE_LENGTH_MAX = 1024 };

#define AQ_SELECTORS(X)                                                                            \
    X(AQ_SELECTOR_UNIFORM, "uniform")         /* each live item as likely as any other */          \
    X(AQ_SELECTOR_PRIORITIZED, "prioritized") /* in proportion to priority^exponent */             \
    X(AQ_SELECTOR_FIFO, "fifo")               /* the oldest items, one after the other */          \
    X(AQ_SELECTOR_LIFO, "lifo")               /* the newest items, one after the other */          \
    X(AQ_SELECTOR_QUEUE, "queue") /* the oldest, each once; a full table makes actors wait */
enum aq_selector { AQ_SELECTORS(AQ_CHOICE_CONSTANT) };

#define AQ_REMOVERS(X)                                                                             \
    X(AQ_REMOVER_FIFO, "fifo")                       /* the oldest chunk leaves first */           \
    X(AQ_REMOVER_LOWEST_PRIORITY, "lowest-priority") /* the one of the least mean priority */
enum aq_remover { AQ_REMOVERS(AQ_CHOICE_CONSTANT) };

typedef struct aq_table_spec {
    char name[AQ_TABLE_NAME_MAX];
    uint32_t selector; /* enum aq_selector */
    uint32_t remover;  /* enum aq_remover */
    double priority_exponent;
    uint64_t capacity;          /* fresh transitions, of one shard */
    uint64_t capacity_bytes;    /* of one shard; 0: no bound */
    uint32_t times_sampled_max; /* an item that was drawn so often leaves; 0: never */
    uint32_t n_step;            /* of n-step items, 1 to 64 */
    uint32_t sequence_length;   /* 0: n-step items; else sequences of so many transitions ... */
    uint32_t sequence_period;   /* ... that start every so many transitions of an episode */
    uint64_t min_size;          /* transitions, of one shard */
    double samples_per_insert;  /* 0: no proportion is kept, min_size alone counts */
    double tolerance;           /* transitions, of one shard */
} aq_table_spec;

/* All that are numbers, in the order in which files hold them, with the sections of the settings
 * that they come from. */
#define AQ_TABLE_SPEC_NUMBERS(X)                                                                   \
    X(replay, selector)                                                                            \
    X(replay, remover)                                                                             \
    X(replay, priority_exponent)                                                                   \
    X(replay, capacity)                                                                            \
    X(replay, capacity_bytes)                                                                      \
    X(replay, times_sampled_max)                                                                   \
    X(learner, n_step)                                                                             \
    X(replay, sequence_length)                                                                     \
    X(replay, sequence_period)                                                                     \
    X(replay, min_size)                                                                            \
    X(replay, samples_per_insert)                                                                  \
    X(replay, tolerance)

/* Transitions that an item may have: n_step or sequence_length. */
uint32_t aq_table_spec_steps(const aq_table_spec *spec);

/* Transitions from the start of one item to that of the next. */
uint32_t aq_table_spec_period(const aq_table_spec *spec);

/* Whether its sequences end with their chunk, if not before: those of a queue that don't overlap.
 * So each step is in one sequence, once, and none has to wait for the steps behind it. */
bool aq_table_spec_is_cut(const aq_table_spec *spec);

/* Transitions that a chunk must hold for an item to be whole: as many as an item may have; one of
 * a table whose sequences are cut. */
uint32_t aq_table_spec_span(const aq_table_spec *spec);

/* Whether anybody asks for the priorities of its items: to choose or to remove them. */
bool aq_table_spec_uses_priorities(const aq_table_spec *spec);

/* Every number within its bounds, choices known, a name of letters, digits, '-' and '_', and what
 * contradicts itself refused: AQ_E_INVALID, naming table and setting. */
int aq_table_spec_validate(const aq_table_spec *spec, aq_error *error) AQ_MUST_USE;

/* Reads `text` (see above) into specs[1 ..], specs[0] being the main table, and checks all.
 * AQ_E_INVALID, in words that quote the part which is wrong, for a text that isn't that, a name
 * that comes twice, or more than AQ_TABLES_MAX tables. */
int aq_table_specs_parse(const char *text, aq_table_spec *specs, uint32_t *ret_count,
                         aq_error *error) AQ_MUST_USE;

#endif
