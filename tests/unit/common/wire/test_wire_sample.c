/*
 * A batch survives its message, and a reply that lies leaves the batch empty.
 */
#include "common/wire/wire_sample.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

static void assert_same(const aq_batch *a, const aq_batch *b)
{
    size_t rows = a->rows;
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->obs, b->obs, rows * a->obs_bytes);
    assert_memory_equal(a->next_obs, b->next_obs, rows * a->obs_bytes);
    assert_memory_equal(a->action, b->action, rows * a->action_bytes);
    assert_memory_equal(a->reward, b->reward, rows * sizeof(float));
    assert_memory_equal(a->bootstrap, b->bootstrap, rows * sizeof(float));
    assert_memory_equal(a->weight, b->weight, rows * sizeof(float));
    assert_memory_equal(a->item, b->item, rows * sizeof(uint64_t));
    assert_memory_equal(a->version, b->version, rows * sizeof(uint32_t));
    assert_int_equal(a->column_count, b->column_count);
    for (uint32_t i = AQ_BATCH_RECORDED; i < a->column_count; i++) {
        if (a->columns[i].values > 0) {
            assert_memory_equal(a->columns[i].bytes, b->columns[i].bytes,
                                rows * aq_batch_column_bytes(&a->columns[i]));
        }
    }
}

/* As a shard sends it. */
static void view(const aq_batch *batch, uint64_t inserted, Actorq__V1__SampleReply *ret_reply)
{
    static ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    aq_wire_sample_view(batch, inserted, recorded, ret_reply);
    ret_reply->items = 1000;
    ret_reply->mass = 250.0;
}

static Actorq__V1__SampleReply *travel(const Actorq__V1__SampleReply *reply)
{
    static uint8_t bytes[1 << 20];
    assert_true(protobuf_c_message_get_packed_size(&reply->base) <= sizeof(bytes));
    size_t size = protobuf_c_message_pack(&reply->base, bytes);
    Actorq__V1__SampleReply *arrived = actorq__v1__sample_reply__unpack(NULL, size, bytes);
    assert_non_null(arrived);
    return arrived;
}

TEST(any_batch_survives_the_wire)
{
    aq_rng rng = rng_of(fixture_seed(), 5);
    for (int i = 0; i < 1000; i++) {
        aq_schema schema;
        aq_layout layout;
        aq_batch *received;
        Actorq__V1__SampleReply reply;
        fixture_random_schema(&rng, &schema);
        fixture_random_layout(&rng, &schema, &layout);
        aq_batch *sent = fixture_random_batch(&rng, &layout, 1 + (uint32_t)aq_rng_below(&rng, 30));
        assert_int_equal(aq_batch_create(&layout, 0, 30, &received), 0);
        view(sent, 1234567890123, &reply);
        Actorq__V1__SampleReply *arrived = travel(&reply);
        assert_int_equal(aq_wire_sample_read(arrived, received, NULL), 0);
        assert_true(arrived->inserted == 1234567890123);
        assert_same(sent, received);
        actorq__v1__sample_reply__free_unpacked(arrived, NULL);
        aq_batch_destroy(sent);
        aq_batch_destroy(received);
    }
}

typedef struct changed {
    aq_layout layout;
    aq_batch *sent;
    aq_batch *received;
    Actorq__V1__SampleReply reply;
} changed;

static void open_layout(changed *it, const aq_schema *schema)
{
    aq_rng rng = rng_of(1, 1);
    assert_int_equal(aq_layout_init(schema, 3, 8, &it->layout, NULL), 0);
    it->sent = fixture_random_batch(&rng, &it->layout, 6);
    assert_int_equal(aq_batch_create(&it->layout, 0, 6, &it->received), 0);
    it->received->rows = 5;
    view(it->sent, 77, &it->reply);
}

static void changed_setup(changed *it)
{
    aq_schema schema;
    fixture_schema(&schema);
    open_layout(it, &schema);
}

static void changed_teardown(changed *it)
{
    aq_batch_destroy(it->sent);
    aq_batch_destroy(it->received);
}

static void refuse(changed *it, int code, const char *words)
{
    assert_refused(aq_wire_sample_read(&it->reply, it->received, &refusal), code, words);
    assert_int_equal(it->received->rows, 0);
}

TEST_IN(changed, it, columns_are_lent_not_copied)
{
    assert_ptr_equal(it->reply.obs.data, it->sent->obs);
    assert_ptr_equal(it->reply.version.data, it->sent->version);
}

TEST_IN(changed, it, a_reply_of_no_rows_or_too_many_is_refused)
{
    it->reply.rows = 0;
    refuse(it, AQ_E_CORRUPT, "sample of 0 rows");
    it->reply.rows = 7;
    refuse(it, AQ_E_CORRUPT, "sample of 7 rows; 1 to 6");
}

