/*
 * The outbox is one ring of chunks, oldest first, in three parts:
 *
 *   head                sealed              tail
 *    | messages acknowledged+1 .. last_seq | waiting |
 *
 * and a ring of messages, each of which says how many chunks it takes of the first part. `next_seq`
 * runs over the messages: behind it they are sent, and going back is a resend.
 */
#include "actor/core/outbox.h"

#include "common/base/assert.h"
#include "common/base/buffer.h"
#include "common/base/memory.h"
#include "common/wire/wire_experience.h"

/* Chunks that the ring holds besides one burst: about the bytes' limit in ordinary chunks. */
enum { RING_CHUNKS = 8192 };

/* A mark that stands still is a loss only if it does so repeatedly: each further resend waits twice
 * as long, up to 8 times. A shard that is slow must not be given everything again and again. */
enum { BACKOFF_SHIFT_MAX = 3 };

typedef struct outbox_message {
    uint64_t first_chunk; /* counted from the first chunk ever put */
    uint32_t chunk_count;
} outbox_message;

struct aq_outbox {
    aq_outbox_config config;

    aq_chunk **chunks; /* ring of chunks_max */
    uint32_t chunks_max;
    uint64_t head, sealed, tail; /* counted from the first chunk ever put */
    size_t bytes;                /* of all chunks in the ring */
    size_t waiting_frame_bytes;  /* of the chunks from `sealed` on, at most */
    int64_t waiting_since_ns;    /* no later than their oldest new transition */

    outbox_message messages[AQ_OUTBOX_MESSAGES_MAX]; /* message seq is at seq % size */
    uint64_t acknowledged; /* highest number that the shard has acknowledged */
    uint64_t last_seq;     /* highest number given */
    uint64_t next_seq;     /* to be sent next */
    uint64_t sent_seq;     /* highest number ever sent */
    uint64_t resent;

    uint64_t shard_incarnation;                          /* 0: none yet */
    uint64_t put_steps, acknowledged_steps, shard_steps; /* see aq_outbox_counters */
    uint64_t expected;                                   /* as the shard said last */
    uint64_t gaps;                                       /* as the shard said last */
    uint64_t gap_seq;    /* the number that the last resend for a gap began with */
    int64_t progress_ns; /* the oldest message was sent, or the mark moved */
    unsigned backoff_shift;

    aq_buffer frame;
    uint64_t framed_seq; /* the message that `frame` holds; 0: none */
    uint64_t framed_acknowledged;
    aq_chunk **framed_chunks; /* scratch: a message's chunks in a row */
};

/* ---- create --------------------------------------------------------------------------------- */

static size_t frame_overhead(const aq_outbox_config *config)
{
    return aq_wire_experience_bytes_max(&config->layout, NULL, 0);
}

/* What a chunk adds to a frame, at most. */
static size_t frame_bytes(const aq_outbox_config *config, const aq_chunk *chunk)
{
    return aq_wire_experience_bytes_max(&config->layout, &chunk, 1) - frame_overhead(config);
}

int aq_outbox_check(const aq_outbox_config *config, aq_error *error)
{
    const aq_chunk longest = {.view.length = config->layout.length_max};
    size_t bytes = frame_overhead(config) + frame_bytes(config, &longest);
    if (bytes > config->message_bytes) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "a chunk of %u transitions takes %zu bytes, more than a message of %u; "
                       "raise net.message_bytes or lower replay.chunk_length",
                       config->layout.length_max, bytes, config->message_bytes);
    }
    return 0;
}

