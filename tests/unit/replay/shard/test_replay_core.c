/*
 * The core: what is stored and acknowledged, what is drawn, and who waits.
 */
#include "replay/shard/replay_core.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

static aq_replay_core *core_with(const aq_run_settings *settings)
{
    aq_replay_core *core = NULL;
    aq_shard_run run = kit_run(settings);
    assert_succeeds(aq_replay_core_create(&run, 0, &core, &refusal));
    return core;
}

static aq_replay_core *core_of(void)
{
    aq_run_settings settings = kit_settings();
    return core_with(&settings);
}

#define TEST_OF_CORE(name) TEST_OF(name, aq_replay_core *core, core_of(), kit_drop_core)

static enum aq_replay_verdict send(aq_replay_core *core, uint64_t seq, uint64_t acknowledged,
                                   uint32_t steps)
{
    enum aq_replay_verdict verdict = AQ_REPLAY_GAP;
    aq_experience message = kit_message(1, seq, acknowledged, 100 * seq, steps);
    assert_int_equal(aq_replay_core_insert(core, 0, kit_arrival(&message), &verdict, NULL), 0);
    return verdict;
}

static aq_credit call(aq_replay_core *core, int64_t now_ns, uint64_t known_acknowledged,
                      uint64_t known_granted)
{
    aq_credit_call call = {1, 1001, known_acknowledged, known_granted, 0, 0};
    aq_credit credit = {0};
    assert_int_equal(aq_replay_core_called(core, now_ns, &call, NULL), 0);
    aq_replay_core_share(core, now_ns);
    assert_true(aq_replay_core_answer(core, now_ns, &call, true, &credit));
    return credit;
}

TEST_OF_CORE(a_stored_message_is_counted_and_acknowledged)
{
    assert_int_equal(send(core, 1, 0, 20), AQ_REPLAY_STORED);
    aq_replay_counters counters = aq_replay_core_counters(core);
    assert_int_equal(counters.inserted, 20);
    assert_int_equal(counters.stored, 20);
    assert_int_equal(counters.messages, 1);
    aq_credit credit = call(core, 0, 0, 0);
    assert_int_equal(credit.acknowledged, 1);
    assert_int_equal(credit.expected, 2);
}

TEST_OF_CORE(duplicates_and_gaps_are_dropped_and_counted)
{
    assert_int_equal(send(core, 1, 0, 4), AQ_REPLAY_STORED);
    assert_int_equal(send(core, 1, 0, 4), AQ_REPLAY_DUPLICATE);
    assert_int_equal(send(core, 3, 0, 4), AQ_REPLAY_GAP);
    aq_replay_counters counters = aq_replay_core_counters(core);
    assert_int_equal(counters.inserted, 4);
    assert_int_equal(counters.duplicates, 1);
    assert_int_equal(counters.gaps, 1);
    assert_int_equal(call(core, 0, 0, 0).gaps, 1);
}

TEST_OF_CORE(a_restarted_shard_goes_on_where_acknowledgements_end)
{
    assert_int_equal(send(core, 8, 7, 4), AQ_REPLAY_STORED);
    assert_int_equal(call(core, 0, 7, 0).acknowledged, 8);
}

TEST_OF_CORE(a_message_packed_before_the_last_acknowledgement_does_not_block_its_actor)
{
    /* Packed when 4 was acknowledged; since then the earlier shard acknowledged up to 9. */
    assert_int_equal(send(core, 10, 4, 4), AQ_REPLAY_GAP);
    assert_int_equal(call(core, 0, 9, 0).expected, 10);
    assert_int_equal(send(core, 10, 4, 4), AQ_REPLAY_STORED);
}

/* A shard knows what it acknowledged itself: after the first call a sender's word moves nothing. */
TEST_OF_CORE(what_was_never_taken_is_never_acknowledged)
{
    enum aq_replay_verdict verdict;
    assert_int_equal(call(core, 0, 7, 0).expected, 8);
    aq_credit_call lie = {1, 1001, 8, 0, 0, 0};
    assert_refused(aq_replay_core_called(core, 0, &lie, &refusal), AQ_E_INVALID, "7 have");
    aq_experience message = kit_message(1, 10, 9, 0, 4);
    assert_refused(aq_replay_core_insert(core, 0, kit_arrival(&message), &verdict, &refusal),
                   AQ_E_INVALID, "7 have");
    assert_int_equal(call(core, 0, 7, 0).expected, 8);
}

