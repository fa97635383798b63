/*
 * A binary heap by (time, order of asking).
 */
#include "tests/sim/sim_agenda.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

typedef struct sim_event {
    int64_t at_ns;
    uint64_t order;
    sim_event_fn run;
    void *user;
    uint64_t tag;
} sim_event;

struct sim_agenda {
    sim_event *heap;
    size_t count;
    size_t count_max;
    uint64_t asked;
    uint64_t run;
    int64_t now_ns;
};

sim_agenda *sim_agenda_create(size_t events_max)
{
    sim_agenda *agenda = must_alloc(1, sizeof(*agenda));
    agenda->heap = must_alloc(events_max, sizeof(*agenda->heap));
    agenda->count_max = events_max;
    return agenda;
}

void sim_agenda_destroy(sim_agenda *agenda)
{
    if (agenda != NULL) {
        aq_free(agenda->heap);
        aq_free(agenda);
    }
}

int64_t sim_agenda_now_ns(const sim_agenda *agenda)
{
    return agenda->now_ns;
}

uint64_t sim_agenda_count(const sim_agenda *agenda)
{
    return agenda->run;
}

static bool is_before(const sim_event *a, const sim_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void sim_agenda_at(sim_agenda *agenda, int64_t at_ns, sim_event_fn run, void *user, uint64_t tag)
{
    AQ_ASSERT(agenda->count < agenda->count_max);
    const sim_event event = {
        .at_ns = at_ns > agenda->now_ns ? at_ns : agenda->now_ns,
        .order = agenda->asked++,
        .run = run,
        .user = user,
        .tag = tag,
    };
    size_t place = agenda->count++;
    while (place > 0 && is_before(&event, &agenda->heap[(place - 1) / 2])) {
        agenda->heap[place] = agenda->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    agenda->heap[place] = event;
}

static sim_event take_first(sim_agenda *agenda)
{
    const sim_event first = agenda->heap[0];
    const sim_event last = agenda->heap[--agenda->count];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= agenda->count) {
            break;
        }
        if (child + 1 < agenda->count &&
            is_before(&agenda->heap[child + 1], &agenda->heap[child])) {
            child++;
        }
        if (is_before(&last, &agenda->heap[child])) {
            break;
        }
        agenda->heap[place] = agenda->heap[child];
        place = child;
    }
    agenda->heap[place] = last;
    return first;
}

bool sim_agenda_step(sim_agenda *agenda, int64_t until_ns)
{
    if (agenda->count == 0 || agenda->heap[0].at_ns > until_ns) {
        agenda->now_ns = until_ns > agenda->now_ns ? until_ns : agenda->now_ns;
        return false;
    }
    const sim_event event = take_first(agenda);
    agenda->now_ns = event.at_ns;
    agenda->run++;
    event.run(event.user, event.tag);
    return true;
}
