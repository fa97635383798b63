/*
 * Everything that the store is told or tells passes by its book.
 */
#include "tests/sim/sim_replay.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/net/security/incarnation.h"
#include "proto/experience.pb-c.h"
#include "tests/sim/sim_plant.h"
#include "tests/support/must.h"

enum { IDLE_TICK_MS = 20, LEARNER_CALLS_MAX = 8, CALLS_MAX = 256, PLANT_AFTER = 40 };

#define REPLY_BYTES_MAX   ((size_t)4 << 20)
#define REPEATS_BYTES_MAX ((size_t)256 << 10)

void sim_replay_init(sim_replay *replay, sim_site *site, uint32_t index)
{
    *replay = (sim_replay){.site = site, .host = SIM_HOST_SHARD + index};
    sim_platter_init(&replay->platter, &site->world, &site->scenario, index);
    sim_shard_urls(index, replay->identity.rpc_url, replay->identity.push_url,
                   sizeof(replay->identity.rpc_url));
}

void sim_replay_fini(sim_replay *replay)
{
    AQ_ASSERT(!replay->runs);
    sim_platter_fini(&replay->platter);
}

/* ---- the tap -------------------------------------------------------------------------------- */

static const char credit_method[] = "actorq.v1.Flow/Credit";
static const char sample_method[] = "actorq.v1.Sampling/Sample";

static aq_replay_counters counters_of(const sim_replay *replay)
{
    return aq_replay_core_counters(aq_replay_service_core(replay->service));
}

static Actorq__V1__CreditRequest *read_credit(const ProtobufCBinaryData *body)
{
    Actorq__V1__CreditRequest *request =
        actorq__v1__credit_request__unpack(NULL, body->len, body->data);
    AQ_ASSERT(request != NULL);
    return request;
}

/* A Credit call is about an actor's process. */
static uint64_t tap_read(void *user, const char *method, const ProtobufCBinaryData *body)
{
    uint64_t about = 0;
    (void)user;
    if (strcmp(method, credit_method) == 0) {
        Actorq__V1__CreditRequest *request = read_credit(body);
        about = request->incarnation;
        actorq__v1__credit_request__free_unpacked(request, NULL);
    }
    return about;
}

static void tap_called(void *user, const char *method, const ProtobufCBinaryData *body)
{
    sim_replay *replay = user;
    if (strcmp(method, credit_method) != 0 || replay->book == NULL) {
        return;
    }
    Actorq__V1__CreditRequest *request = read_credit(body);
    const uint64_t store = replay->book->store;
    if (request->store == store && sim_was_drawn(&replay->site->world, request->incarnation)) {
        const sim_credit known = {
            .incarnation = request->incarnation,
            .stream = sim_ledger_stream(&replay->site->ledger, request->incarnation, store),
            .acknowledged = request->known_acknowledged,
            .granted = request->known_granted,
            .steps = request->acknowledged_steps,
        };
        sim_book_called(replay->book, &known);
    }
    actorq__v1__credit_request__free_unpacked(request, NULL);
}

static void credit_answered(sim_replay *replay, const ProtobufCBinaryData *body, uint64_t about)
{
    Actorq__V1__CreditReply *reply = actorq__v1__credit_reply__unpack(NULL, body->len, body->data);
    AQ_ASSERT(reply != NULL);
    /* A stranger is told nothing but who answers. */
    if (sim_was_drawn(&replay->site->world, about) &&
        reply->shard_incarnation == replay->book->incarnation &&
        (reply->expected > 0 || reply->granted > 0)) {
        const sim_credit answer = {
            .incarnation = about,
            .stream = sim_ledger_stream(&replay->site->ledger, about, replay->book->store),
            .acknowledged = reply->acknowledged,
            .granted = reply->granted,
        };
        sim_trace(&replay->site->world, "credit answered", reply->acknowledged, reply->granted);
        sim_book_answered(replay->book, &answer);
    }
    actorq__v1__credit_reply__free_unpacked(reply, NULL);
}

static void check_sample(sim_replay *replay, Actorq__V1__SampleReply *reply)
{
    sim_book_sampled(replay->book, reply, (float)replay->site->plan.config.learner.discount);
    actorq__v1__sample_reply__free_unpacked(reply, NULL);
}

