/*
 * Every message on its way is one block in a list, with one event on the agenda.
 */
#include "tests/sim/sim_network.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

/* Everybody keeps a few messages under way at most. */
enum { MESSAGES_MAX = 1 << 14 };

struct sim_message {
    sim_network *network;
    sim_message *next, *previous;
    sim_route route;
    bool is_lost;
    bool is_second;
    uint8_t *frame;
    size_t size;
};

void sim_network_init(sim_network *network, sim_world *world)
{
    *network = (sim_network){.world = world, .weather = sim_weather_calm()};
}

static void forget(sim_message *message)
{
    sim_network *network = message->network;
    if (message->next != NULL) {
        message->next->previous = message->previous;
    }
    if (message->previous != NULL) {
        message->previous->next = message->next;
    } else {
        network->messages = message->next;
    }
    network->message_count--;
    aq_free(message->frame);
    aq_free(message);
}

void sim_network_fini(sim_network *network)
{
    while (network->messages != NULL) {
        forget(network->messages);
    }
}

sim_weather sim_weather_calm(void)
{
    return (sim_weather){
        .delay_min_ns = 50 * AQ_NS_PER_US,
        .delay_max_ns = 500 * AQ_NS_PER_US,
    };
}

void sim_host_start(sim_network *network, uint32_t host)
{
    AQ_ASSERT(!network->hosts[host].up);
    network->hosts[host].up = true;
    network->hosts[host].life++;
    network->hosts[host].still_until_ns = 0;
    sim_trace(network->world, "host starts", host, network->hosts[host].life);
}

void sim_host_stop(sim_network *network, uint32_t host)
{
    AQ_ASSERT(network->hosts[host].up);
    network->hosts[host].up = false;
    sim_trace(network->world, "host stops", host, network->hosts[host].life);
}

void sim_host_stand_still(sim_network *network, uint32_t host, int64_t until_ns)
{
    network->hosts[host].still_until_ns = until_ns;
    sim_trace(network->world, "host stands still", host, (uint64_t)until_ns);
}

bool sim_host_postpones(sim_network *network, uint32_t host, sim_event_fn run, void *user,
                        uint64_t tag)
{
    int64_t until_ns = network->hosts[host].still_until_ns;
    if (!network->hosts[host].up || until_ns <= sim_now_ns(network->world)) {
        return false;
    }
    sim_agenda_at(network->world->agenda, until_ns, run, user, tag);
    return true;
}

static void on_arrival(void *user, uint64_t tag)
{
    sim_message *message = user;
    sim_network *network = message->network;
    sim_route route = message->route;
    const sim_host *to = &network->hosts[route.to];
    if (!message->is_lost && sim_host_postpones(network, route.to, on_arrival, message, tag)) {
        return;
    }
    bool arrives = !message->is_lost && to->up && !network->cut[route.from][route.to];
    if (arrives) {
        sim_trace(network->world, "arrives", route.from, route.to);
        route.arrival(route.user, route.tag, message->frame, message->size);
    } else {
        network->lost++;
        if (!message->is_second) {
            route.arrival(route.user, route.tag, NULL, 0);
        }
    }
    forget(message);
}

static int64_t draw_delay_ns(sim_network *network)
{
    const sim_weather *weather = &network->weather;
    aq_rng *rng = &network->world->rng;
    if (sim_chance(rng, weather->late_share)) {
        return sim_draw_ns(rng, weather->delay_max_ns, weather->late_max_ns);
    }
    return sim_draw_ns(rng, weather->delay_min_ns, weather->delay_max_ns);
}

static int64_t carry_one(sim_network *network, const sim_route *route, const uint8_t *frame,
                         size_t size, bool is_second)
{
    sim_message *message = must_alloc(1, sizeof(*message));
    AQ_ASSERT(network->message_count < MESSAGES_MAX);
    *message = (sim_message){
        .network = network,
        .next = network->messages,
        .route = *route,
        .is_second = is_second,
        .frame = aq_alloc(size, 1),
        .size = size,
    };
    AQ_ASSERT(message->frame != NULL);
    memcpy(message->frame, frame, size);
    if (message->next != NULL) {
        message->next->previous = message;
    }
    network->messages = message;
    network->message_count++;
    message->is_lost =
        !route->is_stream && sim_chance(&network->world->rng, network->weather.loss_share);
    int64_t at_ns = sim_now_ns(network->world) + draw_delay_ns(network);
    at_ns = at_ns > route->not_before_ns ? at_ns : route->not_before_ns;
    sim_agenda_at(network->world->agenda, at_ns, on_arrival, message, 0);
    return at_ns;
}

int64_t sim_network_carry(sim_network *network, const sim_route *route, const uint8_t *frame,
                          size_t size)
{
    AQ_ASSERT(route->from < SIM_HOSTS_MAX && route->to < SIM_HOSTS_MAX);
    if (!route->is_stream && sim_chance(&network->world->rng, network->weather.twice_share)) {
        network->doubled++;
        (void)carry_one(network, route, frame, size, true);
    }
    return carry_one(network, route, frame, size, false);
}
