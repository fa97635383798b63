/*
 * The replay shard of the outbox's tests.
 */
#include "tests/unit/actor/outbox_shard.h"

#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/experience_read.h"

aq_layout outbox_shard_layout(uint32_t length_max)
{
    const float low = -1e9f;
    const float high = 1e9f;
    aq_schema schema = {0};
    aq_layout layout;
    aq_space_init_box(&schema.obs, 1, &low, &high);
    aq_space_init_discrete(&schema.action, 2);
    assert_int_equal(aq_layout_init(&schema, 1, length_max, &layout, NULL), 0);
    return layout;
}

void outbox_shard_init(outbox_shard *shard, const aq_layout *layout)
{
    memset(shard, 0, sizeof(*shard));
    shard->layout = *layout;
    shard->incarnation = 1;
}

void outbox_shard_restart(outbox_shard *shard)
{
    shard->incarnation++;
    shard->mark = 0;
    shard->gaps = 0;
}

static void store(outbox_shard *shard, const aq_experience *experience)
{
    uint64_t seq = experience->seq;
    assert_true(seq < SHARD_MESSAGES_MAX);
    double reward = (double)reward_of(experience->chunks[0])[0];
    if (shard->stored[seq] > 0) { /* by another incarnation, and the very same message */
        assert_true(shard->stored_by[seq] < shard->incarnation);
        assert_true(shard->first_reward[seq] == reward);
        assert_int_equal(shard->chunk_count[seq], experience->chunk_count);
    }
    for (uint32_t i = 1; i < experience->chunk_count; i++) {
        assert_true((double)reward_of(experience->chunks[i])[0] == reward + i); /* in order */
    }
    shard->stored[seq]++;
    shard->stored_by[seq] = shard->incarnation;
    shard->first_reward[seq] = reward;
    shard->chunk_count[seq] = experience->chunk_count;
    shard->mark = seq;
}

void outbox_shard_take(outbox_shard *shard, const uint8_t *frame, size_t size)
{
    aq_experience experience;
    assert_succeeds(experience_read(frame, size, SHARD_RUN, &shard->layout, &experience, &refusal));
    assert_int_equal(experience.actor, SHARD_ACTOR);
    assert_int_equal(experience.incarnation, SHARD_ACTOR_INCARNATION);
    assert_true(experience.acknowledged < experience.seq);
    shard->last_seq = experience.seq;
    shard->last_acknowledged = experience.acknowledged;
    if (experience.acknowledged > shard->mark) {
        shard->mark = experience.acknowledged;
    }
    if (experience.seq == shard->mark + 1) {
        store(shard, &experience);
    } else if (experience.seq <= shard->mark) {
        shard->duplicates++;
    } else {
        shard->gaps++;
    }
    experience_fini(&experience);
}

aq_shard_mark outbox_shard_mark(const outbox_shard *shard)
{
    return (aq_shard_mark){
        .shard_incarnation = shard->incarnation,
        .acknowledged = shard->mark,
        .expected = shard->mark + 1,
        .gaps = shard->gaps,
    };
}

aq_chunk *outbox_shard_chunk(const aq_layout *layout, double reward)
{
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(layout, layout->length_max, &chunk), 0);
    chunk->view.episode = 1;
    chunk->view.length = 1;
    chunk->view.terminated = 1;
    reward_of(chunk)[0] = (float)reward;
    return chunk;
}

aq_outbox_config outbox_shard_config(const aq_layout *layout, uint32_t message_bytes)
{
    return (aq_outbox_config){
        .run_id = SHARD_RUN,
        .actor = SHARD_ACTOR,
        .incarnation = SHARD_ACTOR_INCARNATION,
        .layout = *layout,
        .message_bytes = message_bytes,
        .burst_chunks = 4,
        .hold_ns = 20 * AQ_NS_PER_MS,
        .resend_ns = AQ_NS_PER_S,
    };
}