int aq_outbox_create(const aq_outbox_config *config, aq_outbox **ret_outbox)
{
    aq_outbox *outbox = aq_alloc(1, sizeof(*outbox));
    if (outbox == NULL) {
        return AQ_E_NOMEM;
    }
    outbox->config = *config;
    outbox->next_seq = 1;
    outbox->chunks_max = RING_CHUNKS + config->burst_chunks;
    aq_buffer_init(&outbox->frame, config->message_bytes);
    outbox->chunks = aq_alloc(outbox->chunks_max, sizeof(*outbox->chunks));
    outbox->framed_chunks = aq_alloc(AQ_EXPERIENCE_CHUNKS_MAX, sizeof(*outbox->framed_chunks));
    if (outbox->chunks == NULL || outbox->framed_chunks == NULL) {
        aq_outbox_destroy(outbox);
        return AQ_E_NOMEM;
    }
    *ret_outbox = outbox;
    return 0;
}

static aq_chunk *chunk_at(const aq_outbox *outbox, uint64_t index)
{
    return outbox->chunks[index % outbox->chunks_max];
}

void aq_outbox_destroy(aq_outbox *outbox)
{
    if (outbox == NULL) {
        return;
    }
    for (uint64_t i = outbox->head; i < outbox->tail; i++) {
        aq_chunk_unref(chunk_at(outbox, i));
    }
    aq_buffer_fini(&outbox->frame);
    aq_free(outbox->framed_chunks);
    aq_free(outbox->chunks);
    aq_free(outbox);
}

/* ---- chunks into messages ------------------------------------------------------------------- */

static uint64_t messages_out(const aq_outbox *outbox)
{
    return outbox->last_seq - outbox->acknowledged;
}

bool aq_outbox_room(const aq_outbox *outbox, size_t bytes_max)
{
    AQ_ASSERT(bytes_max <= AQ_OUTBOX_BYTES_MAX);
    return messages_out(outbox) < AQ_OUTBOX_MESSAGES_MAX && outbox->bytes < bytes_max &&
           outbox->tail - outbox->head + outbox->config.burst_chunks <= outbox->chunks_max;
}

void aq_outbox_put(aq_outbox *outbox, aq_chunk *chunk, int64_t since_ns)
{
    AQ_ASSERT(outbox->tail - outbox->head < outbox->chunks_max);
    if (outbox->tail == outbox->sealed || since_ns < outbox->waiting_since_ns) {
        outbox->waiting_since_ns = since_ns;
    }
    outbox->chunks[outbox->tail % outbox->chunks_max] = chunk;
    outbox->tail++;
    outbox->bytes += chunk->bytes;
    outbox->put_steps += aq_chunk_view_fresh(&chunk->view);
    outbox->waiting_frame_bytes += frame_bytes(&outbox->config, chunk);
}

static size_t good_bytes(const aq_outbox *outbox)
{
    size_t half = outbox->config.message_bytes / 2;
    return half < AQ_OUTBOX_GOOD_BYTES ? half : AQ_OUTBOX_GOOD_BYTES;
}

/* Enough waits for a message that is worth sending by itself. */
static bool is_good(const aq_outbox *outbox)
{
    return outbox->waiting_frame_bytes >= good_bytes(outbox) ||
           outbox->tail - outbox->sealed >= AQ_EXPERIENCE_CHUNKS_MAX;
}

static bool may_seal(const aq_outbox *outbox)
{
    return outbox->tail > outbox->sealed && messages_out(outbox) < AQ_OUTBOX_MESSAGES_MAX;
}

/* Makes the next message of as many waiting chunks as it may hold. */
static void seal(aq_outbox *outbox)
{
    size_t bytes = frame_overhead(&outbox->config);
    outbox_message message = {.first_chunk = outbox->sealed};
    while (outbox->sealed < outbox->tail && message.chunk_count < AQ_EXPERIENCE_CHUNKS_MAX) {
        const aq_chunk *chunk = chunk_at(outbox, outbox->sealed);
        size_t more = frame_bytes(&outbox->config, chunk);
        if (bytes + more > outbox->config.message_bytes) {
            break;
        }
        bytes += more;
        outbox->waiting_frame_bytes -= more;
        outbox->sealed++;
        message.chunk_count++;
    }
    AQ_ASSERT(message.chunk_count > 0);
    outbox->last_seq++;
    outbox->messages[outbox->last_seq % AQ_OUTBOX_MESSAGES_MAX] = message;
}

