/*
 * A replay service with a caller: what the tests of its three services share.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_SERVICE_KIT_H
#define AQ_TESTS_UNIT_REPLAY_SERVICE_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/experience.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/sampling.pb-c.h"
#include "replay/service/replay_service.h"
#include "tests/support/loopback.h"
#include "tests/unit/replay/replay_kit.h"

enum { KIT_SHARD_INCARNATION = 31, KIT_PROCESS = 37 };

typedef struct service_kit {
    aq_replay_service *service;
    aq_rpc_dispatcher *dispatcher;
    const aq_seal *seal; /* NULL: none */
    loopback loop;
    aq_rpc_stub flow, sampling, operations;
    int64_t now_ns;
    int rejections;
    aq_error rejection; /* the last */
    char rejected_peer[64];
    char damage[256]; /* the last */
    int stops;
    char stop_reason[64];
    struct kit_answer *answers; /* of all calls */
} service_kit;

/* What came back for one call. */
typedef struct kit_answer {
    const aq_rpc_stub *stub;
    bool done;
    aq_rpc_status status;
    aq_credit credit;
    uint64_t shard_incarnation;
    uint64_t store;
    bool durable;
    uint32_t applied;
    char path[64];
    uint32_t rows;
    uint64_t inserted;
    Actorq__V1__SampleReply *sample; /* a copy */
    Actorq__V1__StatusReply *report; /* a copy */
    struct kit_answer *next;
} kit_answer;

/* Its shard is in a run with kit_settings; that of an idle kit in none. */
void service_kit_setup(service_kit *kit);
void service_kit_teardown(service_kit *kit);

typedef service_kit idle_kit;
void idle_kit_setup(idle_kit *kit);
#define idle_kit_teardown service_kit_teardown

/* An idle kit; with a seal, experience comes sealed with it. */
void kit_create(service_kit *kit, const aq_seal *seal);
aq_replay_service_owner kit_owner(service_kit *kit, const aq_seal *seal);

void kit_begin(service_kit *kit, const aq_run_settings *settings);

/* Lets time pass in ticks of 2 ms and delivers what there is. */
void kit_pass(service_kit *kit, int64_t ms);

/* Hands in the message's frame and empties the message. */
void kit_receive(service_kit *kit, aq_experience *message);
void kit_receive_laid_out(service_kit *kit, const aq_layout *layout, aq_experience *message);

/* Hands in bytes that may be anything. */
void kit_receive_frame(service_kit *kit, const uint8_t *bytes, size_t size);

/* `steps` fresh transitions of actor 1 in message `seq`. */
void kit_insert(service_kit *kit, uint64_t seq, uint32_t steps);

/* Calls that were sent and delivered; the answer, which is the kit's, comes when it comes. */
const kit_answer *kit_credit(service_kit *kit, const Actorq__V1__CreditRequest *request);
const kit_answer *kit_sample(service_kit *kit, const Actorq__V1__SampleRequest *request);
const kit_answer *kit_prioritize(service_kit *kit, const Actorq__V1__PrioritizeRequest *request);
const kit_answer *kit_status(service_kit *kit);
const kit_answer *kit_stop(service_kit *kit, char *reason);
const kit_answer *kit_checkpoint(service_kit *kit);

/* Requests that are right for the kit's run. */
Actorq__V1__CreditRequest kit_credit_request(uint64_t known_acknowledged, uint64_t known_granted,
                                             uint32_t wait_ms);
Actorq__V1__SampleRequest kit_sample_request(uint32_t rows, uint32_t count, uint32_t wait_ms);

/* Such requests as they are. */
const kit_answer *kit_call(service_kit *kit, uint64_t known_acknowledged, uint64_t known_granted,
                           uint32_t wait_ms);
const kit_answer *kit_draw(service_kit *kit, uint32_t rows, uint32_t count, uint32_t wait_ms);

/* The call ended so; its status has these words in it. */
void kit_assert_answered(const kit_answer *answer, enum aq_rpc_code code, const char *words);

#endif