static void sample_answered(sim_replay *replay, const ProtobufCBinaryData *body)
{
    Actorq__V1__SampleReply *reply = actorq__v1__sample_reply__unpack(NULL, body->len, body->data);
    AQ_ASSERT(reply != NULL);
    sim_trace(&replay->site->world, "sample answered", reply->rows, reply->inserted);
    const aq_replay_counters counters = counters_of(replay);
    sim_book_check_samples(replay->book, &counters);
    if (replay->taking_in) { /* it may be of steps that are not in the book yet */
        AQ_ASSERT(replay->late_count < SIM_LATE_SAMPLES_MAX);
        replay->late[replay->late_count++] = reply;
    } else {
        check_sample(replay, reply);
    }
}

static void tap_answered(void *user, const char *method, const ProtobufCBinaryData *body,
                         uint64_t about)
{
    sim_replay *replay = user;
    if (replay->book == NULL) {
        return;
    }
    if (strcmp(method, credit_method) == 0) {
        credit_answered(replay, body, about);
    } else if (strcmp(method, sample_method) == 0) {
        sample_answered(replay, body);
    }
}

/* ---- experience ----------------------------------------------------------------------------- */

/* As the network would: in a block of its own, which the shard may keep. */
static void give(sim_replay *replay, const uint8_t *frame, size_t size, const char *peer)
{
    sim_site *site = replay->site;
    aq_lease *lease;
    if (aq_lease_copy(frame, size, &lease) != 0) {
        sim_broken(&site->world, SIM_REFUSED, "no memory for a frame of %zu bytes", size);
        return;
    }
    aq_replay_service_experience(replay->service, sim_now_ns(&site->world), lease, peer);
    aq_lease_unref(lease);
}

/* `true_frame` is what the actor sent; `frame` is what a fault made of it, or the same. */
static void hand_in(sim_replay *replay, const uint8_t *true_frame, size_t true_size,
                    const uint8_t *frame, size_t size, const char *peer)
{
    sim_site *site = replay->site;
    if (replay->book == NULL) {
        give(replay, frame, size, peer);
        return;
    }
    const aq_replay_counters before = counters_of(replay);
    replay->taking_in = true;
    give(replay, frame, size, peer);
    replay->taking_in = false;
    const aq_replay_counters after = counters_of(replay);
    sim_ledger_offered(&site->ledger, replay->book, true_frame, true_size, &before, &after);
    for (size_t i = 0; i < replay->late_count; i++) {
        check_sample(replay, replay->late[i]);
    }
    replay->late_count = 0;
}

static void on_experience(void *user, const uint8_t *frame, size_t size, const char *peer)
{
    sim_replay *replay = user;
    enum sim_plant plant = replay->site->scenario.plant;
    aq_buffer planted;
    aq_buffer_init(&planted, 2 * size + 4096);
    bool has_plant = replay->book != NULL && ++replay->messages > PLANT_AFTER &&
                     sim_plant_frame(plant, &replay->site->ledger, frame, size, &planted);
    if (has_plant && !sim_plant_comes_after(plant)) {
        hand_in(replay, frame, size, planted.data, planted.size, peer);
    } else {
        hand_in(replay, frame, size, frame, size, peer);
    }
    if (has_plant && sim_plant_comes_after(plant)) {
        hand_in(replay, planted.data, planted.size, planted.data, planted.size, peer);
    }
    aq_buffer_fini(&planted);
}

static void on_rejected(void *user, const char *peer, const aq_error *error)
{
    sim_replay *replay = user;
    (void)peer;
    sim_broken(&replay->site->world, SIM_REFUSED, "a shard rejects a message: %s", error->text);
}

/* A record that was torn in two by a kill; anything else was whole. */
static void on_damaged(void *user, const char *what)
{
    sim_replay *replay = user;
    if (!replay->platter.torn) {
        sim_broken(&replay->site->world, SIM_RESTORED, "a shard finds damage where none is: %s",
                   what);
    }
}

static void on_stop_call(void *user, const char *peer, const char *reason)
{
    (void)user;
    (void)peer;
    (void)reason;
}

/* ---- membership ----------------------------------------------------------------------------- */

