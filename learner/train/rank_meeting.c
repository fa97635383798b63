/*
 * Rank meeting: see rank_meeting.h.
 */
#include "learner/train/rank_meeting.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "learner/gradients/gradient_exchange.h"

typedef struct note {
    uint64_t number; /* 0: none */
    size_t bytes;
    uint8_t text[AQ_RANK_NOTE_MAX];
} note;

struct aq_rank_meeting {
    aq_rank_link *link;
    uint32_t rank, count; /* the link's, which forgets them when it is closed */
    aq_rank_word words[AQ_RANKS_MAX];
    uint8_t going[AQ_RANK_NOTE_MAX], coming[AQ_RANK_NOTE_MAX]; /* notes under way */
    pthread_mutex_t lock;                                      /* of what follows */
    note notes[];                                              /* of each rank */
};

int aq_rank_meeting_create(aq_rank_link *link, aq_rank_meeting **ret_meeting)
{
    AQ_ASSERT(link->count >= 1 && link->count <= AQ_RANKS_MAX);
    aq_rank_meeting *meeting = aq_alloc(1, sizeof(*meeting) + link->count * sizeof(note));
    if (meeting == NULL) {
        return AQ_E_NOMEM;
    }
    meeting->link = link;
    meeting->rank = link->rank;
    meeting->count = link->count;
    pthread_mutex_init(&meeting->lock, NULL);
    *ret_meeting = meeting;
    return 0;
}

void aq_rank_meeting_destroy(aq_rank_meeting *meeting)
{
    if (meeting != NULL) {
        pthread_mutex_destroy(&meeting->lock);
        aq_free(meeting);
    }
}

/* ---- notes ---------------------------------------------------------------------------------- */

static void keep(aq_rank_meeting *meeting, uint32_t of, uint64_t number, const void *text,
                 size_t bytes)
{
    note *kept = &meeting->notes[of];
    aq_mutex_lock(&meeting->lock);
    kept->number = number;
    kept->bytes = bytes;
    memcpy(kept->text, text, bytes);
    aq_mutex_unlock(&meeting->lock);
}

void aq_rank_note_post(aq_rank_meeting *meeting, const void *text, size_t bytes)
{
    AQ_ASSERT(bytes <= AQ_RANK_NOTE_MAX);
    keep(meeting, meeting->rank, meeting->notes[meeting->rank].number + 1, text, bytes);
}

bool aq_rank_note_read(aq_rank_meeting *meeting, uint32_t from, uint64_t *seen, void *text,
                       size_t bytes)
{
    AQ_ASSERT(from < meeting->count);
    const note *kept = &meeting->notes[from];
    aq_mutex_lock(&meeting->lock);
    const bool is_new = kept->number > *seen && kept->bytes == bytes;
    if (is_new) {
        memcpy(text, kept->text, bytes);
        *seen = kept->number;
    }
    aq_mutex_unlock(&meeting->lock);
    return is_new;
}

/* Those that are newer than at the last meeting. */
static int pass_notes(aq_rank_meeting *meeting, const aq_rank_word *before)
{
    aq_rank_link *link = meeting->link;
    for (uint32_t rank = 0; rank < meeting->count; rank++) {
        const aq_rank_word *word = &meeting->words[rank];
        if (word->note == before[rank].note || word->note_bytes > AQ_RANK_NOTE_MAX) {
            continue;
        }
        const bool is_own = rank == meeting->rank;
        uint8_t *text = is_own ? meeting->going : meeting->coming;
        if (link->spread(link, rank, text, word->note_bytes) != 0) {
            return AQ_E_PEER;
        }
        if (!is_own) {
            keep(meeting, rank, word->note, text, word->note_bytes);
        }
    }
    return 0;
}

/* ---- meeting -------------------------------------------------------------------------------- */

static int check_same(const aq_rank_meeting *meeting, aq_error *error)
{
    const aq_rank_word *first = &meeting->words[0];
    for (uint32_t rank = 1; rank < meeting->count; rank++) {
        const aq_rank_word *word = &meeting->words[rank];
        if (word->step != first->step) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "rank %" PRIu32 " is at step %" PRIu64 ", rank 0 at step %" PRIu64, rank,
                           word->step, first->step);
        }
        if (word->hash != first->hash) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "rank %" PRIu32 " and rank 0 have different parameters at step %" PRIu64,
                           rank, word->step);
        }
    }
    return 0;
}

static aq_rank_outcome conclude(const aq_rank_meeting *meeting)
{
    aq_rank_outcome outcome = {.is_ready = true, .orders = meeting->words[0].orders};
    for (uint32_t rank = meeting->count; rank-- > 0;) {
        const aq_rank_word *word = &meeting->words[rank];
        const bool is_ready = word->is_ready != 0;
        const bool is_fresh = word->oldest_version >= outcome.orders.fresh_from;
        outcome.is_ready &= is_ready && is_fresh;
        outcome.is_outdated |= rank == meeting->rank && is_ready && !is_fresh;
        outcome.ender = word->ends != 0 ? rank : outcome.ender;
        outcome.ends |= word->ends != 0;
    }
    return outcome;
}

/* The newest note of this rank goes with its word. */
static aq_rank_word own_word(aq_rank_meeting *meeting, const aq_rank_word *word)
{
    const note *own = &meeting->notes[meeting->rank];
    aq_rank_word said = *word;
    aq_mutex_lock(&meeting->lock);
    said.note = own->number;
    said.note_bytes = own->bytes;
    memcpy(meeting->going, own->text, own->bytes);
    aq_mutex_unlock(&meeting->lock);
    return said;
}

int aq_rank_meet(aq_rank_meeting *meeting, const aq_rank_word *word, aq_rank_outcome *ret_outcome,
                 aq_error *error)
{
    aq_rank_link *link = meeting->link;
    aq_rank_word before[AQ_RANKS_MAX];
    memcpy(before, meeting->words, sizeof(before));
    meeting->words[meeting->rank] = own_word(meeting, word);
    int rc = aq_rank_link_gather(link, meeting->words, sizeof(*word));
    if (rc == 0) {
        rc = pass_notes(meeting, before);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "%s", link->trouble);
    }
    rc = check_same(meeting, error);
    if (rc == 0) {
        *ret_outcome = conclude(meeting);
    }
    return rc;
}
