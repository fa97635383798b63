/*
 * See http_request.h. Every byte is looked at, and the first that cannot belong to a request ends
 * it, so that a peer which speaks something else (TLS, our own protocol, garbage) is told apart at
 * once and not when its time is up.
 */
#include "common/net/http/http_request.h"

#include <string.h>
#include <strings.h>

enum { METHOD_SIZE_MAX = 20 }; /* the longest of the registered ones has 17 letters */

/* Views of one line and of what is left behind it. */
typedef struct text_view {
    const char *at;
    const char *end;
} text_view;

static bool is_token_letter(char letter)
{
    static const char signs[] = "!#$%&'*+-.^_`|~";

    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || (letter != '\0' && strchr(signs, letter) != NULL);
}

static bool view_is(text_view view, const char *text)
{
    size_t size = strlen(text);

    return (size_t)(view.end - view.at) == size && strncasecmp(view.at, text, size) == 0;
}

static text_view trimmed(text_view view)
{
    while (view.at < view.end && (*view.at == ' ' || *view.at == '\t')) {
        view.at++;
    }
    while (view.at < view.end && (view.end[-1] == ' ' || view.end[-1] == '\t')) {
        view.end--;
    }
    return view;
}

/* Takes a line off `rest`. AQ_E_AGAIN when its end is not there, AQ_E_FOREIGN for a letter that no
 * line may hold: each line ends in CR LF, and neither stands alone. */
static int take_line(text_view *rest, text_view *ret_line)
{
    for (const char *at = rest->at; at < rest->end; at++) {
        unsigned char letter = (unsigned char)*at;

        if (letter == '\r') {
            if (at + 1 == rest->end) {
                return AQ_E_AGAIN;
            }
            if (at[1] != '\n') {
                return AQ_E_FOREIGN;
            }
            *ret_line = (text_view){.at = rest->at, .end = at};
            rest->at = at + 2;
            return 0;
        }
        if ((letter < ' ' && letter != '\t') || letter == 0x7f) {
            return AQ_E_FOREIGN;
        }
    }
    return AQ_E_AGAIN;
}

/* ---- the request line ----------------------------------------------------------------------- */

/* "/path?query" or, as to a proxy, "http://host/path?query". */
static int read_target(text_view target, aq_http_request *request)
{
    static const char scheme[] = "http://";
    size_t scheme_size = sizeof(scheme) - 1;

    if ((size_t)(target.end - target.at) > scheme_size &&
        strncasecmp(target.at, scheme, scheme_size) == 0) {
        target.at += scheme_size;
        while (target.at < target.end && *target.at != '/') {
            target.at++;
        }
    }
    if (target.at == target.end || (*target.at != '/' && !view_is(target, "*"))) {
        return AQ_E_FOREIGN;
    }
    request->path = target.at;
    while (target.at < target.end && *target.at != '?' && *target.at != '#') {
        target.at++;
    }
    request->path_size = (size_t)(target.at - request->path);
    return 0;
}

static int read_version(text_view version, aq_http_request *request)
{
    static const char name[] = "HTTP/";
    size_t name_size = sizeof(name) - 1;

    if ((size_t)(version.end - version.at) != name_size + 3 ||
        memcmp(version.at, name, name_size) != 0 || version.at[name_size + 1] != '.') {
        return AQ_E_FOREIGN;
    }
    if (version.at[name_size] != '1') {
        return AQ_E_VERSION;
    }
    request->keep_alive = version.at[name_size + 2] != '0';
    return 0;
}

static int read_request_line(text_view line, aq_http_request *request)
{
    text_view part = line;

    while (part.at < line.end && *part.at != ' ') {
        part.at++;
    }
    part = (text_view){.at = line.at, .end = part.at};
    request->method = view_is(part, "GET")    ? AQ_HTTP_GET
                      : view_is(part, "HEAD") ? AQ_HTTP_HEAD
                                              : AQ_HTTP_OTHER;
    if (part.end == line.end) {
        return AQ_E_FOREIGN;
    }
    part = (text_view){.at = part.end + 1, .end = line.end};
    while (part.end > part.at && part.end[-1] != ' ') {
        part.end--;
    }
    if (part.end == part.at) {
        return AQ_E_FOREIGN;
    }
    int rc = read_version((text_view){.at = part.end, .end = line.end}, request);
    part.end--;
    if (rc < 0 || memchr(part.at, ' ', (size_t)(part.end - part.at)) != NULL) {
        return rc < 0 ? rc : AQ_E_FOREIGN;
    }
    return view_is(part, "*") && request->method != AQ_HTTP_OTHER ? AQ_E_FOREIGN
                                                                  : read_target(part, request);
}

