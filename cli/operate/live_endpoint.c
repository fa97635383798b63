/*
 * Live endpoint: see live_endpoint.h.
 */
#include "cli/operate/live_endpoint.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "cli/text/json_file.h"
#include "common/base/parse.h"
#include "common/sys/file.h"
#include "common/sys/folder_lock.h"

enum { ENDPOINT_BYTES_MAX = 4096 };

static int take_url(const char *text, char *ret_url, aq_error *error)
{
    const char *url;
    int rc = aq_url_take_callable(&url, text, error);
    return rc != 0 ? rc : aq_text_set(ret_url, AQ_URL_MAX, url);
}

/* {"learner": "ipc:///tmp/…", "http": "http://127.0.0.1:24680"} */
static int read_endpoint(const char *folder, json_t **ret_endpoint, aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_path_in(path, sizeof(path), folder, "endpoint.json", error);
    if (rc == 0 && !aq_path_exists(path)) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "%s: no live run is driven from this folder (it has no endpoint.json); give "
                       "the learner's URL",
                       folder);
    }
    return rc != 0 ? rc : aq_json_file_read(path, ENDPOINT_BYTES_MAX, ret_endpoint, error);
}

static int take_endpoint(const char *folder, const json_t *endpoint, char *ret_url, aq_error *error)
{
    const char *url = json_string_value(json_object_get(endpoint, "learner"));
    if (url == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "%s/endpoint.json does not name a learner", folder);
    }
    int rc = take_url(url, ret_url, error);
    return rc != 0 ? aq_fail_context(error, rc, "%s/endpoint.json", folder) : 0;
}

static int read_folder(const char *folder, char *ret_url, aq_error *error)
{
    char url[AQ_URL_MAX];
    json_t *endpoint = NULL;
    int rc = read_endpoint(folder, &endpoint, error);
    rc = rc != 0 ? rc : take_endpoint(folder, endpoint, url, error);
    json_decref(endpoint);
    /* A copy of the folder names the learner of the other one. */
    if (rc == 0 && aq_folder_lock_check(folder, NULL) != AQ_E_EXISTS) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "%s: no learner runs in this folder: it is a copy, its run was killed, or "
                       "its learner is just being started",
                       folder);
    }
    return rc != 0 ? rc : aq_text_set(ret_url, AQ_URL_MAX, url);
}

bool aq_live_endpoint_http(const char *folder, char *ret_http)
{
    const char *http = NULL;
    json_t *endpoint = NULL;
    const bool is_served = read_endpoint(folder, &endpoint, NULL) == 0 &&
                           json_unpack(endpoint, "{s:s}", "http", &http) == 0 && http[0] != '\0' &&
                           aq_text_set(ret_http, AQ_URL_MAX, http) == 0;
    json_decref(endpoint);
    return is_served && aq_folder_lock_check(folder, NULL) == AQ_E_EXISTS;
}

int aq_live_endpoint_url(const char *text, char *ret_url, aq_error *error)
{
    if (strstr(text, "://")) {
        return take_url(text, ret_url, error);
    }
    if (aq_path_is_folder(text)) {
        return read_folder(text, ret_url, error);
    }
    return aq_fail(error, AQ_E_INVALID,
                   "'%s' is neither a URL (tcp://host:port, ipc:///path) nor a run folder", text);
}
