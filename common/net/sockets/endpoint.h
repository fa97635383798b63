/*
 * What our NNG sockets have in common: how they listen and dial, which options they get, and how
 * NNG's addresses are put in our words. Private to net: outside of it nobody sees NNG.
 */
#ifndef AQ_COMMON_NET_SOCKETS_ENDPOINT_H
#define AQ_COMMON_NET_SOCKETS_ENDPOINT_H

#include <nng/nng.h>

#include "common/net/address/url.h"
#include "common/net/sockets/net.h"

/* What REQ and REP put before a message; counted by RECVMAXSZ, not by message_bytes_max. */
enum { AQ_REQREP_HEADER_BYTES = 4, AQ_PEER_TEXT_MAX = 80 };

/* Listens at a validated url; `ret_url` (AQ_URL_MAX bytes) gets the url with the port that was
 * bound, and in place of "*" the host that was (aq_url_everywhere). AQ_E_IN_USE when somebody
 * listens there; the socket file of a dead process is no obstacle, another file is: AQ_E_EXISTS. */
int aq_endpoint_listen(nng_socket socket, const char *url, const aq_net_limits *limits,
                       size_t header_bytes, nng_listener *ret_listener, char *ret_url,
                       aq_error *error) AQ_MUST_USE;

/* Messages of that size are taken from now on, of those who are connected, too. */
void aq_endpoint_allow(nng_listener listener, size_t message_bytes_max, size_t header_bytes);

/* The limits to dial `url` with: the same, but for a shorter back-off when it is on this host. */
aq_net_limits aq_endpoint_near(const char *url, const aq_net_limits *limits);

/* Starts dialling and goes on in the background, with back-off from reconnect_min_ms to
 * reconnect_max_ms; names are resolved anew each time, and each of their addresses has its turn
 * (name_turns.h). Who dials watches whether NNG gives up (dial_watch.h). */
int aq_endpoint_dial(nng_socket socket, const char *url, const aq_net_limits *limits,
                     size_t header_bytes, nng_dialer *ret_dialer, aq_error *error) AQ_MUST_USE;

/* A dialer to this host that is eager tries every few milliseconds: for the first second, when its
 * peer may be starting as well. It is made patient, with the pauses of aq_endpoint_near. */
void aq_endpoint_set_eager(nng_dialer dialer, const char *url, const aq_net_limits *limits,
                           bool is_eager);

/* Lets the dialer rest for days when it loses its connection, as far as NNG lets it. */
void aq_endpoint_stop_dialling(nng_dialer dialer);

/* Another dialer for the socket, whose own has given up (dial_watch.h). Without memory there is
 * none, and the watch will say so again. */
void aq_endpoint_redial(nng_socket socket, const char *url, const aq_net_limits *limits,
                        size_t header_bytes, nng_dialer *dialer);

/* For nng_pipe_notify with NNG_PIPE_EV_ADD_POST, at every socket that dials: where it has found its
 * peer it looks first from now on. */
void aq_endpoint_met(nng_pipe pipe, nng_pipe_ev event, void *unused);

/* "tcp://10.0.0.3:41234", "ipc", "inproc" into ret_text[AQ_PEER_TEXT_MAX]. AQ_E_CLOSED when the
 * connection is gone. */
int aq_endpoint_peer(nng_pipe pipe, char *ret_text) AQ_MUST_USE;

/* Connections that the listener has refused, as NNG counts them; 0 when it can't tell. */
uint64_t aq_endpoint_refused(nng_listener listener);

#endif
