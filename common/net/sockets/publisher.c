/*
 * PUB: the learner's end of the policy broadcast. See pubsub.h; NNG's own locks make sending safe
 * from any thread.
 *
 * Some messages may wait per subscriber, and share their bytes with those of all others. When one
 * comes too many NNG drops the oldest.
 */
#include <nng/nng.h>
#include <nng/protocol/pubsub0/pub.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/security/nng_error.h"
#include "common/net/sockets/endpoint.h"
#include "common/net/sockets/pubsub.h"

enum { HEARD_BYTES_MAX = 64 }; /* a subscriber has nothing to say */

struct aq_publisher {
    nng_socket socket;
    size_t message_bytes_max;
    char url[AQ_URL_MAX];
};

int aq_publisher_create(const char *url, const aq_net_limits *limits, aq_publisher **ret_publisher,
                        aq_error *error)
{
    aq_publisher *publisher = aq_alloc(1, sizeof(*publisher));
    aq_net_limits hearing = *limits;
    nng_listener listener;

    if (publisher == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    publisher->message_bytes_max = limits->message_bytes_max;
    hearing.message_bytes_max = HEARD_BYTES_MAX;
    int rc = aq_error_from_nng(nng_pub0_open(&publisher->socket));
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot open a socket for %s: %s", url, aq_error_text(rc));
        goto fail_open;
    }
    rc = aq_error_from_nng(
        nng_socket_set_int(publisher->socket, NNG_OPT_SENDBUF, AQ_SUBSCRIBER_WAITING));
    if (rc < 0) {
        rc = aq_fail(error, rc, "cannot set up a socket for %s: %s", url, aq_error_text(rc));
        goto fail_listen;
    }
    rc = aq_endpoint_listen(publisher->socket, url, &hearing, 0, &listener, publisher->url, error);
    if (rc < 0) {
        goto fail_listen;
    }
    *ret_publisher = publisher;
    return 0;

fail_listen:
    nng_close(publisher->socket);
fail_open:
    aq_free(publisher);
    return rc;
}

int aq_publisher_send(aq_publisher *publisher, const void *bytes, size_t size)
{
    nng_msg *message;

    if (size > publisher->message_bytes_max) {
        return AQ_E_TOO_BIG;
    }
    if (nng_msg_alloc(&message, size) != 0) {
        return AQ_E_NOMEM;
    }
    memcpy(nng_msg_body(message), bytes, size);
    int rc = nng_sendmsg(publisher->socket, message, NNG_FLAG_NONBLOCK);
    if (rc != 0) {
        nng_msg_free(message);
    }
    return aq_error_from_nng(rc);
}

const char *aq_publisher_url(const aq_publisher *publisher)
{
    return publisher->url;
}

void aq_publisher_close(aq_publisher *publisher)
{
    if (publisher == NULL) {
        return;
    }
    aq_nng_close(publisher->socket);
    aq_free(publisher);
}