TEST_OF_CORE(numbers_that_cannot_be_are_rejected)
{
    const struct {
        uint64_t seq, acknowledged;
    } bad[] = {{0, 0}, {3, 3}, {3, 4}, {UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX - 1}};
    EACH_ROW(i, bad) {
        enum aq_replay_verdict verdict;
        aq_experience message = kit_message(1, 1, 0, 0, 4);
        aq_arrival *arrival = kit_arrival(&message);
        arrival->seq = bad[i].seq;
        arrival->acknowledged = bad[i].acknowledged;
        assert_int_equal(aq_replay_core_insert(core, 0, arrival, &verdict, &refusal), AQ_E_INVALID);
    }
    assert_int_equal(aq_replay_core_counters(core).rejected, 5);
    assert_int_equal(aq_replay_core_actors(core), 0);
}

/* A chunk in each environment and one more. */
static uint64_t most_beyond(const aq_replay_core *core)
{
    const aq_run_settings *settings = aq_replay_core_settings(core);
    return ((uint64_t)settings->config.actor.envs + 1) * settings->config.replay.chunk_length;
}

TEST_OF_CORE(a_call_with_impossible_totals_is_refused)
{
    const aq_credit_call bad[] = {
        {1, 1, UINT64_MAX, 0, 0, 0},
        {1, 1, 0, UINT64_MAX, 0, 0},
        {1, 1, 0, 10, 10 + most_beyond(core) + 1, 0}, /* far more acknowledged than granted */
        {1, 1, 0, AQ_CREDIT_COUNT_MAX, AQ_CREDIT_COUNT_MAX + 1, 0},
    };
    EACH_ROW(i, bad) {
        assert_int_equal(aq_replay_core_called(core, 0, &bad[i], &refusal), AQ_E_INVALID);
    }
    assert_int_equal(aq_replay_core_actors(core), 0);
}

TEST_OF_CORE(an_actor_may_end_beyond_its_grant_by_what_it_had_open)
{
    aq_credit_call call = {1, 1, 0, 10, 10 + most_beyond(core), 0};
    assert_succeeds(aq_replay_core_called(core, 0, &call, &refusal));
    /* It counts against the next grant: what comes on top is new. */
    aq_replay_core_share(core, 0);
    aq_credit credit;
    assert_true(aq_replay_core_answer(core, 0, &call, true, &credit));
    assert_true(credit.granted > call.acknowledged_steps);
}

TEST_OF_CORE(a_message_that_finds_no_memory_is_still_the_next)
{
    enum aq_replay_verdict verdict;
    aq_experience message =
        kit_message(1, 1, 0, 0, 8 * 80); /* more chunks than the ring begins with */
    aq_arrival *arrival = kit_arrival(&message);
    assert_fails_without_memory(aq_replay_core_insert(core, 0, arrival, &verdict, NULL));
    assert_int_equal(aq_replay_core_counters(core).stored, 0);
    assert_int_equal(aq_replay_core_counters(core).rejected, 1);
    assert_int_equal(send(core, 1, 0, 8), AQ_REPLAY_STORED);
}

TEST_OF_CORE(more_actors_than_can_be_tracked_are_refused_in_words)
{
    for (uint64_t i = 0; i < 8192; i++) {
        aq_credit_call call = {i, 1, 0, 0, 0, 0};
        assert_succeeds(aq_replay_core_called(core, 0, &call, &refusal));
    }
    aq_credit_call call = {8192, 1, 0, 0, 0, 0};
    assert_refused(aq_replay_core_called(core, 0, &call, &refusal), AQ_E_FULL, "actor 8192");
    enum aq_replay_verdict verdict = AQ_REPLAY_GAP;
    aq_experience message = kit_message(8192, 1, 0, 0, 8);
    assert_refused(aq_replay_core_insert(core, 0, kit_arrival(&message), &verdict, &refusal),
                   AQ_E_FULL, "actor 8192");
    assert_int_equal(verdict, AQ_REPLAY_GAP);
    assert_int_equal(aq_replay_core_counters(core).stored, 0);
    assert_succeeds(aq_replay_core_called(core, 60 * AQ_NS_PER_S, &call, &refusal));
}

