/*
 * One event is on the agenda for the earliest due time; those that were asked for earlier and
 * became needless find that it is not their time.
 */
#include "tests/sim/sim_pump.h"

/* From an event to the turn that it wakes; and the least that an idle turn takes. */
#define WAKE_NS (20 * AQ_NS_PER_US)

enum { IDLE_TURNS_MAX = 50 };

static void on_due(void *user, uint64_t life);

static void ask(sim_pump *pump, int64_t due_ns)
{
    if (due_ns < pump->due_ns) {
        pump->due_ns = due_ns;
        sim_agenda_at(pump->network->world->agenda, due_ns, on_due, pump, pump->life);
    }
}

static void on_due(void *user, uint64_t life)
{
    sim_pump *pump = user;
    sim_world *world = pump->network->world;
    int64_t now_ns = sim_now_ns(world);
    if (!pump->runs || pump->life != life || pump->due_ns > now_ns ||
        sim_host_postpones(pump->network, pump->host, on_due, pump, life)) {
        return;
    }
    pump->due_ns = INT64_MAX;
    int64_t next_ns = pump->turn(pump->user, now_ns);
    if (!pump->runs) {
        return;
    }
    pump->idle_turns = next_ns <= now_ns ? pump->idle_turns + 1 : 0;
    if (pump->idle_turns > IDLE_TURNS_MAX) {
        sim_broken(world, SIM_IDLE, "host %u is due again and again, and does nothing", pump->host);
    }
    ask(pump, next_ns > now_ns ? next_ns : now_ns + WAKE_NS);
}

void sim_pump_start(sim_pump *pump)
{
    pump->runs = true;
    pump->life = pump->network->hosts[pump->host].life;
    pump->due_ns = INT64_MAX;
    pump->idle_turns = 0;
    ask(pump, sim_now_ns(pump->network->world));
}

void sim_pump_stop(sim_pump *pump)
{
    pump->runs = false;
}

void sim_pump_wake(sim_pump *pump)
{
    if (pump->runs) {
        ask(pump, sim_now_ns(pump->network->world) + WAKE_NS);
    }
}
