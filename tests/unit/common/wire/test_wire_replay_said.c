/*
 * What shards say is copied whole within bounds, and summed.
 */
#include "common/wire/wire_replay_said.h"
#include "tests/support/test.h"

enum { TABLES = 12, BINS = 100 };

/* A shard's words, and what they point at. */
typedef struct words {
    Actorq__V1__ReplayStats stats;
    Actorq__V1__TableStats tables[TABLES];
    Actorq__V1__TableStats *pointers[TABLES];
    char names[TABLES][300];
    uint64_t staleness[BINS], age_ms[BINS];
    char waiting[400], stuck[400];
} words;

static void say(words *said, size_t tables, size_t bins)
{
    memset(said, 0, sizeof(*said));
    actorq__v1__replay_stats__init(&said->stats);
    for (size_t i = 0; i < tables; i++) {
        actorq__v1__table_stats__init(&said->tables[i]);
        (void)snprintf(said->names[i], sizeof(said->names[i]), "table-%u", (unsigned)i);
        said->tables[i].name = said->names[i];
        said->tables[i].items = 10 + i;
        said->tables[i].mass = 0.5;
        said->tables[i].sampled = 100;
        said->tables[i].times_sampled = 4;
        said->pointers[i] = &said->tables[i];
    }
    for (size_t i = 0; i < bins; i++) {
        said->staleness[i] = i + 1;
        said->age_ms[i] = 2 * i;
    }
    said->stats.n_tables = tables;
    said->stats.tables = said->pointers;
    said->stats.n_staleness = said->stats.n_age_ms = bins;
    said->stats.staleness = said->staleness;
    said->stats.age_ms = said->age_ms;
    said->stats.waiting = said->waiting;
    said->stats.stuck = said->stuck;
}

TEST(a_copy_stands_on_its_own)
{
    static words said;
    aq_replay_said copy;
    say(&said, 2, 5);
    said.stats.inserted = 77;
    (void)snprintf(said.waiting, sizeof(said.waiting), "for actors");
    aq_replay_said_copy(&copy, &said.stats);
    memset(&said, 0xff, sizeof(said));

    assert_int_equal(copy.stats.inserted, 77);
    assert_int_equal(copy.stats.n_tables, 2);
    assert_string_equal(copy.stats.tables[1]->name, "table-1");
    assert_int_equal(copy.stats.tables[1]->items, 11);
    assert_int_equal(copy.stats.n_staleness, 5);
    assert_int_equal(copy.stats.staleness[4], 5);
    assert_int_equal(copy.stats.age_ms[4], 8);
    assert_string_equal(copy.stats.waiting, "for actors");
    assert_string_equal(copy.stats.stuck, "");
    assert_true(protobuf_c_message_check(&copy.stats.base));
    assert_true(protobuf_c_message_get_packed_size(&copy.stats.base) > 0);
}

TEST(what_is_too_much_is_cut)
{
    static words said;
    aq_replay_said copy;
    say(&said, TABLES, BINS);
    memset(said.waiting, 'w', sizeof(said.waiting) - 1);
    memset(said.stuck, 's', sizeof(said.stuck) - 1);
    memset(said.names[0], 'n', sizeof(said.names[0]) - 1);
    aq_replay_said_copy(&copy, &said.stats);
    assert_int_equal(copy.stats.n_tables, AQ_TABLES_MAX);
    assert_int_equal(copy.stats.n_staleness, AQ_SAID_BINS_MAX);
    assert_int_equal(copy.stats.n_age_ms, AQ_SAID_BINS_MAX);
    assert_int_equal(strlen(copy.stats.waiting), AQ_SAID_TEXT_MAX - 1);
    assert_int_equal(strlen(copy.stats.stuck), AQ_SAID_TEXT_MAX - 1);
    assert_int_equal(strlen(copy.stats.tables[0]->name), AQ_TABLE_NAME_MAX - 1);

    aq_replay_said_clear(&copy);
    aq_replay_said_add(&copy, &said.stats);
    aq_replay_said_add(&copy, &said.stats);
    assert_int_equal(copy.stats.n_tables, AQ_TABLES_MAX);
    assert_int_equal(copy.stats.tables[0]->items, 20);
    assert_int_equal(copy.stats.n_staleness, AQ_SAID_BINS_MAX);
}