TEST(actors_hear_which_version_is_wanted_until_another_is)
{
    static const struct {
        uint64_t steps;
        uint32_t version_min, told;
    } asked[] = {{100, 7, 7}, {0, 0, 7}, {100, 8, 8}}; /* nothing more is wanted, and no other */
    aq_run_settings settings = kit_settings();
    settings.versions_max = 1;
    settings.tables[0] = (aq_table_spec){.name = "main",
                                         .selector = AQ_SELECTOR_QUEUE,
                                         .remover = AQ_REMOVER_FIFO,
                                         .capacity = 1000,
                                         .min_size = 1};
    aq_replay_core *core = core_with(&settings);
    EACH_ROW(i, asked) {
        aq_replay_core_ask(core, 0, asked[i].steps, asked[i].version_min);
        assert_int_equal(call(core, 0, 0, 0).version_min, asked[i].told);
    }
    kit_drop_core(core);
}

TEST_OF_CORE(sampling_waits_for_the_minimum_size)
{
    aq_batch *batch = kit_batch(core, 16);
    assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), AQ_E_AGAIN);
    send(core, 1, 0, 19);
    assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), AQ_E_AGAIN);
    send(core, 2, 0, 1);
    assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), 0);
    assert_int_equal(batch->rows, 16);
    assert_int_equal(aq_replay_core_counters(core).sampled, 16);
}

TEST_OF_CORE(sampling_stops_at_the_end_of_the_band)
{
    aq_batch *batch = kit_batch(core, 16);
    send(core, 1, 0, 20);
    for (int i = 0; i < 10; i++) { /* 160 rows: 40 steps' worth */
        assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), 0);
    }
    assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), AQ_E_AGAIN);
}

TEST(all_stored_items_are_drawn_equally_often)
{
    enum { ITEMS = 120, ROUNDS = 3000, ROWS = 16 };
    aq_run_settings settings = kit_settings();
    settings.tables[0].tolerance = 1e6;
    settings.tables[0].capacity = ITEMS;
    settings.seed = test_seed();
    aq_replay_core *core = core_with(&settings);
    at_end(kit_drop_core, core);
    /* Chunks of 8, 8, 8 and 6 steps, twice what the store holds. */
    for (uint64_t seq = 1; seq <= 2 * ITEMS / 30; seq++) {
        enum aq_replay_verdict verdict;
        aq_experience message = kit_message(1, seq, 0, 30 * (seq - 1), 30);
        assert_int_equal(aq_replay_core_insert(core, 0, kit_arrival(&message), &verdict, NULL), 0);
    }
    aq_batch *batch = kit_batch(core, ROWS);
    double counts[2 * ITEMS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        assert_int_equal(aq_replay_core_sample(core, 0, 0, ROWS, 0.0f, batch), 0);
        for (int row = 0; row < ROWS; row++) {
            counts[(int)batch->reward[row]] += 1.0;
            assert_true(batch->weight[row] == 1.0f / ITEMS);
        }
    }
    double expected = (double)ROUNDS * ROWS / ITEMS;
    double chi_square = 0.0;
    for (int i = 0; i < ITEMS; i++) {
        double off = counts[ITEMS + i] - expected;
        assert_true(counts[i] == 0.0); /* has left */
        chi_square += off * off / expected;
    }
    print_message("chi-square %.1f of %d degrees of freedom\n", chi_square, ITEMS - 1);
    assert_true(chi_square > 42.0 && chi_square < 196.0); /* 119 -+ 5 deviations of 15.4 */
}

