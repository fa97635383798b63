/*
 * The member's state machine. One call is out at a time, so an answer always belongs to the state
 * it was asked in, and a learner that is slow is never asked twice.
 *
 * An answer may come when the member was destroyed, and an owner may destroy it from inside a
 * callback. So the memory has holders: the owner, the call that is out, and a running tick.
 * Destroying gives up the owner's share and silences the rest.
 *
 * Only aq_member_tick knows the time. A failure leaves a pause behind, which the next tick turns
 * into a moment.
 *
 * One thread, the loop's.
 */
#include "common/member/member.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/member/member_read.h"
#include "common/wire/wire_energy.h"

/* Until a learner has told its own. */
enum { FIRST_PAUSE_MIN_MS = 50, FIRST_PAUSE_MAX_MS = 2000, FIRST_TIMEOUT_MS = 2000 };

/* While a call is out, its answer may be there this soon. */
enum { LOOK_AGAIN_MS = 50 };

/* An actor has nothing to do until there is a shard, so it asks more often at first: the pause
 * doubles with every answer that names none. */
enum { NO_SHARD_PAUSE_MS = 20 };

enum { JITTER_STREAM = 0x6d656d62 }; /* "memb" */

enum leave_progress { LEAVE_NOT, LEAVE_WANTED, LEAVE_SENT };

struct aq_member {
    aq_rpc_stub stub;
    aq_member_identity identity;
    aq_member_owner owner;
    aq_rng jitter;
    aq_member_view view;
    aq_member_view next;      /* what an answer would make of the view */
    uint64_t joined_run;      /* the last that the owner was told of; 0: none */
    aq_energy_reading before; /* what this process had taken when it joined that: not the run's */
    bool is_calling;          /* one call is out */
    uint32_t holders;
    bool gone;          /* destroyed: nobody is told anything any more */
    bool registered;    /* the learner has this member, for all that is known here */
    uint32_t failures;  /* in a row */
    uint32_t shardless; /* heartbeats in a row that named no shard */
    bool unheard;       /* the last of them because the learner did not answer */
    uint32_t pause_ms;  /* from the next tick on, before the next call */
    int64_t due_ns;     /* of the next call */
    int64_t sent_ns;    /* of the call that is out */
    enum leave_progress leave;
    void (*left)(void *user);
    void *left_user;
    char leave_reason[AQ_RPC_MESSAGE_MAX];
};

static void hold(aq_member *member)
{
    member->holders++;
}

static void drop(aq_member *member)
{
    AQ_ASSERT(member->holders > 0);
    member->holders--;
    if (member->holders == 0) {
        aq_free(member);
    }
}

int aq_member_create(aq_rpc_channel *channel, const aq_member_identity *identity,
                     const aq_member_owner *owner, uint64_t seed, aq_member **ret_member)
{
    AQ_ASSERT(owner->joined != NULL);
    AQ_ASSERT(owner->changed != NULL);
    AQ_ASSERT(owner->ended != NULL);
    AQ_ASSERT(owner->statistics != NULL);
    aq_member *member = aq_alloc(1, sizeof(*member));
    if (member == NULL) {
        return AQ_E_NOMEM;
    }
    aq_rpc_stub_init(&member->stub, channel, &actorq__v1__membership__descriptor, FIRST_TIMEOUT_MS);
    aq_rng_init(&member->jitter, seed, JITTER_STREAM);
    member->identity = *identity;
    member->owner = *owner;
    member->view.state = AQ_MEMBER_JOINING;
    member->view.slot = identity->slot;
    member->due_ns = INT64_MIN;
    hold(member);
    *ret_member = member;
    return 0;
}

void aq_member_destroy(aq_member *member)
{
    if (member != NULL) {
        AQ_ASSERT(!member->gone);
        member->gone = true;
        drop(member);
    }
}

const aq_member_view *aq_member_look(const aq_member *member)
{
    return &member->view;
}

/* ---- trouble and ends ---------------------------------------------------------------------- */

/* The pause doubles with every failure in a row, between the bounds, and is drawn from its upper
 * half: a thousand members that lost one learner must not come back in step. */
