/*
 * HTTP get: asks a daemon's HTTP server for one path. Blocking, with a deadline; one thread.
 */
#ifndef AQ_CLI_OPERATE_HTTP_GET_H
#define AQ_CLI_OPERATE_HTTP_GET_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* Asks `listen` ("host:port"; what listens everywhere is asked on this host) for `path`, a constant
 * of at most 128 bytes. The status is stored, and the body as a text, cut to ret_body[size].
 * AQ_E_NOT_FOUND or AQ_E_IO: nobody is there; AQ_E_TIMEOUT; AQ_E_FOREIGN: it is not HTTP. */
int aq_http_get(const char *listen, const char *path, uint32_t timeout_ms, unsigned *ret_status,
                char *ret_body, size_t size, aq_error *error) AQ_MUST_USE;

#endif