/* What is stored stays as it came: only samples are scaled. */
TEST(samples_have_rewards_as_the_settings_shape_them)
{
    aq_run_settings settings = kit_settings();
    settings.tables[0].tolerance = 1e6;
    settings.config.learner.reward_clip = 20.0;
    settings.config.learner.reward_scale = 0.25;
    aq_replay_core *core = core_with(&settings);
    at_end(kit_drop_core, core);
    enum aq_replay_verdict verdict;
    aq_experience message = kit_message(1, 1, 0, 0, 30); /* rewards of 0 to 29 */
    assert_int_equal(aq_replay_core_insert(core, 0, kit_arrival(&message), &verdict, NULL), 0);
    aq_batch *batch = kit_batch(core, 16);
    for (int round = 0; round < 100; round++) {
        assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.0f, batch), 0);
        for (int row = 0; row < 16; row++) {
            float first; /* value of the observation: the step */
            memcpy(&first, batch->obs + (size_t)row * batch->obs_bytes, sizeof(first));
            assert_true(batch->reward[row] == 0.25f * fminf(first, 20.0f));
        }
    }
}

TEST(a_lossy_network_stores_every_step_once_and_in_order)
{
    enum { MESSAGES = 40 };
    aq_rng rng = rng_of(test_seed(), 4);
    aq_run_settings settings = kit_settings();
    settings.tables[0].capacity = 100000;
    settings.tables[0].tolerance = 1e6;
    aq_replay_core *core = core_with(&settings);
    at_end(kit_drop_core, core);
    uint64_t stored[2] = {0, 0}; /* messages, of two actors */
    uint64_t next[2] = {1, 1};
    while (stored[0] < MESSAGES || stored[1] < MESSAGES) {
        uint64_t who = aq_rng_below(&rng, 2);
        uint64_t seq = next[who];
        if (aq_rng_below(&rng, 10) < 3) { /* go back, also to what is long acknowledged */
            next[who] = 1 + stored[who] - aq_rng_below(&rng, stored[who] + 1);
            continue;
        }
        next[who] += 1 + (aq_rng_below(&rng, 10) < 2); /* lost on the way */
        if (seq > MESSAGES) {
            next[who] = stored[who] + 1;
            continue;
        }
        enum aq_replay_verdict verdict;
        aq_experience message = kit_message(1 + who, seq, 0, 10 * seq, 10);
        assert_int_equal(aq_replay_core_insert(core, 0, kit_arrival(&message), &verdict, NULL), 0);
        if (verdict == AQ_REPLAY_STORED) {
            assert_int_equal(seq, stored[who] + 1);
            stored[who]++;
        }
    }
    aq_replay_counters counters = aq_replay_core_counters(core);
    assert_int_equal(counters.inserted, 2 * MESSAGES * 10);
    assert_int_equal(counters.stored, 2 * MESSAGES * 10);
    assert_int_equal(counters.messages, 2 * MESSAGES);
    assert_true(counters.duplicates > 0);
    assert_true(counters.gaps > 0);
}

TEST_OF_CORE(waiting_says_who_waits_for_whom)
{
    aq_batch *batch = kit_batch(core, 16);
    assert_string_equal(aq_replay_core_waiting(core),
                        "learner waits: 0 of 20 steps, but no actor is there");
    call(core, 0, 0, 0);
    send(core, 1, 0, 12);
    assert_string_equal(aq_replay_core_waiting(core), "learner waits: 12 of 20 steps");
    send(core, 2, 0, 8);
    assert_string_equal(aq_replay_core_waiting(core), "");
    for (int i = 0; i < 10; i++) {
        assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), 0);
    }
    assert_string_equal(aq_replay_core_waiting(core),
                        "learner waits: 4 steps are missing for its next request");
    send(core, 3, 0, 78);
    assert_string_equal(aq_replay_core_waiting(core),
                        "actors wait: they are 38 steps ahead of the learner");
}