static uint32_t draw_pause_ms(aq_member *member)
{
    const aq_run_config *config = &member->view.settings.config;
    uint64_t min_ms = member->joined_run != 0 ? config->net.reconnect_min_ms : FIRST_PAUSE_MIN_MS;
    uint64_t max_ms = member->joined_run != 0 ? config->net.reconnect_max_ms : FIRST_PAUSE_MAX_MS;
    uint64_t high = member->failures < 32 ? min_ms << member->failures : max_ms;
    high = high < max_ms ? high : max_ms;
    uint64_t low = high / 2 > min_ms ? high / 2 : min_ms;
    return (uint32_t)(low + aq_rng_below(&member->jitter, high - low + 1));
}

static void tell_trouble(const aq_member *member, const char *reason)
{
    if (member->owner.trouble != NULL) {
        member->owner.trouble(member->owner.user, reason);
    }
}

static void failed(aq_member *member, const char *reason)
{
    member->failures += member->failures < UINT32_MAX;
    member->pause_ms = draw_pause_ms(member);
    tell_trouble(member, reason);
}

static void end(aq_member *member, enum aq_member_state state, const char *reason)
{
    member->view.state = state;
    member->owner.ended(member->owner.user, &member->view, reason);
}

static void end_run(aq_member *member)
{
    static const char *const reasons[] = {
        [AQ_RUN_SOLVED] = "the run ended: solved",
        [AQ_RUN_BUDGET] = "the run ended: a limit of steps or time was reached",
        [AQ_RUN_STOPPED] = "the run ended: it was stopped",
        [AQ_RUN_DIVERGED] = "the run ended: it diverged",
    };
    end(member, AQ_MEMBER_ENDED, reasons[member->view.run_state]);
}

/* What asking again cannot mend. */
static bool is_final(uint32_t code)
{
    switch (code) {
    case AQ_RPC_INVALID_ARGUMENT:
    case AQ_RPC_PERMISSION_DENIED:
    case AQ_RPC_FAILED_PRECONDITION:
    case AQ_RPC_UNIMPLEMENTED:
    case AQ_RPC_UNAUTHENTICATED:
        return true;
    default:
        return false;
    }
}

enum { REASON_MAX = AQ_RPC_MESSAGE_MAX + 32 };

/* Of a call that came back without an answer: whether it was refused for good, and why. Another one
 * has failed by then, as the learner did not answer. */
static bool is_refused(aq_member *member, char ret_reason[REASON_MAX])
{
    const aq_rpc_status *status = aq_rpc_stub_status(&member->stub);
    snprintf(ret_reason, REASON_MAX, "%s: %s", aq_rpc_code_name(status->code), status->message);
    if (is_final(status->code)) {
        return true;
    }
    member->unheard = true;
    failed(member, ret_reason);
    return false;
}

/* ---- energy --------------------------------------------------------------------------------- */

static void read_meter(const aq_member *member, aq_energy_reading *ret_reading)
{
    if (member->identity.meter != NULL) {
        aq_energy_meter_read(member->identity.meter, aq_clock_monotonic_ns(), ret_reading);
    }
}

/* NULL without a meter. */
static Actorq__V1__EnergyStats *read_energy(const aq_member *member, aq_wire_energy *energy)
{
    aq_energy_reading reading;
    if (member->identity.meter == NULL) {
        return NULL;
    }
    read_meter(member, &reading);
    aq_energy_reading_since(&reading, &member->before);
    aq_wire_energy_to(&reading, energy);
    return &energy->message;
}

/* ---- leave --------------------------------------------------------------------------------- */

static void call_begins(aq_member *member)
{
    AQ_ASSERT(!member->is_calling);
    member->is_calling = true;
    hold(member);
}

static void on_leave(const Actorq__V1__LeaveReply *reply, void *user)
{
    aq_member *member = user;
    (void)reply; /* heard or not, this member goes */
    member->is_calling = false;
    if (!member->gone) {
        member->left(member->left_user);
    }
    drop(member);
}

static void send_leave(aq_member *member)
{
    member->leave = LEAVE_SENT;
    if (!member->registered) {
        member->left(member->left_user);
        return;
    }
    Actorq__V1__LeaveRequest request;
    actorq__v1__leave_request__init(&request);
    request.run_id = member->view.run_id;
    request.member = member->view.member;
    request.incarnation = member->identity.incarnation;
    request.reason = member->leave_reason;
    aq_wire_energy energy;
    request.energy = read_energy(member, &energy);
    member->registered = false;
    call_begins(member);
    actorq__v1__membership__leave(&member->stub.base, &request, on_leave, member);
}