TEST_IN(changed, it, each_column_must_have_its_size)
{
    ProtobufCBinaryData *columns[] = {
        &it->reply.obs,       &it->reply.next_obs,    &it->reply.action, &it->reply.reward,
        &it->reply.bootstrap, &it->reply.probability, &it->reply.item,   &it->reply.version};
    const char *const names[] = {"sample: obs is",       "sample: next_obs is",
                                 "sample: action is",    "sample: reward is",
                                 "sample: bootstrap is", "sample: probability is",
                                 "sample: item is",      "sample: version is"};
    for (size_t i = 0; i < 8; i++) {
        columns[i]->len--;
        refuse(it, AQ_E_CORRUPT, names[i]);
        columns[i]->len++;
    }
}

TEST_IN(changed, it, each_float_must_be_finite)
{
    float *const places[] = {(float *)(void *)it->sent->obs, (float *)(void *)it->sent->next_obs,
                             it->sent->reward, it->sent->weight};
    const char *const names[] = {"obs 1, element 0", "next_obs 1, element 0", "reward 4",
                                 "row 4: probability"};
    for (size_t i = 0; i < 4; i++) {
        float kept = places[i][4];
        places[i][4] = i % 2 == 0 ? NAN : INFINITY;
        refuse(it, AQ_E_CORRUPT, names[i]);
        places[i][4] = kept;
    }
}

TEST_IN(changed, it, a_bootstrap_that_can_not_be_is_refused)
{
    it->sent->bootstrap[5] = 1.5f;
    refuse(it, AQ_E_CORRUPT, "row 5: bootstrap is 1.5");
    it->sent->bootstrap[0] = NAN;
    refuse(it, AQ_E_CORRUPT, "row 0: bootstrap");
}

TEST_IN(changed, it, a_probability_that_cannot_be_is_refused)
{
    const float bad[] = {-0.25f, 0.0f, 1.25f};
    const char *const words[] = {"row 2: probability is -0.25", "row 2: probability is 0;",
                                 "row 2: probability is 1.25"};
    for (size_t i = 0; i < 3; i++) {
        it->sent->weight[2] = bad[i];
        refuse(it, AQ_E_CORRUPT, words[i]);
    }
}

TEST_IN(changed, it, a_table_that_can_not_be_is_refused)
{
    it->reply.items = 0;
    refuse(it, AQ_E_CORRUPT, "holds nothing");
    it->reply.items = 1000;
    const double bad[] = {0.0, -1.0, (double)INFINITY, (double)NAN};
    for (size_t i = 0; i < 4; i++) {
        it->reply.mass = bad[i];
        refuse(it, AQ_E_CORRUPT, "table of mass");
    }
}

TEST_IN(changed, it, lengths_have_no_place_among_items)
{
    uint32_t lengths[6] = {1, 1, 1, 1, 1, 1};
    it->reply.length = (ProtobufCBinaryData){sizeof(lengths), (uint8_t *)lengths};
    refuse(it, AQ_E_CORRUPT, "sample: length is");
}

/* ---- sequences ----------------------------------------------------------------------------- */

enum { STEPS = 5, SEQUENCES = 4 };

/* Sequences of 5, 4, 3 and 2 real steps. */
typedef changed sequences;

static void sequences_setup(sequences *it)
{
    aq_schema schema;
    fixture_schema(&schema);
    assert_int_equal(aq_layout_init(&schema, STEPS, 8, &it->layout, NULL), 0);
    assert_int_equal(aq_batch_create(&it->layout, STEPS, SEQUENCES, &it->sent), 0);
    assert_int_equal(aq_batch_create(&it->layout, STEPS, SEQUENCES, &it->received), 0);
    it->sent->rows = SEQUENCES;
    float *obs = (float *)(void *)it->sent->obs;
    size_t obs_values = it->layout.columns[AQ_COLUMN_OBS].bytes / sizeof(float);
    for (uint32_t row = 0; row < SEQUENCES; row++) {
        uint32_t length = STEPS - row;
        it->sent->length[row] = length;
        it->sent->weight[row] = 0.5f;
        it->sent->item[row] = 100 + row;
        for (uint32_t i = 0; i < (length + 1) * obs_values; i++) {
            obs[row * (STEPS + 1) * obs_values + i] = 1.0f + (float)i;
        }
        for (uint32_t i = 0; i < length; i++) {
            const int32_t choice = 1;
            memcpy(it->sent->action + (row * STEPS + i) * sizeof(choice), &choice, sizeof(choice));
            it->sent->reward[row * STEPS + i] = (float)i;
            it->sent->bootstrap[row * STEPS + i] = 0.5f;
            it->sent->version[row * STEPS + i] = 7;
        }
    }
    view(it->sent, 77, &it->reply);
}

static void sequences_teardown(sequences *it)
{
    changed_teardown(it);
}

