/*
 * What ranks make of their gradients, in each format, and what rounding leaves for later.
 */
#include "common/base/rng.h"
#include "learner/gradients/gradient_exchange.h"
#include "tests/support/rank_crew.h"
#include "tests/support/test.h"

enum { COUNT_MAX = 5000, FORMATS = 3, NOBODY = CREW_MAX };

/* Some exchanges of all ranks, one after the other, each of what the ranks hold by then. */
typedef struct trade {
    enum aq_gradient_format format;
    size_t count;
    unsigned rounds;
    uint32_t order[CREW_MAX]; /* whose gradient a rank has */
    uint32_t bad;             /* a rank without a gradient in the first round */
    float given[CREW_MAX][COUNT_MAX];
    float got[CREW_MAX][COUNT_MAX];   /* of the last round */
    double sums[CREW_MAX][COUNT_MAX]; /* of all */
    int codes[CREW_MAX], first_code[CREW_MAX];
    uint64_t bytes[CREW_MAX];
} trade;

static trade traded;

static trade *trade_of(enum aq_gradient_format format, size_t count)
{
    aq_rng rng = rng_of(5, 0);
    traded = (trade){.format = format, .count = count, .rounds = 1, .bad = NOBODY};
    for (uint32_t rank = 0; rank < CREW_MAX; rank++) {
        traded.order[rank] = rank;
        for (size_t i = 0; i < count; i++) {
            /* Sizes differ by bucket and by rank. */
            const double size = (1.0 + rank) * (i < AQ_GRADIENT_BUCKET ? 1e-3 : 10.0);
            traded.given[rank][i] = (float)aq_rng_range(&rng, -size, size);
        }
    }
    return &traded;
}

static void act(void *user, aq_rank_link *link)
{
    trade *t = user;
    aq_gradient_exchange *exchange = NULL;
    const uint32_t rank = link->rank;
    t->codes[rank] = aq_gradient_exchange_create(link, t->format, &exchange);
    if (t->codes[rank] == 0) {
        t->codes[rank] = aq_gradient_exchange_reserve(exchange, t->count);
    }
    for (unsigned round = 0; t->codes[rank] == 0 && round < t->rounds; round++) {
        float *got = t->got[rank];
        memcpy(got, t->given[t->order[rank]], t->count * sizeof(*got));
        const bool is_good = round > 0 || rank != t->bad;
        int rc = aq_gradient_mean(exchange, is_good, 0, got, t->count);
        t->first_code[rank] = round == 0 ? rc : t->first_code[rank];
        t->codes[rank] = round == 0 && t->bad != NOBODY ? 0 : rc;
        for (size_t i = 0; rc == 0 && i < t->count; i++) {
            t->sums[rank][i] += (double)got[i];
        }
    }
    t->bytes[rank] = aq_gradient_exchange_figures(exchange).sent_bytes;
    aq_gradient_exchange_destroy(exchange);
}

static double mean_given(const trade *t, uint32_t ranks, size_t i)
{
    double sum = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        sum += (double)t->given[rank][i];
    }
    return sum / ranks;
}

/* The most that one exchange may be off: half a unit for each rounding. */
static double error_max(enum aq_gradient_format format, uint32_t ranks, double mean, size_t i)
{
    const double size = ranks * (i < AQ_GRADIENT_BUCKET ? 1e-3 : 10.0);
    return format == AQ_GRADIENT_FP32   ? 1e-6 * size
           : format == AQ_GRADIENT_BF16 ? size / 256 + fabs(mean) / 256
                                        : 1.001 * size / 127;
}

static void assert_all_have_the_mean(const trade *t, uint32_t ranks)
{
    for (uint32_t rank = 0; rank < ranks; rank++) {
        assert_int_equal(t->codes[rank], 0);
        assert_memory_equal(t->got[rank], t->got[0], t->count * sizeof(float));
    }
    for (size_t i = 0; i < t->count; i++) {
        const double mean = mean_given(t, ranks, i);
        assert_true(fabs((double)t->got[0][i] - mean) <= error_max(t->format, ranks, mean, i));
    }
}

