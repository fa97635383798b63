/*
 * How ranks come together: what rank 0 says, who can't take part, and that all begin alike.
 */
#include "common/sys/cpu.h"
#include "learner/daemon/ranks.h"
#include "learner/nn/products.h"
#include "tests/support/rank_crew.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { RANKS = 2, TIMEOUT_MS = 1000 };

typedef struct start {
    const char *hidden[RANKS]; /* of each rank's network */
    bool is_bf16;              /* rank 0 */
    int reason;                /* why rank 1 can't take part, with words; 0: it can */
    int codes[RANKS];
    aq_error errors[RANKS];
    uint64_t hashes[RANKS];
    aq_rank_birth heard;
    uint32_t products; /* of rank 1 */
    int64_t patience_ms;
} start;

static start began;
static bool is_bf16; /* of the next one */

static void set_patience(aq_rank_link *link, int64_t patience_ms)
{
    if (link->rank == 0) {
        began.patience_ms = patience_ms;
    }
}

static int tell(start *s, aq_ranks *ranks)
{
    char config[] = "seed: 3\n";
    const aq_rank_birth said = {
        .run_id = 7, .first_step = 42, .is_bf16 = s->is_bf16, .config = config};
    return ranks->link->rank == 0
               ? aq_ranks_say_birth(ranks, &said, &s->errors[0])
               : aq_ranks_hear_birth(ranks->link, &s->heard, &s->errors[ranks->link->rank]);
}

static void act(void *user, aq_rank_link *link)
{
    start *s = user;
    const uint32_t own = link->rank;
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, FIXTURE_ACTIONS);
    aq_run_config config = fixture_config();
    aq_ranks ranks = {0};
    aq_agent *agent = NULL;
    aq_error *error = &s->errors[own];
    (void)snprintf(config.learner.hidden, sizeof(config.learner.hidden), "%s", s->hidden[own]);
    link->set_patience = set_patience;
    int rc = aq_ranks_make(link, &config, &ranks, error);
    if (rc == 0) {
        rc = tell(s, &ranks);
    }
    if (rc == 0 && own != 0) {
        rc = aq_ranks_take_products(&s->heard, &config, error);
        s->products = config.learner.products;
    }
    const aq_algorithm_setup setup = {
        .config = &config, .schema = &schema, .seed = own, .exchange = ranks.exchange};
    if (rc == 0) {
        rc = aq_agent_create(&aq_dqn_class, &setup, &agent, error);
    }
    if (rc == 0 && own == 1 && s->reason != 0) {
        rc = aq_fail(error, s->reason, "there is no such task here");
    }
    s->codes[own] = aq_ranks_begin(&ranks, agent, rc, NULL, TIMEOUT_MS, error);
    if (agent != NULL) {
        aq_named_arrays arrays;
        aq_agent_arrays(agent, &arrays);
        s->hashes[own] = aq_named_arrays_hash(&arrays);
    }
    aq_agent_destroy(agent);
    aq_ranks_fini(&ranks);
}

static start *start_of(const char *first, const char *second, unsigned lost_at, int reason)
{
    aq_free(began.heard.config);
    began = (start){.hidden = {first, second}, .reason = reason, .is_bf16 = is_bf16};
    crew_run(RANKS, lost_at, act, &began);
    return &began;
}

TEST(all_begin_where_rank_0_is_though_they_were_made_from_other_seeds)
{
    const start *s = start_of("16,12", "16,12", 0, 0);
    assert_int_equal(s->codes[0], 0);
    assert_int_equal(s->codes[1], 0);
    assert_true(s->hashes[0] == s->hashes[1]);
    assert_int_equal(s->heard.run_id, 7);
    assert_int_equal(s->heard.first_step, 42);
    assert_string_equal(s->heard.config, "seed: 3\n");
    assert_int_equal(s->patience_ms, TIMEOUT_MS);
}

TEST(who_cannot_take_part_is_named_to_all)
{
    static const struct {
        const char *hidden;
        int reason, code;
        const char *words;
    } rows[] = {{"16,13", 0, AQ_E_INVALID, "rank 1 made another network than rank 0"},
                {"16,12", AQ_E_NOT_FOUND, AQ_E_NOT_FOUND, "rank 1: there is no such task here"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const start *s = start_of("16,12", rows[i].hidden, 0, rows[i].reason);
        for (int rank = 0; rank < RANKS; rank++) {
            assert_int_equal(s->codes[rank], rows[i].code);
            assert_string_equal(s->errors[rank].text, rows[i].words);
        }
        assert_true(s->hashes[0] != s->hashes[1]);
    }
}

/* Beside this program there is no module. */
TEST(a_build_without_open_mpi_says_what_it_lacks)
{
    aq_rank_link *link = NULL;
    assert_int_equal(aq_ranks_open(true, &link, &refusal), AQ_E_NOT_FOUND);
    assert_says(refusal.text, "'apt-get install libopenmpi-dev openmpi-bin', then build in an "
                              "empty folder");
    assert_null(link);
}

static void hear_an_older_one(void *user, aq_rank_link *link)
{
    start *s = user;
    char head[256] = "0.0.9";
    s->codes[link->rank] = link->rank == 0
                               ? link->spread(link, 0, head, sizeof(head))
                               : aq_ranks_hear_birth(link, &s->heard, &s->errors[link->rank]);
}

TEST(a_rank_of_another_version_is_refused_by_name)
{
    start s = {0};
    crew_run(RANKS, 0, hear_an_older_one, &s);
    assert_int_equal(s.codes[1], AQ_E_VERSION);
    assert_says(s.errors[1].text, "rank 1 is of another build than rank 0: version");
    assert_says(s.errors[1].text, "that one 0.0.9");
}

/* What rank 0 was told, and what another was, don't count: its processor decides for all. */
TEST(products_are_in_what_rank_0_has_or_a_rank_is_refused)
{
    assert_int_equal(start_of("16,12", "16,12", 0, 0)->products, AQ_PRODUCTS_FP32);
    is_bf16 = true;
    if (aq_products_has_bf16()) {
        assert_int_equal(start_of("16,12", "16,12", 0, 0)->products, AQ_PRODUCTS_BF16);
    }
    aq_cpu_set_mask(0);
    const start *s = start_of("16,12", "16,12", 0, 0);
    aq_cpu_set_mask(UINT32_MAX);
    is_bf16 = false;
    for (int rank = 0; rank < RANKS; rank++) {
        assert_int_equal(s->codes[rank], AQ_E_UNSUPPORTED);
        assert_says(s->errors[rank].text, "rank 1: rank 0 computes in bf16");
        assert_says(s->errors[rank].text, "set learner.products=fp32");
    }
}

TEST(a_rank_that_is_lost_on_the_way_is_an_error_in_words)
{
    for (unsigned call = 1; call <= 4; call++) {
        const start *s = start_of("16,12", "16,12", call, 0);
        assert_int_equal(s->codes[0], AQ_E_PEER);
        assert_non_null(strstr(s->errors[0].text, "the ranks did not come together: lost"));
    }
}
