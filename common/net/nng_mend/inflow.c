/*
 * See inflow.h. Looking for somebody to cut goes through all connections; it is needed only when
 * too much is held already.
 */
#include "common/net/nng_mend/inflow.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"

enum {
    GREETING_BYTES = 8, /* of SP: zero, 'S', 'P', zero, the pattern, zero */
    LENGTH_BYTES = 8,   /* before each message, big-endian */
};

/* Who is sending is heard more often, also where packets get lost. */
#define SILENT_NS AQ_NS_PER_S

enum phase { PHASE_GREETING, PHASE_LENGTH, PHASE_BODY, PHASE_HANDSHAKE, PHASE_STRANGE };

/* Of TLS: the first byte of a connection, and of a record that only who has shaken hands sends;
 * what is before the content of a record. */
enum { TLS_HANDSHAKE = 22, TLS_DATA = 23, TLS_HEADER_BYTES = 5, TLS_LENGTH_AT = 3 };

aq_inflow_guest *aq_inflow_guest_of(aq_inflow *inflow, int descriptor)
{
    const bool known =
        descriptor >= 0 && descriptor < AQ_INFLOW_DESCRIPTORS_MAX && inflow->here[descriptor];
    return known ? &inflow->guests[descriptor] : NULL;
}

static void end_handshake(aq_inflow *inflow, aq_inflow_guest *guest)
{
    if (guest->shakes_hands) {
        guest->shakes_hands = false;
        inflow->neighbours[guest->neighbour].handshakes--;
        inflow->handshakes--;
    }
}

static void release(aq_inflow *inflow, aq_inflow_guest *guest)
{
    inflow->held_bytes -= guest->held_bytes;
    inflow->neighbours[guest->neighbour].held_bytes -= guest->held_bytes;
    guest->held_bytes = 0;
}

/* What it has brought came for nothing. */
static void charge(aq_inflow *inflow, const aq_inflow_guest *guest, int64_t now_ns)
{
    const aq_tcp_limits *limits = &inflow->limits;
    aq_inflow_neighbour *neighbour = &inflow->neighbours[guest->neighbour];
    if (limits->wasted_bytes_per_s == 0) {
        return;
    }
    const int64_t from_ns =
        neighbour->barred_until_ns > now_ns ? neighbour->barred_until_ns : now_ns;
    const int64_t latest_ns = now_ns + limits->barred_ms * AQ_NS_PER_MS;
    const double worth_ns = (double)(guest->came_bytes + AQ_INFLOW_CONNECTION_BYTES) * AQ_NS_PER_S /
                            (double)limits->wasted_bytes_per_s;
    neighbour->barred_until_ns =
        (double)(latest_ns - from_ns) < worth_ns ? latest_ns : from_ns + (int64_t)worth_ns;
}

/* What it holds counts as given back: NNG frees it as soon as it sees the end. */
static void cut(aq_inflow *inflow, int descriptor, int64_t now_ns, uint64_t *counter)
{
    aq_inflow_guest *guest = &inflow->guests[descriptor];
    charge(inflow, guest, now_ns);
    release(inflow, guest);
    end_handshake(inflow, guest);
    guest->cut = true;
    guest->deadline_ns = 0;
    (*counter)++;
    inflow->cut(descriptor);
}

/* ---- shaking hands -------------------------------------------------------------------------- */

/* Of those that shake hands, of the neighbour with the most of them or of that one alone, the one
 * that was silent for longest. What it has said and we have not read is our delay. */
static int find_silent(const aq_inflow *inflow, int neighbour, int64_t now_ns)
{
    int silent = -1;
    uint32_t most = 0;
    for (int i = 0; i < inflow->above; i++) {
        const aq_inflow_guest *guest = &inflow->guests[i];
        const uint32_t beside = inflow->neighbours[guest->neighbour].handshakes;
        if (inflow->here[i] && guest->shakes_hands && now_ns - guest->heard_ns > SILENT_NS &&
            (neighbour < 0 || guest->neighbour == neighbour) &&
            (beside > most ||
             (beside == most && guest->heard_ns < inflow->guests[silent].heard_ns)) &&
            !inflow->has_more(i)) {
            silent = i;
            most = beside;
        }
    }
    return silent;
}

