/*
 * See nng_error.h.
 */
#include "common/net/security/nng_error.h"

#include <nng/nng.h>

#include "common/base/error.h"

int aq_error_from_nng(int nng_code)
{
    switch (nng_code) {
    case 0:
        return 0;
    case NNG_ENOMEM:
        return AQ_E_NOMEM;
    case NNG_EINVAL:
    case NNG_EADDRINVAL:
        return AQ_E_INVALID;
    case NNG_ETIMEDOUT:
        return AQ_E_TIMEOUT;
    case NNG_ECLOSED:
    case NNG_ECANCELED:
        return AQ_E_CLOSED;
    case NNG_EAGAIN:
        return AQ_E_AGAIN;
    case NNG_ENOTSUP:
        return AQ_E_UNSUPPORTED;
    case NNG_EADDRINUSE:
        return AQ_E_IN_USE;
    case NNG_EMSGSIZE:
        return AQ_E_TOO_BIG;
    case NNG_ENOENT:
        return AQ_E_NOT_FOUND;
    case NNG_EEXIST:
        return AQ_E_EXISTS;
    case NNG_ENOSPC:
        return AQ_E_NO_SPACE;
    default:
        return AQ_E_IO;
    }
}
