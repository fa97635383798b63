/*
 * A member on a channel that a test holds in its hand: requests are kept until the test answers
 * them, time passes when the test says so, and what the owner is told is counted.
 */
#ifndef AQ_TESTS_UNIT_COMMON_MEMBER_MEMBER_FAKE_H
#define AQ_TESTS_UNIT_COMMON_MEMBER_MEMBER_FAKE_H

#include "common/member/member.h"
#include "common/wire/wire_run.h"
#include "tests/support/test.h"

#define FAKE_RUN         UINT64_C(0xabcdef)
#define FAKE_INCARNATION UINT64_C(0x1234567890abcdef)

enum { FAKE_TEXT_MAX = 2048 };

/* A good JoinReply: member 7, slot 2 of FAKE_RUN, the settings of run_settings_kit. */
typedef struct fake_join {
    aq_run_settings settings;
    aq_wire_settings_view view;
    Actorq__V1__JoinReply reply;
} fake_join;
void fake_join_init(fake_join *join);

/* A good HeartbeatReply: version 5 and one shard. */
typedef struct fake_beat {
    Actorq__V1__ShardAddress shard;
    Actorq__V1__ShardAddress *pointer;
    Actorq__V1__HeartbeatReply reply;
} fake_beat;
void fake_beat_init(fake_beat *beat);

typedef struct member_fake {
    /* The channel. */
    aq_rpc_channel channel;
    int send_error; /* what send returns; 0: it works */
    uint32_t sends;
    uint32_t timeout_ms; /* of the last request */
    aq_buffer request;   /* the last */
    aq_rpc_answer_fn answer;
    void *answer_user;

    /* The member and its owner. */
    aq_member *member; /* NULL once destroyed */
    int64_t now_ns;
    int64_t next_ns; /* as the last tick said */
    bool destroy_when_told;
    uint64_t seen_version;
    Actorq__V1__ActorStats statistics;
    uint32_t joined, changed, ended, trouble, left;
    int again; /* of the last `joined` */
    char reason[FAKE_TEXT_MAX];
    aq_member_view view; /* as it was last told */

    /* Good answers, for a test to spoil. */
    fake_join join;
    fake_beat beat;
} member_fake;

/* A member that has done nothing yet; `seed` is its own. Returns what aq_member_create does. */
int fake_open(member_fake *fake, uint64_t seed) AQ_MUST_USE;

/* The same, of a process that tells of its energy. */
int fake_open_metered(member_fake *fake, uint64_t seed, aq_energy_meter *meter) AQ_MUST_USE;

/* Closes the channel as its owner would, then destroys the member. */
void fake_close(member_fake *fake);

/* Destroys the member under its channel. */
void fake_destroy(member_fake *fake);

/* A test of a member that has done nothing yet, or that has joined and beaten once. */
#define TEST_OF_MEMBER(name)  TEST_OF(name, member_fake *fake, fake_new(), fake_close)
#define TEST_OF_SETTLED(name) TEST_OF(name, member_fake *fake, fake_settled(), fake_close)
member_fake *fake_new(void);
member_fake *fake_settled(void);

/* Lets time pass, then ticks once. */
void fake_pass(member_fake *fake, int64_t ms);

/* Ticks every millisecond until the next request is out; returns how many that took. Fails the test
 * after limit_ms. */
int64_t fake_wait_for_call(member_fake *fake, int64_t limit_ms);

/* The body of the request that is out, which must be of this method ("Join"). It is
 * freed at the end. */
ProtobufCMessage *fake_request(member_fake *fake, const char *method,
                               const ProtobufCMessageDescriptor *descriptor);

/* Answers the request that is out. */
void fake_reply(member_fake *fake, const ProtobufCMessage *reply);
void fake_status(member_fake *fake, enum aq_rpc_code code, const char *words);
void fake_lose(member_fake *fake,
               int error); /* the transport gives up: AQ_E_TIMEOUT, AQ_E_CLOSED */

/* Joins and beats once, as if all were well. */
void fake_settle(member_fake *fake);

/* Sends the next heartbeat and answers it with `beat`. */
void fake_beat_once(member_fake *fake);

/* Leaves, counting in `left`. */
void fake_leave(member_fake *fake);

#endif