/* Whether one more may shake hands. */
static bool make_room(aq_inflow *inflow, int neighbour, int64_t now_ns)
{
    const size_t most = inflow->limits.handshakes_per_address_max;
    const bool near = inflow->neighbours[neighbour].handshakes >= most;
    if (most == 0 || (!near && inflow->handshakes < 2 * most)) {
        return true;
    }
    const int silent = find_silent(inflow, near ? neighbour : -1, now_ns);
    if (silent >= 0) {
        cut(inflow, silent, now_ns, &inflow->counters.cut_slow);
    }
    return silent >= 0;
}

/* ---- coming and going ----------------------------------------------------------------------- */

/* The neighbour's place, or one that is free; there are as many as connections. One whose neighbour
 * is barred is free as the others, but is taken last. */
static uint32_t find_neighbour(aq_inflow *inflow, const struct in6_addr *network, int64_t now_ns)
{
    uint32_t place = inflow->neighbours_so_far;
    uint32_t barred = AQ_INFLOW_CONNECTIONS_MAX;
    for (uint32_t i = 0; i < inflow->neighbours_so_far; i++) {
        const aq_inflow_neighbour *neighbour = &inflow->neighbours[i];
        const bool is_barred = neighbour->barred_until_ns > now_ns;
        if ((neighbour->connections > 0 || is_barred) &&
            memcmp(&neighbour->network, network, sizeof(*network)) == 0) {
            return i;
        }
        if (neighbour->connections == 0) {
            *(is_barred ? &barred : &place) = i;
        }
    }
    place = place < AQ_INFLOW_CONNECTIONS_MAX ? place : barred;
    AQ_ASSERT(place < AQ_INFLOW_CONNECTIONS_MAX);
    inflow->neighbours_so_far += place == inflow->neighbours_so_far;
    inflow->neighbours[place] = (aq_inflow_neighbour){.network = *network};
    return place;
}

bool aq_inflow_enters(aq_inflow *inflow, int descriptor, const struct in6_addr *network,
                      int64_t now_ns)
{
    const aq_tcp_limits *limits = &inflow->limits;
    aq_inflow_leaves(inflow, descriptor, now_ns); /* its number is another's now */
    const bool fits = descriptor < AQ_INFLOW_DESCRIPTORS_MAX &&
                      inflow->counters.connections < limits->connections_max;
    const uint32_t place = fits ? find_neighbour(inflow, network, now_ns) : 0;
    if (!fits || inflow->neighbours[place].connections >= limits->connections_per_address_max ||
        inflow->neighbours[place].barred_until_ns > now_ns ||
        !make_room(inflow, (int)place, now_ns)) {
        inflow->counters.refused_connections++;
        return false;
    }
    aq_inflow_guest *guest = &inflow->guests[descriptor];
    const uint16_t turn = (uint16_t)(guest->turn + 1);
    const bool shakes_hands = limits->handshakes_per_address_max > 0;
    *guest = (aq_inflow_guest){
        .shakes_hands = shakes_hands,
        .turn = turn != 0 ? turn : 1,
        .neighbour = (uint16_t)place,
        .heard_ns = now_ns,
        .deadline_ns = now_ns + limits->message_ms * AQ_NS_PER_MS,
    };
    inflow->here[descriptor] = true;
    inflow->neighbours[place].connections++;
    inflow->neighbours[place].handshakes += shakes_hands;
    inflow->handshakes += shakes_hands;
    inflow->above = descriptor < inflow->above ? inflow->above : descriptor + 1;
    inflow->counters.connections++;
    inflow->counters.accepted++;
    return true;
}

/* It has said nothing that tells it from a stranger. */
static bool is_strange(const aq_inflow_guest *guest)
{
    return guest->phase == PHASE_GREETING || guest->phase == PHASE_HANDSHAKE ||
           guest->phase == PHASE_STRANGE;
}

void aq_inflow_leaves(aq_inflow *inflow, int descriptor, int64_t now_ns)
{
    aq_inflow_guest *guest = aq_inflow_guest_of(inflow, descriptor);
    if (guest != NULL) {
        if (guest->phase == PHASE_BODY && !guest->cut) {
            charge(inflow, guest, now_ns);
        }
        release(inflow, guest);
        end_handshake(inflow, guest);
        inflow->here[descriptor] = false;
        inflow->neighbours[guest->neighbour].connections--;
        inflow->counters.connections--;
        inflow->counters.strangers += is_strange(guest);
    }
}