/* What is there already comes back, and the log goes on behind it. */
static bool open_platter(sim_replay *replay, const aq_member_view *view)
{
    sim_site *site = replay->site;
    const int64_t now_ns = sim_now_ns(&site->world);
    const aq_replay_log_recovery recovery = aq_replay_service_recovery(replay->service, now_ns);
    aq_error error = {0};
    aq_replay_log *log;
    uint64_t last_number;
    if (!sim_platter_open(&replay->platter, &recovery, &last_number, &log, &error)) {
        sim_broken(&site->world, SIM_RESTORED, "a store cannot be restored: %s", error.text);
        return false;
    }
    must(aq_replay_service_attach(replay->service, now_ns, log, last_number, SIM_BACKLOG_BYTES,
                                  "the platter"));
    replay->platter.store = replay->identity.store;
    replay->platter.slot = view->slot;
    return true;
}

static void begin_book(sim_replay *replay, uint64_t incarnation)
{
    sim_site *site = replay->site;
    const sim_platter *platter = &replay->platter;
    const bool durable = site->scenario.durable;
    replay->book = sim_ledger_book(&site->ledger, replay->identity.store, durable);
    sim_book_begins(replay->book, incarnation, durable ? sim_platter_oldest(platter) : 1,
                    durable ? platter->count : 0);
    sim_trace(&site->world, "store begins", replay->book->inserted, replay->book->transitions);
    sim_book_check_restored(replay->book, aq_replay_service_core(replay->service));
}

static void begin_store(sim_replay *replay, const aq_member_view *view)
{
    sim_site *site = replay->site;
    aq_error error = {0};
    uint64_t incarnation = replay->stores == 0 ? aq_incarnation_name(replay->identity.incarnation)
                                               : sim_draw_incarnation(&site->world);
    replay->stores++;
    aq_run_settings settings = view->settings;
    if (site->scenario.plant == SIM_PLANT_CREDIT) {
        settings.tables[0].min_size += 4 * (uint64_t)settings.tables[0].tolerance + 2000;
    }
    if (site->scenario.plant == SIM_PLANT_SAMPLES) {
        settings.tables[0].samples_per_insert *= 4;
    }
    const aq_shard_run run = {
        .settings = &settings,
        .run_id = view->run_id,
        .store = replay->identity.store,
        .incarnation = incarnation,
        .seed = view->settings.seed,
    };
    int rc = aq_replay_service_begin(replay->service, sim_now_ns(&site->world), &run, NULL, &error);
    if (rc != 0) {
        sim_broken(&site->world, SIM_REFUSED, "a store cannot begin: %s", error.text);
        return;
    }
    if (!site->scenario.durable || open_platter(replay, view)) {
        begin_book(replay, incarnation);
    }
}

static void end_book(sim_replay *replay, const aq_replay_core *core)
{
    if (replay->book != NULL) {
        sim_book_ends(replay->book, core);
        replay->book = NULL;
    }
}

/* As aq_replay_store_stop: what is known is saved, what was taken is written. */
static void end_store(sim_replay *replay, const char *why)
{
    aq_replay_core *core = aq_replay_service_release(replay->service, why);
    if (core == NULL) {
        return;
    }
    const aq_lease *before = replay->platter.waiting;
    aq_replay_core_save(core);
    const bool is_saved = before == NULL && replay->platter.waiting != NULL;
    end_book(replay, is_saved && !replay->platter.full ? core : NULL);
    aq_replay_core_destroy(core);
}

/* It loses whatever was not durable. */
static void lose_store(sim_replay *replay)
{
    if (replay->platter.is_open) {
        sim_platter_kill(&replay->platter);
    }
    end_book(replay, NULL);
    aq_replay_service_end(replay->service, "killed");
}

static void on_joined(void *user, const aq_member_view *view, int again)
{
    sim_replay *replay = user;
    sim_trace(&replay->site->world, "shard joined", view->member, (uint64_t)again);
    if (aq_replay_service_core(replay->service) != NULL && !again) {
        end_store(replay, "the learner is in another run");
    }
    if (aq_replay_service_core(replay->service) == NULL) {
        begin_store(replay, view);
    }
}

static void on_changed(void *user, const aq_member_view *view)
{
    (void)user;
    (void)view;
}

static void on_left(void *user)
{
    sim_replay *replay = user;
    replay->has_left = true;
}

static void on_ended(void *user, const aq_member_view *view, const char *reason)
{
    sim_replay *replay = user;
    if (view->state == AQ_MEMBER_REFUSED) {
        sim_broken(&replay->site->world, SIM_REFUSED, "a shard is refused: %s", reason);
        return;
    }
    if (!replay->stopping) {
        replay->stopping = true;
        end_store(replay, "this shard stops");
        aq_member_leave(replay->member, reason, on_left, replay);
    }
}