TEST(all_ranks_get_the_same_mean_in_every_format)
{
    static const size_t counts[] = {
        1, AQ_GRADIENT_BUCKET - 1, AQ_GRADIENT_BUCKET, AQ_GRADIENT_BUCKET + 1, 1025, COUNT_MAX};
    for (uint32_t format = 0; format < FORMATS; format++) {
        for (uint32_t ranks = 1; ranks <= CREW_MAX; ranks++) {
            for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
                trade *t = trade_of(format, counts[c]);
                crew_run(ranks, 0, act, t);
                assert_all_have_the_mean(t, ranks);
            }
        }
    }
}

TEST(what_is_rounded_off_is_given_later)
{
    enum { RANKS = 3, ROUNDS = 200 };
    for (uint32_t format = AQ_GRADIENT_BF16; format < FORMATS; format++) {
        trade *t = trade_of(format, COUNT_MAX);
        t->rounds = ROUNDS;
        crew_run(RANKS, 0, act, t);
        for (size_t i = 0; i < t->count; i++) {
            const double mean = mean_given(t, RANKS, i);
            const double bound = 2.0 * error_max(format, RANKS, mean, i);
            assert_true(fabs(t->sums[0][i] - ROUNDS * mean) <= bound);
        }
    }
}

TEST(int8_is_the_same_in_any_order_of_the_ranks)
{
    enum { RANKS = 4 };
    static float before[COUNT_MAX];
    trade *t = trade_of(AQ_GRADIENT_INT8, COUNT_MAX);
    crew_run(RANKS, 0, act, t);
    memcpy(before, t->got[0], sizeof(before));
    t = trade_of(AQ_GRADIENT_INT8, COUNT_MAX);
    memcpy(t->order, (const uint32_t[]){2, 0, 3, 1}, sizeof(t->order));
    crew_run(RANKS, 0, act, t);
    assert_memory_equal(t->got[0], before, sizeof(before));
}

static void assert_bytes(uint32_t ranks)
{
    uint64_t bytes[FORMATS];
    for (uint32_t format = 0; format < FORMATS; format++) {
        trade *t = trade_of(format, 4096);
        crew_run(ranks, 0, act, t);
        bytes[format] = t->bytes[0];
    }
    assert_int_equal(bytes[AQ_GRADIENT_FP32], 2 * (ranks - 1) * 4096 / ranks * sizeof(float));
    assert_in_range(1000 * bytes[AQ_GRADIENT_BF16], 500 * bytes[0], 505 * bytes[0]);
    assert_in_range(1000 * bytes[AQ_GRADIENT_INT8], 250 * bytes[0], 266 * bytes[0]);
}

TEST(formats_take_a_half_and_a_quarter_of_the_bytes_for_any_number_of_ranks)
{
    assert_bytes(2);
    assert_bytes(CREW_MAX);
}

TEST(a_rank_without_a_gradient_spoils_the_step_for_all_and_nothing_else)
{
    enum { RANKS = 3 };
    static float fresh[COUNT_MAX];
    for (uint32_t format = 0; format < FORMATS; format++) {
        trade *t = trade_of(format, COUNT_MAX);
        crew_run(RANKS, 0, act, t);
        memcpy(fresh, t->got[0], sizeof(fresh));
        t = trade_of(format, COUNT_MAX);
        t->rounds = 2;
        t->bad = 1;
        crew_run(RANKS, 0, act, t);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            assert_int_equal(t->first_code[rank], AQ_E_CORRUPT);
            assert_int_equal(t->codes[rank], 0);
        }
        assert_memory_equal(t->got[0], fresh, sizeof(fresh));
    }
}

/* What is no gradient is not rounded, and leaves nothing for the next one. */
static void act_plainly(void *user, aq_rank_link *link)
{
    trade *t = user;
    aq_gradient_exchange *exchange = NULL;
    const uint32_t rank = link->rank;
    double sums[] = {1.0 + rank, rank == t->bad ? (double)NAN : 0.5};
    memcpy(t->got[rank], t->given[rank], t->count * sizeof(float));
    int rc = aq_gradient_exchange_create(link, t->format, &exchange);
    rc = rc == 0 ? aq_gradient_exchange_reserve(exchange, t->count) : rc;
    rc = rc == 0 ? aq_gradient_exchange_mean(exchange, true, t->got[rank], t->count) : rc;
    t->codes[rank] = rc == 0 ? aq_gradient_exchange_sum(exchange, sums, 2) : rc;
    memcpy(t->sums[rank], sums, sizeof(sums));
    aq_gradient_exchange_destroy(exchange);
}

