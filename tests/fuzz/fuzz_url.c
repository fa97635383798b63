/*
 * Any text in a url's place is refused in words, or is one whose siblings and translations are
 * urls, too. Up to the first zero it is the url, behind it the address that it is seen from.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/net/address/url.h"
#include "tests/fuzz/fuzz_target.h"

static void derive(const char *url, const char *seen_from, bool valid)
{
    char derived[AQ_URL_MAX];
    int rc = aq_url_sibling(url, "policy", derived, sizeof(derived));
    AQ_ASSERT(valid || rc == AQ_E_INVALID);
    if (rc == 0) {
        AQ_ASSERT(aq_url_validate(derived, NULL) == 0);
    }
    rc = aq_url_reachable(url, seen_from, derived, sizeof(derived));
    AQ_ASSERT(valid || rc == AQ_E_INVALID);
    if (rc == 0) {
        AQ_ASSERT(aq_url_validate(derived, NULL) == 0);
        AQ_ASSERT(!aq_url_is_wildcard(derived));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aq_error error = {0};
    char *text = calloc(1, size + 2);
    AQ_ASSERT(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    int rc = aq_url_validate(text, &error);
    AQ_ASSERT(error.code == rc);
    derive(text, text + strlen(text) + (strlen(text) < size), rc == 0);
    AQ_ASSERT(rc == 0 || !aq_url_is_local(text));
    AQ_ASSERT(rc == 0 || !aq_url_is_wildcard(text));
    free(text);
    return 0;
}
