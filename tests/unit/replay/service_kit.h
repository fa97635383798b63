/*
 * A replay service with a caller: what the tests of its three services share.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_SERVICE_KIT_H
#define AQ_TESTS_UNIT_REPLAY_SERVICE_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/service/replay_service.h"
#include "tests/support/loopback.h"
#include "tests/unit/replay/replay_kit.h"

enum { KIT_SHARD_INCARNATION = 31, KIT_PROCESS = 37 };

typedef struct service_kit {
    aq_replay_service *service;
    aq_rpc_dispatcher *dispatcher;
    const aq_seal *seal; /* NULL: none */
    loopback loop;
    int64_t now_ns;
    int rejections;
    aq_error rejection; /* the last */
    char rejected_peer[64];
    char damage[256]; /* the last */
    int stops;
    char stop_reason[64];
} service_kit;

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

/* Requests that are right for the kit's run. */
Actorq__V1__CreditRequest kit_credit_request(uint64_t known_acknowledged, uint64_t known_granted,
                                             uint32_t wait_ms);
Actorq__V1__SampleRequest kit_sample_request(uint32_t rows, uint32_t count, uint32_t wait_ms);

/* Such requests as they are. */
const loopback_answer *kit_call(service_kit *kit, uint64_t known_acknowledged,
                                uint64_t known_granted, uint32_t wait_ms);
const loopback_answer *kit_draw(service_kit *kit, uint32_t rows, uint32_t count, uint32_t wait_ms);

/* What it says of itself. */
const Actorq__V1__StatusReply *kit_status(service_kit *kit);

#endif