TEST(other_numbers_are_not_rounded_in_any_format)
{
    for (uint32_t format = 0; format < FORMATS; format++) {
        for (uint32_t ranks = 1; ranks <= CREW_MAX; ranks++) {
            trade *t = trade_of(format, COUNT_MAX);
            t->bad = 1;
            crew_run(ranks, 0, act_plainly, t);
            t->format = AQ_GRADIENT_FP32;
            assert_all_have_the_mean(t, ranks);
            for (uint32_t rank = 0; rank < ranks; rank++) {
                assert_true(t->sums[rank][0] == ranks * (ranks + 1) / 2.0);
                assert_true(ranks == 1 ? t->sums[rank][1] == 0.5 : isnan(t->sums[rank][1]));
            }
        }
    }
}

/* Of fp32 as a number that the norm is made of, of the others as a code. */
TEST(one_number_that_is_none_reaches_all)
{
    for (uint32_t format = 0; format < FORMATS; format++) {
        trade *t = trade_of(format, COUNT_MAX);
        t->given[1][2000] = NAN;
        crew_run(2, 0, act, t);
        for (uint32_t rank = 0; rank < 2; rank++) {
            assert_true(t->codes[rank] == AQ_E_CORRUPT || isnan(t->got[rank][2000]));
        }
        assert_int_equal(t->codes[0], t->codes[1]);
    }
}

TEST(a_rank_that_is_lost_is_an_error_at_every_call)
{
    for (uint32_t format = 0; format < FORMATS; format++) {
        for (unsigned call = 1; call <= 2u + (format != AQ_GRADIENT_FP32); call++) {
            trade *t = trade_of(format, COUNT_MAX);
            crew_run(2, call, act, t);
            assert_int_equal(t->codes[0], AQ_E_PEER);
        }
    }
}

TEST(alone_nothing_happens)
{
    float gradient[] = {1, NAN};
    assert_succeeds(aq_gradient_mean(NULL, true, 0, gradient, 2));
    assert_int_equal(aq_gradient_mean(NULL, false, 0, gradient, 2), AQ_E_CORRUPT);
    assert_succeeds(aq_gradient_exchange_mean(NULL, true, gradient, 2));
    assert_succeeds(aq_gradient_exchange_sum(NULL, (double[]){1}, 1));
    assert_true(gradient[0] == 1.0f);
    assert_succeeds(aq_gradient_exchange_reserve(NULL, 10));
    assert_int_equal(aq_gradient_exchange_ranks(NULL), 1);
    aq_gradient_exchange_destroy(NULL);
}

TEST(rates_follow_the_number_of_ranks_as_they_are_told_to)
{
    aq_run_config config = {.learner.rank_rate = AQ_RANK_RATE_NONE};
    assert_true(aq_rank_rate(&config, 4) == 1);
    config.learner.rank_rate = AQ_RANK_RATE_SQRT;
    assert_true(aq_rank_rate(&config, 4) == 2 && aq_rank_rate(&config, 1) == 1);
    config.learner.rank_rate = AQ_RANK_RATE_LINEAR;
    assert_true(aq_rank_rate(&config, 4) == 4);
}

TEST(it_is_made_despite_failing_allocations)
{
    aq_rank_link link = {.count = 2};
    for (uint32_t format = 0; format < FORMATS; format++) {
        aq_gradient_exchange *exchange = NULL;
        assert_fails_without_memory(aq_gradient_exchange_create(&link, format, &exchange));
        assert_succeeds(aq_gradient_exchange_create(&link, format, &exchange));
        assert_fails_without_memory(aq_gradient_exchange_reserve(exchange, 5000));
        aq_gradient_exchange_destroy(exchange);
    }
}
