/*
 * Subscribers dial in a rhythm of their own, which is drawn.
 */
#include "tests/sim/sim_broadcast.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

#define DIAL_NS_MIN (2 * AQ_NS_PER_MS)
#define DIAL_NS_MAX (400 * AQ_NS_PER_MS)

struct sim_subscriber {
    sim_subscriber *next;
    sim_broadcast *broadcast;
    uint64_t id;
    uint32_t host;
    uint64_t life; /* of the publisher that it is connected to; 0: none */
    bool dialling;
    sim_heard_fn heard;
    void *user;
};

void sim_broadcast_init(sim_broadcast *broadcast, sim_network *network, uint32_t host)
{
    *broadcast = (sim_broadcast){.network = network, .host = host, .next_subscriber = 1};
}

void sim_broadcast_fini(sim_broadcast *broadcast)
{
    AQ_ASSERT(broadcast->subscribers == NULL);
}

static sim_subscriber *find(const sim_broadcast *broadcast, uint64_t id)
{
    sim_subscriber *subscriber = broadcast->subscribers;
    while (subscriber != NULL && subscriber->id != id) {
        subscriber = subscriber->next;
    }
    return subscriber;
}

static void dial(sim_subscriber *subscriber);

static void on_dialled(void *user, uint64_t id)
{
    sim_broadcast *broadcast = user;
    sim_subscriber *subscriber = find(broadcast, id);
    if (subscriber == NULL) {
        return;
    }
    const sim_network *network = broadcast->network;
    subscriber->dialling = false;
    if (broadcast->publishes && !network->cut[subscriber->host][broadcast->host] &&
        !network->cut[broadcast->host][subscriber->host]) {
        subscriber->life = network->hosts[broadcast->host].life;
    } else {
        dial(subscriber);
    }
}

static void dial(sim_subscriber *subscriber)
{
    sim_broadcast *broadcast = subscriber->broadcast;
    sim_world *world = broadcast->network->world;
    subscriber->life = 0;
    if (!subscriber->dialling) {
        subscriber->dialling = true;
        sim_agenda_at(world->agenda,
                      sim_now_ns(world) + sim_draw_ns(&world->rng, DIAL_NS_MIN, DIAL_NS_MAX),
                      on_dialled, broadcast, subscriber->id);
    }
}

void sim_broadcast_open(sim_broadcast *broadcast)
{
    broadcast->publishes = true;
}

void sim_broadcast_close(sim_broadcast *broadcast)
{
    broadcast->publishes = false;
    for (sim_subscriber *at = broadcast->subscribers; at != NULL; at = at->next) {
        dial(at);
    }
}

sim_subscriber *sim_subscribe(sim_broadcast *broadcast, uint32_t host, sim_heard_fn heard,
                              void *user)
{
    sim_subscriber *subscriber = must_alloc(1, sizeof(*subscriber));
    *subscriber = (sim_subscriber){
        .next = broadcast->subscribers,
        .broadcast = broadcast,
        .id = broadcast->next_subscriber++,
        .host = host,
        .heard = heard,
        .user = user,
    };
    broadcast->subscribers = subscriber;
    dial(subscriber);
    return subscriber;
}

void sim_unsubscribe(sim_subscriber *subscriber)
{
    if (subscriber == NULL) {
        return;
    }
    sim_subscriber **at = &subscriber->broadcast->subscribers;
    while (*at != subscriber) {
        at = &(*at)->next;
    }
    *at = subscriber->next;
    aq_free(subscriber);
}

static void on_heard(void *user, uint64_t id, const uint8_t *frame, size_t size)
{
    sim_broadcast *broadcast = user;
    sim_subscriber *subscriber = find(broadcast, id);
    if (subscriber == NULL) {
        return;
    }
    if (frame == NULL) {
        dial(subscriber);
    } else {
        subscriber->heard(subscriber->user, frame, size);
    }
}

void sim_broadcast_send(sim_broadcast *broadcast, const uint8_t *frame, size_t size)
{
    const sim_network *network = broadcast->network;
    AQ_ASSERT(broadcast->publishes);
    for (sim_subscriber *at = broadcast->subscribers; at != NULL; at = at->next) {
        if (at->life == network->hosts[broadcast->host].life) {
            const sim_route route = {
                .from = broadcast->host,
                .to = at->host,
                .arrival = on_heard,
                .user = broadcast,
                .tag = at->id,
            };
            (void)sim_network_carry(broadcast->network, &route, frame, size);
        }
    }
}