/* ---- too slow, too much --------------------------------------------------------------------- */

/* What a member has said in time and we have not read is our delay. */
static bool is_too_slow(const aq_inflow *inflow, int descriptor, int64_t now_ns)
{
    const aq_inflow_guest *guest = &inflow->guests[descriptor];
    return guest->deadline_ns != 0 && now_ns > guest->deadline_ns &&
           (is_strange(guest) || !inflow->has_more(descriptor));
}

void aq_inflow_look(aq_inflow *inflow, int64_t now_ns)
{
    if (now_ns - inflow->looked_ns < AQ_NS_PER_S) {
        return;
    }
    inflow->looked_ns = now_ns;
    for (int i = 0; i < inflow->above; i++) {
        if (inflow->here[i] && is_too_slow(inflow, i, now_ns)) {
            cut(inflow, i, now_ns, &inflow->counters.cut_slow);
        }
    }
}

/* Messages of one magnitude are alike. */
static int magnitude(const aq_inflow_guest *guest)
{
    return 63 - __builtin_clzll(guest->held_bytes);
}

/* Whether `guest` is to go rather than `other`. Of those that go on the one goes that has the least
 * to lose: were it another, then of many that are slow none would ever come to its end. */
static bool goes_first(const aq_inflow *inflow, const aq_inflow_guest *guest,
                       const aq_inflow_guest *other, int64_t now_ns)
{
    const uint64_t beside = inflow->neighbours[guest->neighbour].held_bytes;
    const uint64_t beside_other = inflow->neighbours[other->neighbour].held_bytes;
    const bool is_silent = now_ns - guest->heard_ns > SILENT_NS;
    const bool other_is_silent = now_ns - other->heard_ns > SILENT_NS;
    if (beside != beside_other) {
        return beside > beside_other;
    }
    if (magnitude(guest) != magnitude(other)) {
        return magnitude(guest) > magnitude(other);
    }
    return is_silent || other_is_silent ? guest->heard_ns < other->heard_ns
                                        : guest->came_bytes < other->came_bytes;
}

/* Of all, or of that neighbour alone. There is one: the connection that asked for room. */
static int choose_victim(const aq_inflow *inflow, int neighbour, int64_t now_ns)
{
    int victim = -1;
    for (int i = 0; i < inflow->above; i++) {
        const aq_inflow_guest *guest = &inflow->guests[i];
        if (inflow->here[i] && !guest->cut && guest->phase == PHASE_BODY && guest->held_bytes > 0 &&
            (neighbour < 0 || guest->neighbour == neighbour) &&
            (victim < 0 || goes_first(inflow, guest, &inflow->guests[victim], now_ns))) {
            victim = i;
        }
    }
    AQ_ASSERT(victim >= 0);
    return victim;
}

/* Its length is there, and no room was made for it yet. */
static void hold_message(aq_inflow *inflow, aq_inflow_guest *guest, int64_t now_ns)
{
    const uint64_t too_much = (uint64_t)inflow->limits.held_bytes_max + 1;
    aq_inflow_neighbour *neighbour = &inflow->neighbours[guest->neighbour];
    if (guest->length <= AQ_INFLOW_SMALL_BYTES) {
        return;
    }
    guest->held_bytes = guest->length < too_much ? guest->length : too_much;
    inflow->held_bytes += guest->held_bytes;
    neighbour->held_bytes += guest->held_bytes;
    while (!guest->cut) {
        const bool near = neighbour->held_bytes > inflow->limits.held_bytes_per_address_max;
        if (!near && inflow->held_bytes <= inflow->limits.held_bytes_max) {
            return;
        }
        cut(inflow, choose_victim(inflow, near ? guest->neighbour : -1, now_ns), now_ns,
            &inflow->counters.cut_full);
    }
}

void aq_inflow_goes_on(aq_inflow *inflow, aq_inflow_guest *guest)
{
    if (guest->phase == PHASE_LENGTH) {
        release(inflow, guest);
    }
}

/* ---- saying something ----------------------------------------------------------------------- */