void aq_member_leave(aq_member *member, const char *reason, void (*done)(void *user), void *user)
{
    AQ_ASSERT(member->leave == LEAVE_NOT);
    member->leave = LEAVE_WANTED;
    member->left = done;
    member->left_user = user;
    snprintf(member->leave_reason, sizeof(member->leave_reason), "%s", reason);
    hold(member); /* `done` may run now, and destroy */
    if (!member->is_calling) {
        send_leave(member);
    }
    drop(member);
}

/* Every answer to Join and Heartbeat ends here: a Leave that waited for it goes out now. */
static void call_ends(aq_member *member)
{
    if (!member->gone && member->leave == LEAVE_WANTED) {
        send_leave(member);
    }
    drop(member);
}

/* ---- join ---------------------------------------------------------------------------------- */

static void join_failed(aq_member *member)
{
    char reason[REASON_MAX];
    if (is_refused(member, reason)) {
        end(member, AQ_MEMBER_REFUSED, reason);
    }
}

static void join_answered(aq_member *member, const Actorq__V1__JoinReply *reply)
{
    aq_error error = {0};
    member->next = member->view;
    member->next.state = AQ_MEMBER_JOINED;
    if (aq_member_read_join(reply, &member->next, &error) != 0) {
        aq_fail_context(&error, error.code, "the learner's answer to Join");
        end(member, AQ_MEMBER_REFUSED, error.text);
        return;
    }
    bool again = reply->run_id == member->joined_run;
    if (!again) {
        member->next.version = 0;
        member->next.shard_count = 0;
    }
    member->view = member->next;
    if (member->view.run_state != AQ_RUN_RUNNING) {
        end_run(member);
        return;
    }
    member->joined_run = member->view.run_id;
    member->shardless = 0;
    member->stub.timeout_ms = (uint32_t)member->view.settings.config.net.rpc_timeout_ms;
    member->due_ns = member->sent_ns; /* the first heartbeat brings the shards */
    member->owner.joined(member->owner.user, &member->view, again);
}

static void on_join(const Actorq__V1__JoinReply *reply, void *user)
{
    aq_member *member = user;
    member->is_calling = false;
    if (reply != NULL) { /* what a Leave needs, whatever else comes of the reply */
        member->registered = true;
        if (reply->run_id != member->joined_run) {
            read_meter(member, &member->before);
        }
        member->view.run_id = reply->run_id;
        member->view.member = reply->member;
    }
    if (!member->gone && member->leave == LEAVE_NOT) {
        if (reply != NULL) {
            join_answered(member, reply);
        } else {
            join_failed(member);
        }
    }
    call_ends(member);
}

static void send_join(aq_member *member)
{
    static char software[] = AQ_VERSION;
    Actorq__V1__JoinRequest request;
    actorq__v1__join_request__init(&request);
    request.role = (Actorq__V1__Role)member->identity.role;
    request.incarnation = member->identity.incarnation;
    request.member = member->view.member;
    request.slot = member->view.slot;
    request.run_id = member->view.run_id;
    if (member->owner.seen_version != NULL) {
        request.version = member->owner.seen_version(member->owner.user);
    }
    request.host = member->identity.host;
    request.pid = member->identity.pid;
    request.software = software;
    request.store = member->identity.store;
    request.rpc_url = member->identity.rpc_url;
    request.push_url = member->identity.push_url;
    aq_energy_reading unused;
    read_meter(member, &unused); /* a counter that is not read for a minute may wrap */
    call_begins(member);
    actorq__v1__membership__join(&member->stub.base, &request, on_join, member);
}

/* ---- heartbeat ----------------------------------------------------------------------------- */

static void forgotten(aq_member *member, const char *reason)
{
    member->registered = false;
    member->view.state = AQ_MEMBER_JOINING;
    failed(member, reason);
}

static void heartbeat_failed(aq_member *member)
{
    char reason[REASON_MAX];
    if (is_refused(member, reason)) { /* no learner of ours any more; joining tells what it is */
        forgotten(member, reason);
    }
}