TEST(of_several_tables_the_learner_waits_for_those_that_it_asks)
{
    aq_run_settings settings = kit_settings();
    settings.table_count = 2;
    settings.tables[1] = settings.tables[0];
    memcpy(settings.tables[1].name, "recent", sizeof("recent"));
    aq_replay_core *core = core_with(&settings);
    at_end(kit_drop_core, core);
    call(core, 0, 0, 0);
    aq_batch *batch = kit_batch(core, 16);
    assert_int_equal(aq_replay_core_sample(core, 0, 1, 16, 0.5f, batch), AQ_E_AGAIN);
    aq_replay_core_upkeep(core, 0);
    for (int64_t ms = 1; ms < 90; ms++) { /* between two requests, too */
        aq_replay_core_upkeep(core, ms * AQ_NS_PER_MS);
        assert_string_equal(aq_replay_core_waiting(core), "recent: learner waits: 0 of 20 steps");
    }
    aq_replay_core_upkeep(core, AQ_NS_PER_S);
    assert_string_equal(aq_replay_core_waiting(core), "");
}

TEST(items_that_may_be_drawn_again_are_enough_for_a_request)
{
    aq_run_settings settings = kit_settings();
    settings.tables[0].capacity = settings.tables[0].min_size = 12;
    settings.tables[0].times_sampled_max = 8;
    aq_replay_core *core = core_with(&settings);
    at_end(kit_drop_core, core);
    call(core, 0, 0, 0);
    for (uint64_t seq = 1; seq <= 10; seq++) {
        send(core, seq, 0, 8);
    }
    assert_string_equal(aq_replay_core_waiting(core),
                        "actors wait: they are 68 steps ahead of the learner");
    aq_batch *batch = kit_batch(core, 16);
    for (int i = 0; i < 4; i++) { /* 8 items, 8 times each */
        assert_int_equal(aq_replay_core_sample(core, 0, 0, 16, 0.5f, batch), 0);
    }
    assert_string_equal(aq_replay_core_waiting(core),
                        "learner waits: 0 items are there and it asks for 16");
}

/* A request is for steps, whatever the number of sequences that make them. */
TEST(a_queue_of_sequences_is_full_by_its_steps)
{
    aq_run_settings settings = kit_settings();
    aq_table_spec *table = &settings.tables[0];
    table->selector = AQ_SELECTOR_QUEUE;
    table->samples_per_insert = 0;
    table->capacity = 64;
    table->min_size = 1;
    table->sequence_length = table->sequence_period = 4;
    settings.n_step = aq_table_spec_span(table);
    settings.sample_rows = 8; /* a reply has room for so many, whatever steps they make */
    aq_replay_core *core = core_with(&settings);
    at_end(kit_drop_core, core);
    call(core, 0, 0, 0);
    aq_replay_core_ask(core, 0, 32, 0);
    for (uint64_t seq = 1; seq <= 7; seq++) {
        send(core, seq, 0, 4);
    }
    assert_string_equal(aq_replay_core_waiting(core), "learner waits: 4 of 32 steps are missing");
    for (uint64_t seq = 8; seq <= 16; seq++) {
        send(core, seq, 0, 4);
    }
    assert_int_equal(aq_replay_tables_supply(aq_replay_core_tables(core)).headroom, 0);
    assert_string_equal(aq_replay_core_waiting(core), "actors wait: 16 items were not taken yet");
}

TEST(settings_that_could_block_both_sides_are_refused)
{
    aq_run_settings settings = kit_settings();
    aq_replay_core *core = NULL;
    settings.tables[0].tolerance = 2.0;
    aq_shard_run run = kit_run(&settings);
    assert_refused(aq_replay_core_create(&run, 0, &core, &refusal), AQ_E_INVALID,
                   "wait for each other");
    assert_null(core);
}

TEST(create_without_memory_fails_clean)
{
    aq_run_settings settings = kit_settings();
    aq_replay_core *core;
    aq_shard_run run = kit_run(&settings);
    assert_made_despite_failures(core, aq_replay_core_create(&run, 0, &core, NULL));
    aq_replay_core_destroy(core);
    aq_replay_core_destroy(NULL);
}
