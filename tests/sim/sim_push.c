/*
 * A sender goes round: dialling, connected, broken (and not yet told), dialling. Events and
 * messages know it by its number and the count of its connections, so that those of an earlier
 * connection are told apart.
 */
#include "tests/sim/sim_push.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

enum { WINDOW = 8, EPOCH_BITS = 24 };

#define DIAL_NS_MIN    (1 * AQ_NS_PER_MS)
#define DIAL_NS_MAX    (5 * AQ_NS_PER_MS)
#define TOLD_NS_MAX    (50 * AQ_NS_PER_MS) /* a reset */
#define SILENT_SHARE   0.3                 /* of breaks that TCP finds out late, if ever */
#define SILENT_NS_MAX  (120 * AQ_NS_PER_S)
#define SURVIVOR_SHARE 0.5 /* of breaks after which what was on its way still arrives */

enum sender_state { SENDER_DIALLING, SENDER_CONNECTED, SENDER_BROKEN };

struct sim_sender {
    sim_sender *next;
    sim_push *push;
    uint64_t id;
    uint64_t epoch; /* of connections */
    uint32_t host;
    size_t place;
    uint64_t pull_life; /* of the process that it is connected to */
    enum sender_state state;
    aq_net_limits limits;
    uint32_t back_off_ms;
    unsigned under_way;
    bool refused;       /* a send was: `writable` is owed */
    int64_t last_at_ns; /* when the last message will arrive */
    sim_sender_events events;
};

void sim_push_init(sim_push *push, sim_network *network)
{
    *push = (sim_push){.network = network, .next_sender = 1};
}

void sim_push_fini(sim_push *push)
{
    AQ_ASSERT(push->senders == NULL);
}

/* ---- places --------------------------------------------------------------------------------- */

static size_t find_place(const sim_push *push, const char *url)
{
    size_t place = 0;
    while (place < push->pull_count && strcmp(push->pulls[place].url, url) != 0) {
        place++;
    }
    AQ_ASSERT(place < push->pull_count);
    return place;
}

void sim_push_place(sim_push *push, const char *url, uint32_t host)
{
    AQ_ASSERT(push->pull_count < SIM_PULLS_MAX);
    sim_pull *pull = &push->pulls[push->pull_count++];
    *pull = (sim_pull){.host = host};
    snprintf(pull->url, sizeof(pull->url), "%s", url);
}

void sim_push_listen(sim_push *push, const char *url, sim_pull_fn receive, void *user)
{
    sim_pull *pull = &push->pulls[find_place(push, url)];
    AQ_ASSERT(!pull->listens);
    pull->listens = true;
    pull->life++;
    pull->receive = receive;
    pull->user = user;
}

/* ---- breaking ------------------------------------------------------------------------------- */

static uint64_t tag_of(const sim_sender *sender)
{
    return sender->id << EPOCH_BITS | sender->epoch;
}

/* NULL when the sender is closed, or the connection is not its current one. */
static sim_sender *find_sender(const sim_push *push, uint64_t tag)
{
    sim_sender *sender = push->senders;
    while (sender != NULL && tag_of(sender) != tag) {
        sender = sender->next;
    }
    return sender;
}

/* The sender's connection is over; now and then its messages are in the peer's hands already, and
 * arrive even after those of the next connection. */
static void leave_over(sim_sender *sender)
{
    sim_push *push = sender->push;
    if (sender->state == SENDER_CONNECTED &&
        sim_chance(&push->network->world->rng, SURVIVOR_SHARE)) {
        push->leftovers[push->next_leftover++ % SIM_LEFTOVERS_MAX] =
            (sim_leftover){.connection = tag_of(sender), .pull_life = sender->pull_life};
    }
}

static void dial(sim_sender *sender, int64_t pause_ns);

static void on_break_told(void *user, uint64_t tag)
{
    sim_push *push = user;
    sim_sender *sender = find_sender(push, tag);
    if (sender == NULL ||
        sim_host_postpones(push->network, sender->host, on_break_told, push, tag)) {
        return;
    }
    sim_trace(push->network->world, "break told", sender->host, sender->epoch);
    dial(sender, sender->limits.reconnect_min_ms * AQ_NS_PER_MS);
    sender->events.disconnected(sender->events.user);
}

static void break_connection(sim_sender *sender)
{
    sim_push *push = sender->push;
    sim_world *world = push->network->world;
    if (sender->state != SENDER_CONNECTED) {
        return;
    }
    bool silent = sim_chance(&world->rng, SILENT_SHARE);
    int64_t told_ns = sim_draw_ns(&world->rng, 0, silent ? SILENT_NS_MAX : TOLD_NS_MAX);
    leave_over(sender);
    sender->state = SENDER_BROKEN;
    sender->epoch++;
    push->breaks++;
    sim_trace(world, "connection breaks", sender->host, sender->epoch);
    sim_agenda_at(world->agenda, sim_now_ns(world) + told_ns, on_break_told, push, tag_of(sender));
}

void sim_push_break(sim_push *push, uint32_t host)
{
    for (sim_sender *sender = push->senders; sender != NULL; sender = sender->next) {
        if (sender->host == host || push->pulls[sender->place].host == host) {
            break_connection(sender);
        }
    }
}

bool sim_push_is_whole(const sim_push *push)
{
    for (const sim_sender *sender = push->senders; sender != NULL; sender = sender->next) {
        if (sender->state == SENDER_BROKEN) {
            return false;
        }
    }
    return true;
}