TEST_IN(sequences, it, sequences_survive_the_wire)
{
    Actorq__V1__SampleReply *arrived = travel(&it->reply);
    assert_int_equal(aq_wire_sample_read(arrived, it->received, NULL), 0);
    const aq_batch *a = it->sent;
    const aq_batch *b = it->received;
    const size_t all = (size_t)SEQUENCES * STEPS;
    assert_int_equal(b->rows, SEQUENCES);
    assert_memory_equal(a->obs, b->obs, (all + SEQUENCES) * a->obs_bytes);
    assert_memory_equal(a->action, b->action, all * a->action_bytes);
    assert_memory_equal(a->reward, b->reward, all * sizeof(float));
    assert_memory_equal(a->bootstrap, b->bootstrap, all * sizeof(float));
    assert_memory_equal(a->version, b->version, all * sizeof(uint32_t));
    assert_memory_equal(a->length, b->length, SEQUENCES * sizeof(uint32_t));
    assert_memory_equal(a->item, b->item, SEQUENCES * sizeof(uint64_t));
    assert_memory_equal(a->weight, b->weight, SEQUENCES * sizeof(float));
    actorq__v1__sample_reply__free_unpacked(arrived, NULL);
}

/* They are fewer bytes, and arrive in a batch with room for more. */
TEST_IN(sequences, it, shorter_sequences_are_no_wider_than_the_longest)
{
    it->sent->rows = 2;
    aq_batch_fit(it->sent, 2);
    for (uint32_t row = 0; row < 2; row++) {
        const int32_t choice = 1;
        it->sent->length[row] = 2 - row;
        memset(it->sent->obs + row * 3 * it->sent->obs_bytes, 0, 3 * (size_t)it->sent->obs_bytes);
        memset(it->sent->action + row * 2 * sizeof(choice), 0, 2 * sizeof(choice));
        memcpy(it->sent->action + row * 2 * sizeof(choice), &choice, sizeof(choice));
    }
    it->sent->reward[3] = it->sent->bootstrap[3] = 0;
    it->sent->version[3] = 0;
    view(it->sent, 77, &it->reply);
    assert_int_equal(it->reply.reward.len, 2 * 2 * sizeof(float));
    assert_succeeds(aq_wire_sample_read(&it->reply, it->received, &refusal));
    assert_int_equal(it->received->steps, 2);
    assert_memory_equal(it->received->reward, it->sent->reward, 4 * sizeof(float));
    /* Columns that are wider than the lengths say. */
    it->sent->length[0] = 1;
    refuse(it, AQ_E_CORRUPT, "sample: obs is");
}

TEST_IN(sequences, it, a_length_that_cannot_be_is_refused)
{
    it->sent->length[1] = 0;
    refuse(it, AQ_E_CORRUPT, "row 1: length is 0; 1 to 5");
    it->sent->length[1] = 6;
    refuse(it, AQ_E_CORRUPT, "row 1: length is 6; 1 to 5");
}

TEST_IN(sequences, it, nothing_lies_beyond_a_length)
{
    uint8_t *const ends[] = {
        it->sent->obs + 12 * it->layout.columns[AQ_COLUMN_OBS].bytes - 1,
        it->sent->action + 10 * it->layout.columns[AQ_COLUMN_ACTION].bytes - 4,
        (uint8_t *)&it->sent->reward[10] - 1,
        (uint8_t *)&it->sent->bootstrap[10] - 2,
        (uint8_t *)&it->sent->version[10] - 1,
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        *ends[i] = 1;
        refuse(it, AQ_E_CORRUPT, "row 1: there is something beyond its length of 4");
        *ends[i] = 0;
    }
    memset(&it->sent->reward[9], 7, sizeof(float)); /* all of it is alike, and not nothing */
    refuse(it, AQ_E_CORRUPT, "row 1: there is something beyond its length of 4");
}

TEST_IN(sequences, it, sequences_need_their_lengths)
{
    it->reply.length.len = 0;
    refuse(it, AQ_E_CORRUPT, "sample: length is");
}

TEST_IN(sequences, it, sequences_have_no_next_obs)
{
    it->reply.next_obs = it->reply.obs;
    refuse(it, AQ_E_CORRUPT, "sample: next_obs is");
}

TEST_IN(sequences, it, each_float_of_a_sequence_must_be_finite)
{
    it->sent->reward[STEPS + 1] = NAN;
    refuse(it, AQ_E_CORRUPT, "reward 6, element 0 is NaN");
}

/* -------------------------------------------------------------------------------------------- */

TEST_IN(changed, it, an_action_that_does_not_exist_is_refused)
{
    const int32_t choice = -1;
    memcpy(it->sent->action + 12, &choice, sizeof(choice));
    refuse(it, AQ_E_SCHEMA, "action 3 is -1");
}

/* Actions in a box of two floats. */
TEST(a_continuous_action_must_be_finite)
{
    const float low[2] = {-1.0f, -1.0f}, high[2] = {1.0f, 1.0f};
    const float infinite = -INFINITY;
    changed it;
    aq_schema schema;
    fixture_schema(&schema);
    aq_space_init_box(&schema.action, 2, low, high);
    open_layout(&it, &schema);
    memcpy(it.sent->action + 12, &infinite, sizeof(infinite));
    refuse(&it, AQ_E_CORRUPT, "action 1, element 1");
    changed_teardown(&it);
}