static void enter_phase(aq_inflow_guest *guest, enum phase phase)
{
    guest->phase = (uint8_t)phase;
    guest->length = 0;
    guest->came_bytes = 0;
    guest->have = 0;
    guest->deadline_ns = 0;
}

/* A handshake is followed from record to record, up to the first that only a member can send. It
 * has the time of a greeting, which NNG itself does not limit under TLS; and so has the greeting
 * that is then heard behind the encryption. */
static void take_handshake(aq_inflow_guest *guest, uint8_t byte)
{
    if (guest->have == 0) {
        guest->record = byte;
    }
    if (guest->have == TLS_HEADER_BYTES) {
        guest->came_bytes++;
    } else if (guest->have++ >= TLS_LENGTH_AT) {
        guest->length = guest->length << 8 | byte;
    }
    if (guest->have < TLS_HEADER_BYTES || guest->came_bytes < guest->length) {
        return;
    }
    guest->have = 0;
    guest->length = 0;
    guest->came_bytes = 0;
    if (guest->record == TLS_DATA) { /* whole: who has not shaken hands is found out */
        guest->phase = PHASE_GREETING;
        guest->in_tls = true;
    }
}

/* One byte of the greeting or of a length. */
static void take_byte(aq_inflow *inflow, aq_inflow_guest *guest, uint8_t byte, int64_t now_ns)
{
    static const uint8_t greeting[4] = {0, 'S', 'P', 0};
    if (guest->deadline_ns == 0) {
        guest->deadline_ns = now_ns + inflow->limits.message_ms * AQ_NS_PER_MS;
    }
    if (guest->phase == PHASE_GREETING && guest->have < sizeof(greeting) &&
        byte != greeting[guest->have]) {
        if (guest->have == 0 && byte == TLS_HANDSHAKE && !guest->in_tls) {
            guest->phase = PHASE_HANDSHAKE;
            take_handshake(guest, byte);
        } else {
            guest->phase = PHASE_STRANGE; /* until its time is up: under TLS NNG sees no end */
        }
        return;
    }
    guest->length = guest->length << 8 | byte;
    guest->have++;
    if (guest->phase == PHASE_GREETING && guest->have == GREETING_BYTES) {
        enter_phase(guest, PHASE_LENGTH);
    } else if (guest->phase == PHASE_LENGTH && guest->have == LENGTH_BYTES) {
        guest->phase = PHASE_BODY;
        hold_message(inflow, guest, now_ns);
    }
}

static size_t take_body(const aq_inflow *inflow, aq_inflow_guest *guest, size_t size,
                        int64_t now_ns)
{
    const uint64_t left = guest->length - guest->came_bytes;
    const size_t taken = size < left ? size : (size_t)left;
    const int64_t latest_ns = now_ns + inflow->limits.message_ms * AQ_NS_PER_MS;
    const double worth_ns =
        (double)taken * AQ_NS_PER_S / (double)inflow->limits.message_bytes_per_s;
    guest->came_bytes += taken;
    guest->deadline_ns = (double)(latest_ns - guest->deadline_ns) < worth_ns
                             ? latest_ns
                             : guest->deadline_ns + (int64_t)worth_ns;
    return taken;
}

bool aq_inflow_hears(aq_inflow *inflow, int descriptor, const uint8_t *bytes, size_t size,
                     int64_t now_ns)
{
    aq_inflow_guest *guest = &inflow->guests[descriptor];
    guest->heard_ns = now_ns;
    for (size_t i = 0; i < size && guest->phase != PHASE_STRANGE && !guest->cut;) {
        if (guest->phase == PHASE_HANDSHAKE) {
            take_handshake(guest, bytes[i++]);
            if (guest->in_tls) { /* what is behind it cannot be read here */
                break;
            }
        } else if (guest->phase == PHASE_BODY) {
            i += take_body(inflow, guest, size - i, now_ns);
        } else {
            take_byte(inflow, guest, bytes[i++], now_ns);
        }
        if (guest->phase == PHASE_BODY && guest->came_bytes == guest->length) {
            enter_phase(guest, PHASE_LENGTH);
        }
    }
    if (guest->in_tls || !is_strange(guest)) {
        end_handshake(inflow, guest);
    }
    return !guest->cut;
}