/* ---- the fields ----------------------------------------------------------------------------- */

static int read_length(text_view value, aq_http_request *request)
{
    if (value.at == value.end) {
        return AQ_E_FOREIGN;
    }
    for (const char *at = value.at; at < value.end; at++) {
        if (*at < '0' || *at > '9') {
            return AQ_E_FOREIGN;
        }
        request->has_body = request->has_body || *at != '0';
    }
    return 0;
}

static void read_connection(text_view value, aq_http_request *request)
{
    while (value.at < value.end) {
        text_view word = {.at = value.at, .end = value.at};

        while (word.end < value.end && *word.end != ',') {
            word.end++;
        }
        value.at = word.end < value.end ? word.end + 1 : word.end;
        if (view_is(trimmed(word), "close")) {
            request->keep_alive = false;
        }
    }
}

static int read_field(text_view line, aq_http_request *request, unsigned *host_count)
{
    text_view name = {.at = line.at, .end = line.at};

    while (name.end < line.end && is_token_letter(*name.end)) {
        name.end++;
    }
    if (name.end == name.at || name.end == line.end || *name.end != ':') {
        return AQ_E_FOREIGN; /* among these: a continued line, a blank before the colon */
    }
    text_view value = trimmed((text_view){.at = name.end + 1, .end = line.end});
    if (view_is(name, "Content-Length")) {
        return read_length(value, request);
    }
    if (view_is(name, "Transfer-Encoding")) {
        request->has_body = true;
    } else if (view_is(name, "Connection")) {
        read_connection(value, request);
    } else if (view_is(name, "Host")) {
        (*host_count)++;
        request->host = value.at;
        request->host_size = (size_t)(value.end - value.at);
    }
    return 0;
}

/* A peer that speaks something else need not send a line for us to know. */
static bool begins_like_a_request(text_view rest)
{
    for (size_t i = 0; rest.at < rest.end && *rest.at != ' '; i++, rest.at++) {
        if (i == METHOD_SIZE_MAX || (*rest.at < 'A' || *rest.at > 'Z')) {
            return false;
        }
    }
    return true;
}

int aq_http_request_read(const char *bytes, size_t size, aq_http_request *ret_request)
{
    text_view rest = {.at = bytes, .end = bytes + size};
    aq_http_request request = {.has_body = false};
    unsigned host_count = 0;
    text_view line;

    if (!begins_like_a_request(rest)) {
        return AQ_E_FOREIGN;
    }
    int rc = take_line(&rest, &line);
    if (rc == 0) {
        rc = read_request_line(line, &request);
    }
    bool needs_host = request.keep_alive; /* HTTP/1.1, so far */
    while (rc == 0) {
        rc = take_line(&rest, &line);
        if (rc == 0 && line.at == line.end) {
            break;
        }
        if (rc == 0) {
            rc = read_field(line, &request, &host_count);
        }
    }
    if (rc < 0) {
        return rc;
    }
    if (host_count > 1 || (host_count == 0 && needs_host)) {
        return AQ_E_FOREIGN;
    }
    request.size = (size_t)(rest.at - bytes);
    *ret_request = request;
    return 0;
}

/* ---- the name that was asked for ------------------------------------------------------------ */

static bool is_listed(text_view host, const char *names)
{
    while (names != NULL && *names != '\0') {
        size_t size = strcspn(names, ",");
        text_view name = trimmed((text_view){.at = names, .end = names + size});
        size_t name_size = (size_t)(name.end - name.at);

        if (view_is(name, "*") || (name_size > 0 && (size_t)(host.end - host.at) == name_size &&
                                   strncasecmp(host.at, name.at, name_size) == 0)) {
            return true;
        }
        names += size + (names[size] == ',');
    }
    return false;
}

bool aq_http_host_is_known(const char *host, size_t size, const char *names)
{
    text_view name = {.at = host, .end = host + size};
    const char *colon = memchr(host, ':', size);
    bool has_dot = false;
    bool has_letter = false;

    if (size > 0 && host[0] == '[') { /* of IPv6, in numbers */
        return true;
    }
    name.end = colon != NULL ? colon : name.end;
    for (const char *at = name.at; at < name.end; at++) {
        has_dot = has_dot || *at == '.';
        has_letter = has_letter || ((*at < '0' || *at > '9') && *at != '.');
    }
    return !has_dot || !has_letter || is_listed(name, names);
}