TEST(a_sum_of_nothing_says_nothing)
{
    aq_replay_said sum;
    aq_replay_said_clear(&sum);
    assert_int_equal(sum.stats.inserted, 0);
    assert_int_equal(sum.stats.n_tables, 0);
    assert_string_equal(sum.stats.waiting, "");
    assert_true(protobuf_c_message_check(&sum.stats.base));
}

TEST(shards_are_summed)
{
    static words a, b;
    aq_replay_said sum;
    say(&a, 2, 3);
    say(&b, 1, 5);
    a.stats.inserted = 100;
    b.stats.inserted = 11;
    a.stats.stored = 30;
    b.stats.stored = 10;
    a.stats.bytes_per_step = 100;
    b.stats.bytes_per_step = 120;
    a.stats.insert_per_s = 5;
    b.stats.insert_per_s = NAN; /* rubbish */
    b.stats.learner_waited_s = 2.5;
    a.stats.damaged = 3;
    b.stats.damaged = 4;
    a.tables[1].mass = NAN; /* only there */
    a.tables[0].stale = 5;
    b.tables[0].stale = 6;
    b.tables[0].sampled = 300;
    b.tables[0].times_sampled = 8;
    aq_replay_said_clear(&sum);
    aq_replay_said_add(&sum, &a.stats);
    aq_replay_said_add(&sum, &b.stats);

    assert_int_equal(sum.stats.inserted, 111);
    assert_int_equal(sum.stats.stored, 40);
    assert_true(sum.stats.bytes_per_step == 105);
    assert_true(sum.stats.insert_per_s == 5);
    assert_true(sum.stats.learner_waited_s == 2.5);
    assert_int_equal(sum.stats.damaged, 7);
    assert_int_equal(sum.stats.tables[0]->stale, 11);
    assert_int_equal(sum.stats.n_tables, 2);
    assert_int_equal(sum.stats.tables[0]->items, 20);
    assert_int_equal(sum.stats.tables[0]->sampled, 400);
    assert_true(sum.stats.tables[0]->mass == 1);
    assert_true(sum.stats.tables[0]->times_sampled == 7); /* 100 of 4, 300 of 8 */
    assert_int_equal(sum.stats.tables[1]->items, 11);
    assert_true(sum.stats.tables[1]->mass == 0);
    assert_int_equal(sum.stats.n_staleness, 5);
    assert_int_equal(sum.stats.staleness[0], 2);
    assert_int_equal(sum.stats.staleness[4], 5);
    assert_int_equal(sum.stats.age_ms[2], 8);
}

TEST(the_longest_wait_and_the_first_that_is_stuck_are_told)
{
    static words said;
    static const struct {
        const char *waiting, *stuck;
        double waiting_s;
    } shards[] = {{"", "", 50}, {"a", "", 2}, {"b", "disk full", 7}, {"c", "gone", 3}};
    aq_replay_said sum;
    aq_replay_said_clear(&sum);
    EACH_ROW(i, shards) {
        say(&said, 0, 0);
        (void)snprintf(said.waiting, sizeof(said.waiting), "%s", shards[i].waiting);
        (void)snprintf(said.stuck, sizeof(said.stuck), "%s", shards[i].stuck);
        said.stats.waiting_s = shards[i].waiting_s;
        aq_replay_said_add(&sum, &said.stats);
    }
    assert_string_equal(sum.stats.waiting, "b");
    assert_true(sum.stats.waiting_s == 7);
    assert_string_equal(sum.stats.stuck, "disk full");
}