void sim_push_close(sim_push *push, const char *url)
{
    size_t place = find_place(push, url);
    push->pulls[place].listens = false;
    for (sim_sender *sender = push->senders; sender != NULL; sender = sender->next) {
        if (sender->place == place) {
            break_connection(sender);
        }
    }
}

/* ---- dialling ------------------------------------------------------------------------------- */

static bool is_reachable(const sim_sender *sender)
{
    const sim_push *push = sender->push;
    const sim_pull *pull = &push->pulls[sender->place];
    return pull->listens && push->network->hosts[pull->host].up &&
           !push->network->cut[sender->host][pull->host] &&
           !push->network->cut[pull->host][sender->host];
}

static void on_dialled(void *user, uint64_t tag)
{
    sim_push *push = user;
    sim_sender *sender = find_sender(push, tag);
    if (sender == NULL || sim_host_postpones(push->network, sender->host, on_dialled, push, tag)) {
        return;
    }
    if (!is_reachable(sender)) {
        uint32_t doubled = 2 * sender->back_off_ms;
        uint32_t most = sender->limits.reconnect_max_ms;
        sender->back_off_ms = doubled < most ? doubled : most;
        dial(sender, sender->back_off_ms * AQ_NS_PER_MS);
        return;
    }
    sender->state = SENDER_CONNECTED;
    sender->pull_life = push->pulls[sender->place].life;
    sender->back_off_ms = sender->limits.reconnect_min_ms;
    sender->under_way = 0;
    sender->refused = false;
    sender->last_at_ns = 0;
    sim_trace(push->network->world, "connected", sender->host, sender->epoch);
    sender->events.connected(sender->events.user);
}

static void dial(sim_sender *sender, int64_t pause_ns)
{
    sim_world *world = sender->push->network->world;
    int64_t dial_ns = sim_draw_ns(&world->rng, DIAL_NS_MIN, DIAL_NS_MAX);
    sender->state = SENDER_DIALLING;
    sender->epoch++;
    sim_agenda_at(world->agenda, sim_now_ns(world) + pause_ns + dial_ns, on_dialled, sender->push,
                  tag_of(sender));
}

sim_sender *sim_sender_open(sim_push *push, uint32_t host, const char *url,
                            const aq_net_limits *limits, const sim_sender_events *events)
{
    sim_sender *sender = must_alloc(1, sizeof(*sender));
    *sender = (sim_sender){
        .next = push->senders,
        .push = push,
        .id = push->next_sender++,
        .host = host,
        .place = find_place(push, url),
        .limits = *limits,
        .back_off_ms = limits->reconnect_min_ms,
        .events = *events,
    };
    push->senders = sender;
    dial(sender, 0);
    return sender;
}

void sim_sender_close(sim_sender *sender)
{
    if (sender == NULL) {
        return;
    }
    sim_sender **at = &sender->push->senders;
    while (*at != sender) {
        at = &(*at)->next;
    }
    *at = sender->next;
    leave_over(sender);
    aq_free(sender);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* What a message has to know when its sender may be gone. */
enum { PLACE_BITS = 4 };

/* Whether the message of this connection reaches the process that is there now. */
static bool is_received(const sim_push *push, const sim_pull *pull, const sim_sender *sender,
                        uint64_t connection)
{
    if (!pull->listens || push->disorder) {
        return pull->listens;
    }
    if (sender != NULL) {
        return sender->pull_life == pull->life;
    }
    for (size_t i = 0; i < SIM_LEFTOVERS_MAX; i++) {
        const sim_leftover *leftover = &push->leftovers[i];
        if (leftover->connection == connection) {
            return leftover->pull_life == pull->life;
        }
    }
    return false;
}

static void on_message(void *user, uint64_t tag, const uint8_t *frame, size_t size)
{
    sim_push *push = user;
    sim_pull *pull = &push->pulls[tag & ((1 << PLACE_BITS) - 1)];
    uint64_t connection = tag >> PLACE_BITS;
    sim_sender *sender = find_sender(push, connection);
    if (sender != NULL && sender->under_way > 0) {
        sender->under_way--;
    }
    if (frame == NULL && sender != NULL && !push->disorder) {
        break_connection(sender); /* cut off, or nobody is there */
    }
    if (frame != NULL && is_received(push, pull, sender, connection)) {
        pull->receive(pull->user, frame, size, "tcp://10.0.0.99:4711");
    }
    sender = find_sender(push, connection);
    if (sender != NULL && sender->refused && sender->state == SENDER_CONNECTED) {
        sender->refused = false;
        sender->events.writable(sender->events.user);
    }
}

int sim_sender_send(sim_sender *sender, const uint8_t *frame, size_t size)
{
    sim_push *push = sender->push;
    if (size > sender->limits.message_bytes_max) {
        return AQ_E_TOO_BIG;
    }
    if (sender->state == SENDER_DIALLING || sender->under_way >= WINDOW) {
        sender->refused = true;
        return AQ_E_AGAIN;
    }
    sender->under_way++;
    if (sender->state == SENDER_BROKEN) {
        return 0; /* into a buffer that nobody will ever read */
    }
    const sim_route route = {
        .from = sender->host,
        .to = push->pulls[sender->place].host,
        .arrival = on_message,
        .user = push,
        .tag = tag_of(sender) << PLACE_BITS | sender->place,
        .not_before_ns = push->disorder ? 0 : sender->last_at_ns,
        .is_stream = !push->disorder,
    };
    sender->last_at_ns = sim_network_carry(push->network, &route, frame, size);
    if (sim_chance(&push->network->world->rng, push->break_share)) {
        break_connection(sender);
    }
    return 0;
}
