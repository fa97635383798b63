/*
 * RPC catalog: see rpc_catalog.h.
 */
#include "cli/operate/rpc_catalog.h"

#include <stdbool.h>
#include <string.h>

#include "cli/text/command.h"
#include "common/base/nearest.h"
#include "common/base/parse.h"
#include "common/net/rpc/reflect.h"
#include "proto/exchange.pb-c.h"
#include "proto/experience.pb-c.h"
#include "proto/membership.pb-c.h"
#include "proto/operations.pb-c.h"
#include "proto/policy.pb-c.h"
#include "proto/sampling.pb-c.h"

static const ProtobufCServiceDescriptor *const services[] = {
    &actorq__v1__exchange__descriptor,   &actorq__v1__flow__descriptor,
    &actorq__v1__membership__descriptor, &actorq__v1__operations__descriptor,
    &actorq__v1__policy__descriptor,     &actorq__v1__sampling__descriptor,
};

enum { SERVICE_COUNT = sizeof(services) / sizeof(services[0]) };

/* The package is the build's only one, and so needs no typing. */
#define PACKAGE "actorq.v1."

const ProtobufCMethodDescriptor *aq_rpc_catalog_method(aq_caller_method method)
{
    return &method.service->methods[method.index];
}

/* "Operations/Status" into out[AQ_RPC_METHOD_MAX]. */
static const char *short_form(const ProtobufCServiceDescriptor *service, unsigned index, char *out)
{
    int rc = aq_text_format(out, AQ_RPC_METHOD_MAX, "%s/%s", service->short_name,
                            service->methods[index].name);
    (void)rc; /* our own names are short */
    return out;
}

/* A method that `name` may mean: by its short form, or by the method's own name. */
static bool find_short(const char *name, bool with_service, aq_caller_method *ret_method)
{
    size_t found = 0;
    char form[AQ_RPC_METHOD_MAX];
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        for (unsigned k = 0; k < services[i]->n_methods; k++) {
            const char *known =
                with_service ? short_form(services[i], k, form) : services[i]->methods[k].name;
            if (strcmp(known, name) == 0) {
                *ret_method = (aq_caller_method){.service = services[i], .index = k};
                found++;
            }
        }
    }
    return found == 1;
}

static int fail_unknown(const char *name, aq_error *error)
{
    bool with_service = strchr(name, '/') != NULL;
    char form[AQ_RPC_METHOD_MAX];
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        for (unsigned k = 0; k < services[i]->n_methods; k++) {
            aq_nearest_offer(&nearest, with_service ? short_form(services[i], k, form)
                                                    : services[i]->methods[k].name);
        }
    }
    const char *guess = aq_nearest_name(&nearest);
    if (!guess) {
        return aq_fail(error, AQ_E_NOT_FOUND,
                       "there is no method '%s'; 'actorq call --list' shows those there are", name);
    }
    return aq_fail(error, AQ_E_NOT_FOUND, "there is no method '%s'; did you mean '%s'?", name,
                   guess);
}

int aq_rpc_catalog_find(const char *name, aq_caller_method *ret_method, aq_error *error)
{
    aq_caller_method method;
    const char *bare = strncmp(name, PACKAGE, strlen(PACKAGE)) == 0 ? name + strlen(PACKAGE) : name;
    if (!find_short(bare, strchr(bare, '/') != NULL, &method)) {
        return fail_unknown(bare, error);
    }
    *ret_method = method;
    return 0;
}

json_t *aq_rpc_catalog_json(void)
{
    char form[AQ_RPC_METHOD_MAX];
    json_t *methods = json_array();
    for (size_t i = 0; i < SERVICE_COUNT; i++) {
        for (unsigned k = 0; k < services[i]->n_methods; k++) {
            const ProtobufCMethodDescriptor *method = &services[i]->methods[k];
            json_t *row = json_pack("{s:s, s:o, s:o}", "method", short_form(services[i], k, form),
                                    "request", aq_reflect_template(method->input), "reply",
                                    aq_reflect_template(method->output));
            aq_json_add(&methods, row);
        }
    }
    return json_pack("{s:o}", "methods", methods);
}