/* ---- sending -------------------------------------------------------------------------------- */

static int pack(aq_outbox *outbox, uint64_t seq)
{
    const outbox_message *message = &outbox->messages[seq % AQ_OUTBOX_MESSAGES_MAX];
    for (uint32_t i = 0; i < message->chunk_count; i++) {
        outbox->framed_chunks[i] = chunk_at(outbox, message->first_chunk + i);
    }
    const aq_experience experience = {
        .run_id = outbox->config.run_id,
        .actor = outbox->config.actor,
        .incarnation = outbox->config.incarnation,
        .seq = seq,
        .acknowledged = outbox->acknowledged,
        .store = outbox->config.store,
        .is_sealed = outbox->config.is_sealed,
        .chunk_count = message->chunk_count,
        .chunks = outbox->framed_chunks,
    };
    outbox->framed_seq = 0;
    aq_buffer_clear(&outbox->frame);
    int rc = aq_wire_experience_pack(&experience, &outbox->config.layout, &outbox->frame);
    AQ_ASSERT(rc != AQ_E_TOO_BIG); /* sealed by an upper bound of its size */
    if (rc == 0) {
        outbox->framed_seq = seq;
        outbox->framed_acknowledged = outbox->acknowledged;
    }
    return rc;
}

bool aq_outbox_next(aq_outbox *outbox, int64_t now_ns, bool urgent, const uint8_t **ret_frame,
                    size_t *ret_size)
{
    if (outbox->next_seq > outbox->last_seq) {
        bool waited = now_ns - outbox->waiting_since_ns >= outbox->config.hold_ns;
        if (!may_seal(outbox) || !(urgent || waited || is_good(outbox))) {
            return false;
        }
        seal(outbox);
    }
    bool is_framed = outbox->framed_seq == outbox->next_seq &&
                     outbox->framed_acknowledged == outbox->acknowledged;
    if (!is_framed && pack(outbox, outbox->next_seq) != 0) {
        return false;
    }
    *ret_frame = outbox->frame.data;
    *ret_size = outbox->frame.size;
    return true;
}

void aq_outbox_sent(aq_outbox *outbox, int64_t now_ns)
{
    const uint64_t seq = outbox->next_seq;
    AQ_ASSERT(seq == outbox->framed_seq);
    if (seq == outbox->acknowledged + 1) {
        outbox->progress_ns = now_ns;
    }
    if (seq > outbox->sent_seq) {
        outbox->sent_seq = seq;
    } else {
        outbox->resent++;
    }
    outbox->next_seq++;
}

int64_t aq_outbox_due_ns(const aq_outbox *outbox, bool urgent)
{
    if (outbox->next_seq <= outbox->last_seq) {
        return INT64_MIN;
    }
    if (!may_seal(outbox)) {
        return INT64_MAX;
    }
    return urgent || is_good(outbox) ? INT64_MIN
                                     : outbox->waiting_since_ns + outbox->config.hold_ns;
}

/* ---- acknowledgements ----------------------------------------------------------------------- */

static void release(aq_outbox *outbox, int64_t now_ns, uint64_t acknowledged)
{
    while (outbox->acknowledged < acknowledged) {
        outbox->acknowledged++;
        const outbox_message *message =
            &outbox->messages[outbox->acknowledged % AQ_OUTBOX_MESSAGES_MAX];
        AQ_ASSERT(message->first_chunk == outbox->head);
        for (uint32_t i = 0; i < message->chunk_count; i++) {
            aq_chunk *chunk = chunk_at(outbox, outbox->head++);
            outbox->bytes -= chunk->bytes;
            outbox->acknowledged_steps += aq_chunk_view_fresh(&chunk->view);
            outbox->shard_steps += aq_chunk_view_fresh(&chunk->view);
            aq_chunk_unref(chunk);
        }
    }
    if (outbox->next_seq <= acknowledged) {
        outbox->next_seq = acknowledged + 1;
    }
    outbox->progress_ns = now_ns;
    outbox->backoff_shift = 0;
}

