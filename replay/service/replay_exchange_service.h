/*
 * Exchange: gives what the shard holds away, page by page, and takes messages by calls, for data
 * sets. Nothing is held, and a page is bounded, so that the loop is not disturbed. Private to the
 * replay service.
 */
#ifndef AQ_REPLAY_SERVICE_REPLAY_EXCHANGE_SERVICE_H
#define AQ_REPLAY_SERVICE_REPLAY_EXCHANGE_SERVICE_H

#include "proto/exchange.pb-c.h"
#include "replay/shard/replay_host.h"

enum { AQ_EXCHANGE_FRAMES_MAX = 256, AQ_EXCHANGE_BYTES_MAX = 8 << 20 };

typedef struct aq_exchange_service {
    Actorq__V1__Exchange_Service base; /* first: protobuf-c hands it back */
    const aq_replay_host *host;
    ProtobufCBinaryData frames[AQ_EXCHANGE_FRAMES_MAX];
} aq_exchange_service;

void aq_exchange_service_init(aq_exchange_service *exchange, const aq_replay_host *host);

#endif
