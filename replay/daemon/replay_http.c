/*
 * The replay daemon: see replay_http.h.
 */
#include "replay/daemon/replay_http.h"

#include "replay/daemon/exported_replay_stats.h"

static int add_metrics(void *user, aq_metrics_page *page)
{
    aq_replay_stats stats;
    aq_replay_service_statistics(user, &stats);
    aq_replay_export(&stats.message, page);
    return 0;
}

/* A store on the disk has been restored by then. */
static const char *not_ready(void *user)
{
    return aq_replay_service_core(user) != NULL ? NULL : "it has not joined a run";
}

int aq_replay_http_open(uv_loop_t *loop, const char *listen, aq_replay_service *service,
                        const aq_rpc_dispatcher *dispatcher, const aq_security *security,
                        aq_daemon_http **ret_http, aq_error *error)
{
    const aq_daemon_pages pages = {
        .role = "replay",
        .user = service,
        .metrics = add_metrics,
        .not_ready = not_ready,
        .dispatcher = dispatcher,
        .security = security,
    };
    return aq_daemon_http_open(loop, listen, &pages, ret_http, error);
}