static void resend_from(aq_outbox *outbox, int64_t now_ns, uint64_t seq)
{
    outbox->next_seq = seq;
    outbox->progress_ns = now_ns;
}

void aq_outbox_resend(aq_outbox *outbox, int64_t now_ns)
{
    resend_from(outbox, now_ns, outbox->acknowledged + 1);
}

void aq_outbox_move(aq_outbox *outbox, int64_t now_ns, uint64_t store)
{
    outbox->config.store = store;
    outbox->framed_seq = 0; /* it names the store before */
    outbox->shard_incarnation = 0;
    outbox->expected = 0;
    outbox->gap_seq = 0;
    outbox->backoff_shift = 0;
    outbox->shard_steps = 0;
    aq_outbox_resend(outbox, now_ns);
}

/* Messages are out and the mark has not moved: is one of them lost? `expected` tells from where; if
 * that is behind all that was sent, they arrived, and the shard only has not acknowledged them. */
static void consider_resend(aq_outbox *outbox, int64_t now_ns, uint64_t expected, bool new_gaps)
{
    bool possible = expected > outbox->acknowledged && expected <= outbox->next_seq;
    uint64_t from = possible ? expected : outbox->acknowledged + 1;
    if (from == outbox->next_seq) {
        return;
    }
    int64_t patience_ns = outbox->config.resend_ns << outbox->backoff_shift;
    if (new_gaps && from != outbox->gap_seq) {
        /* Once for each place: what was under way behind a gap is counted as gaps too. */
        outbox->gap_seq = from;
        resend_from(outbox, now_ns, from);
    } else if (now_ns - outbox->progress_ns >= patience_ns) {
        if (outbox->backoff_shift < BACKOFF_SHIFT_MAX) {
            outbox->backoff_shift++;
        }
        resend_from(outbox, now_ns, from);
    }
}

void aq_outbox_acknowledge(aq_outbox *outbox, int64_t now_ns, const aq_shard_mark *mark)
{
    bool another = mark->shard_incarnation != outbox->shard_incarnation;
    bool new_gaps = !another && mark->gaps > outbox->gaps;
    if (another && outbox->shard_incarnation != 0) {
        outbox->gap_seq = 0;
        outbox->backoff_shift = 0;
        if (outbox->config.store == 0) {
            outbox->shard_steps = 0;
        }
        aq_outbox_resend(outbox, now_ns);
    }
    outbox->shard_incarnation = mark->shard_incarnation;
    outbox->expected = mark->expected;
    outbox->gaps = mark->gaps;
    if (mark->acknowledged > outbox->acknowledged && mark->acknowledged <= outbox->sent_seq) {
        release(outbox, now_ns, mark->acknowledged);
    }
    if (!another) {
        consider_resend(outbox, now_ns, mark->expected, new_gaps);
    }
}

/* The shard takes in order: it has none from `expected` on, and may have acknowledged less. */
static uint32_t unarrived(const aq_outbox *outbox)
{
    const uint64_t out = messages_out(outbox);
    const uint64_t missing =
        outbox->expected <= outbox->last_seq ? outbox->last_seq + 1 - outbox->expected : 0;
    return (uint32_t)(missing < out ? missing : out);
}

aq_outbox_counters aq_outbox_count(const aq_outbox *outbox)
{
    return (aq_outbox_counters){
        .acknowledged = outbox->acknowledged,
        .unacknowledged = (uint32_t)messages_out(outbox),
        .unarrived = unarrived(outbox),
        .waiting_chunks = (uint32_t)(outbox->tail - outbox->sealed),
        .bytes = outbox->bytes,
        .sent = outbox->sent_seq,
        .resent = outbox->resent,
        .put_steps = outbox->put_steps,
        .acknowledged_steps = outbox->acknowledged_steps,
        .shard_steps = outbox->shard_steps,
    };
}