static void on_statistics(void *user, Actorq__V1__HeartbeatRequest *request)
{
    sim_replay *replay = user;
    aq_replay_service_statistics(replay->service, &replay->statistics);
    request->replay = &replay->statistics.message;
}

/* ---- life ----------------------------------------------------------------------------------- */

static void on_tick(void *user, uint64_t life)
{
    sim_replay *replay = user;
    sim_site *site = replay->site;
    int64_t now_ns = sim_now_ns(&site->world);
    if (!replay->runs || replay->life != life ||
        sim_host_postpones(&site->network, replay->host, on_tick, replay, life)) {
        return;
    }
    if (replay->has_left) {
        sim_replay_stop(replay); /* the loop ends, the sockets are closed */
        return;
    }
    aq_replay_service_tick(replay->service, now_ns);
    if (now_ns >= replay->member_due_ns) {
        aq_member_tick(replay->member, now_ns, &replay->member_due_ns);
    }
    if (replay->book != NULL) {
        const aq_replay_counters counters = counters_of(replay);
        sim_book_compare(replay->book, &counters);
    }
    bool busy = aq_replay_service_core(replay->service) != NULL;
    int64_t pause_ms = busy ? AQ_REPLAY_TICK_MS : IDLE_TICK_MS;
    sim_agenda_at(site->world.agenda, now_ns + pause_ms * AQ_NS_PER_MS, on_tick, replay, life);
}

void sim_replay_start(sim_replay *replay)
{
    sim_site *site = replay->site;
    const aq_replay_service_owner owner = {
        .user = replay,
        .rejected = on_rejected,
        .damaged = on_damaged,
        .stop = on_stop_call,
    };
    const aq_member_owner member = {
        .user = replay,
        .joined = on_joined,
        .changed = on_changed,
        .ended = on_ended,
        .statistics = on_statistics,
    };
    const sim_tap tap = {
        .user = replay, .read = tap_read, .called = tap_called, .answered = tap_answered};
    AQ_ASSERT(!replay->runs);
    sim_host_start(&site->network, replay->host);
    replay->runs = true;
    replay->life = site->network.hosts[replay->host].life;
    replay->stopping = false;
    replay->has_left = false;
    replay->stores = 0;
    replay->member_due_ns = INT64_MIN;
    replay->identity.role = AQ_ROLE_REPLAY;
    replay->identity.incarnation = sim_draw_incarnation(&site->world);
    replay->identity.store =
        replay->platter.store != 0 ? replay->platter.store : sim_draw_incarnation(&site->world);
    replay->identity.slot = replay->platter.slot;
    must(aq_replay_service_create(&owner, sim_now_ns(&site->world), &replay->service));
    must(aq_rpc_dispatcher_create(CALLS_MAX, REPLY_BYTES_MAX, REPEATS_BYTES_MAX,
                                  &replay->dispatcher));
    must(aq_replay_service_offer(replay->service, replay->dispatcher));
    sim_rpc_listen(&site->rpc, replay->identity.rpc_url, replay->dispatcher, &tap);
    sim_push_listen(&site->push, replay->identity.push_url, on_experience, replay);
    replay->learner =
        sim_client_open(&site->rpc, replay->host, SIM_LEARNER_URL, LEARNER_CALLS_MAX, NULL, NULL);
    must(aq_member_create(sim_client_channel(replay->learner), &replay->identity, &member,
                          replay->identity.incarnation, &replay->member));
    sim_agenda_at(site->world.agenda, 0, on_tick, replay, replay->life);
}

static void end_process(sim_replay *replay)
{
    sim_site *site = replay->site;
    sim_host_stop(&site->network, replay->host);
    replay->runs = false;
    sim_rpc_close(&site->rpc, replay->identity.rpc_url);
    sim_push_close(&site->push, replay->identity.push_url);
    sim_client_close(replay->learner);
    aq_member_destroy(replay->member);
    aq_replay_service_destroy(replay->service);
    aq_rpc_dispatcher_destroy(replay->dispatcher);
}

void sim_replay_kill(sim_replay *replay)
{
    AQ_ASSERT(replay->runs);
    lose_store(replay);
    end_process(replay);
}

void sim_replay_stop(sim_replay *replay)
{
    AQ_ASSERT(replay->runs);
    end_store(replay, "terminated");
    end_process(replay);
}
