/*
 * Any bytes that come as an HTTP request are refused, or are the head of one; and it is the same
 * however many bytes follow, and not there while one of its own is missing.
 */

#include "common/base/assert.h"
#include "common/net/http/http_request.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    aq_http_request whole = {0}, alone = {0};
    int rc = aq_http_request_read(bytes, size, &whole);
    AQ_ASSERT(rc == 0 || rc == AQ_E_AGAIN || rc == AQ_E_VERSION || rc == AQ_E_FOREIGN);
    if (rc != 0) {
        return 0;
    }
    AQ_ASSERT(whole.size > 0);
    AQ_ASSERT(whole.size <= size);
    AQ_ASSERT(whole.path > bytes);
    AQ_ASSERT(whole.path + whole.path_size < bytes + whole.size);
    must(aq_http_request_read(bytes, whole.size, &alone));
    AQ_ASSERT(alone.size == whole.size);
    AQ_ASSERT(alone.path_size == whole.path_size);
    rc = aq_http_request_read(bytes, whole.size - 1, &alone);
    AQ_ASSERT(rc == AQ_E_AGAIN);
    return 0;
}