static bool differ(const aq_member_view *a, const aq_member_view *b)
{
    return a->version != b->version || a->shard_count != b->shard_count ||
           a->settings_generation != b->settings_generation ||
           a->is_asked_to_leave != b->is_asked_to_leave ||
           memcmp(a->shards, b->shards, a->shard_count * sizeof(a->shards[0])) != 0;
}

static uint64_t heartbeat_pause_ms(aq_member *member)
{
    const uint64_t heartbeat_ms = member->view.settings.config.net.heartbeat_ms;
    const bool waits = member->identity.role == AQ_ROLE_ACTOR && member->view.shard_count == 0;
    const uint64_t soon_ms = (uint64_t)NO_SHARD_PAUSE_MS << member->shardless;
    if (!waits || soon_ms >= heartbeat_ms) {
        member->shardless = waits ? member->shardless : 0;
        return heartbeat_ms;
    }
    member->shardless++;
    return soon_ms;
}

static void heartbeat_answered(aq_member *member, const Actorq__V1__HeartbeatReply *reply)
{
    aq_error error = {0};
    if (!reply->known) {
        /* The line was cut for long enough, and has healed: to pause for that is over. */
        member->failures = member->unheard ? 0 : member->failures;
        member->unheard = false;
        forgotten(member, "the learner does not know this member any more; joining again");
        return;
    }
    member->next = member->view;
    if (aq_member_read_heartbeat(reply, &member->next, &error) != 0) {
        failed(member, error.text);
        return;
    }
    /* What is refused of them leaves the old ones in use, and the rest of the answer counts. */
    const bool refuses = aq_member_read_settings(reply, &member->next, &error) != 0;
    bool changed = differ(&member->view, &member->next);
    member->view = member->next;
    member->failures = 0;
    member->unheard = false;
    member->due_ns = member->sent_ns + (int64_t)heartbeat_pause_ms(member) * AQ_NS_PER_MS;
    if (member->view.run_state != AQ_RUN_RUNNING) {
        end_run(member);
    } else if (changed) {
        member->owner.changed(member->owner.user, &member->view);
    }
    if (refuses && !member->gone) {
        tell_trouble(member, error.text);
    }
}

static void on_heartbeat(const Actorq__V1__HeartbeatReply *reply, void *user)
{
    aq_member *member = user;
    member->is_calling = false;
    if (!member->gone && member->leave == LEAVE_NOT) {
        if (reply != NULL) {
            heartbeat_answered(member, reply);
        } else {
            heartbeat_failed(member);
        }
    }
    call_ends(member);
}

static void send_heartbeat(aq_member *member)
{
    Actorq__V1__HeartbeatRequest request;
    actorq__v1__heartbeat_request__init(&request);
    request.run_id = member->view.run_id;
    request.member = member->view.member;
    request.incarnation = member->identity.incarnation;
    request.settings_generation = member->view.settings_generation;
    member->owner.statistics(member->owner.user, &request);
    aq_wire_energy energy;
    request.energy = read_energy(member, &energy);
    call_begins(member);
    actorq__v1__membership__heartbeat(&member->stub.base, &request, on_heartbeat, member);
}

/* ---- time ---------------------------------------------------------------------------------- */

static bool has_work(const aq_member *member)
{
    return !member->gone && member->leave == LEAVE_NOT &&
           (member->view.state == AQ_MEMBER_JOINING || member->view.state == AQ_MEMBER_JOINED);
}

static void place_pause(aq_member *member, int64_t now_ns)
{
    if (member->pause_ms > 0) {
        member->due_ns = now_ns + (int64_t)member->pause_ms * AQ_NS_PER_MS;
        member->pause_ms = 0;
    }
}

void aq_member_tick(aq_member *member, int64_t now_ns, int64_t *ret_next_ns)
{
    int64_t next_ns = INT64_MAX;
    hold(member);
    if (has_work(member) && !member->is_calling) {
        place_pause(member, now_ns);
        if (now_ns >= member->due_ns) {
            member->sent_ns = now_ns;
            if (member->view.state == AQ_MEMBER_JOINING) {
                send_join(member);
            } else {
                send_heartbeat(member);
            }
            place_pause(member, now_ns); /* what could not even be sent has failed already */
        }
    }
    if (has_work(member)) {
        next_ns = member->is_calling ? now_ns + LOOK_AGAIN_MS * AQ_NS_PER_MS : member->due_ns;
    }
    drop(member);
    *ret_next_ns = next_ns;
}
