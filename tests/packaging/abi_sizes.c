/*
 * Prints the size of each struct that libactorq and its callers share, and where its last member
 * lies.
 */
#include <actorq/actorq.h>
#include <stdio.h>

#define ROW(type, last)                                                                            \
    {                                                                                              \
#type, sizeof(type), offsetof(type, last)                                                  \
    }

int main(void)
{
    static const struct {
        const char *name;
        size_t bytes, last;
    } rows[] = {
        ROW(actorq_error, text),
        ROW(actorq_space, high),
        ROW(actorq_policy_facts, state_count),
        ROW(actorq_worth, cut_off),
        ROW(actorq_vec_facts, action),
        ROW(actorq_rows, lengths),
        ROW(actorq_value, numbers),
        ROW(actorq_column, row_bytes),
        ROW(actorq_data_facts, action),
        ROW(actorq_piece, columns),
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)printf("struct %s %zu %zu\n", rows[i].name, rows[i].bytes, rows[i].last);
    }
    return 0;
}
