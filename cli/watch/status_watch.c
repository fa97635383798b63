/*
 * Status watch: see status_watch.h.
 *
 * Two things happen on the loop: an answer is shown when it comes, and every second it is looked
 * whether answers still come.
 */
#include "cli/watch/status_watch.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uv.h>

#include "cli/operate/live_endpoint.h"
#include "cli/run/run_watch.h"
#include "cli/watch/status_page.h"
#include "cli/watch/status_screen.h"
#include "common/base/clock.h"
#include "common/net/address/dial_tries.h"
#include "common/net/rpc/reflect.h"
#include "common/sys/file.h"
#include "common/sys/print_json.h"

enum {
    PERIOD_MS = 1000,
    LOOK_MS = 100,
    SILENT_LOOKS = 30, /* more than run_watch waits for one answer */
    USUAL_ROWS = 24,   /* of a terminal that doesn't say */
    USUAL_COLUMNS = 80,
};

typedef struct status_watch {
    const char *endpoint; /* as given */
    char url[AQ_URL_MAX];
    aq_json_form json;
    bool is_terminal;
    uv_loop_t loop;
    uv_timer_t timer;
    aq_run_watch *watch;
    int64_t started_ns;
    int64_t first_ns; /* how long the first answer may take */
    bool is_heard;
    uint32_t silent_looks; /* not by the clock: this process may stand still, too */
    bool run_is_over;
    bool silent; /* that it does not answer was said */
    bool done;
    int rc;
    aq_error *error;
} status_watch;

static void finish(status_watch *watch, int rc)
{
    watch->rc = rc;
    watch->done = true;
    uv_stop(&watch->loop);
}

/* ---- an answer ------------------------------------------------------------------------------ */

static int show_screen(const status_watch *watch, const Actorq__V1__StatusReply *status)
{
    struct winsize window;
    const bool is_known =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 1 && window.ws_col > 0;
    const size_t rows = (is_known ? window.ws_row : USUAL_ROWS) - 1; /* below it is the cursor's */
    return aq_status_screen_print(stdout, watch->url, status, rows,
                                  is_known ? window.ws_col : USUAL_COLUMNS);
}

static int show_page(const status_watch *watch, const Actorq__V1__StatusReply *status)
{
    int rc = aq_status_page_print(stdout, watch->url, status, SIZE_MAX);
    (void)fputs("\n", stdout);
    return rc;
}

static void on_status(void *user, const Actorq__V1__StatusReply *status)
{
    status_watch *watch = user;
    watch->is_heard = true;
    watch->silent_looks = 0;
    watch->silent = false;
    watch->run_is_over = status->state != ACTORQ__V1__RUN_STATE__RUN_STATE_UNKNOWN &&
                         status->state != ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    int rc = watch->json ? aq_print_json(aq_reflect_to_json(&status->base), watch->json, NULL)
             : watch->is_terminal ? show_screen(watch, status)
                                  : show_page(watch, status);
    if (rc != 0) {
        finish(watch, aq_fail(watch->error, rc, "out of memory"));
    } else if (fflush(stdout) == EOF || ferror(stdout)) {
        finish(watch, aq_fail(watch->error, AQ_E_IO, "the result could not be written"));
    }
}

/* ---- silence -------------------------------------------------------------------------------- */

/* What asking again doesn't mend. */
static bool is_refused(const status_watch *watch)
{
    const uint32_t code = aq_run_watch_outcome(watch->watch)->code;
    return code == AQ_RPC_UNAUTHENTICATED || code == AQ_RPC_PERMISSION_DENIED;
}

static int fail_unheard(const status_watch *watch)
{
    char why[AQ_DIAL_WORDS_MAX];
    aq_run_watch_unreached(watch->watch, why, sizeof(why));
    return aq_fail(watch->error, AQ_E_TIMEOUT, "%s gave no answer within %lld ms%s%s", watch->url,
                   (long long)(watch->first_ns / AQ_NS_PER_MS), why[0] != '\0' ? ": " : "", why);
}

static int ask(status_watch *watch)
{
    return aq_run_watch_create(&watch->loop, watch->url, PERIOD_MS, on_status, watch, &watch->watch,
                               watch->error);
}

/* A run folder loses its endpoint.json when its run ends; one that is resumed has another. While
 * its learner is being started again it has one and no learner. */
static void on_silence(status_watch *watch)
{
    char url[AQ_URL_MAX];
    int rc = aq_live_endpoint_url(watch->endpoint, url, NULL);
    if (watch->run_is_over || (rc != 0 && !aq_path_exists_in(watch->endpoint, "endpoint.json"))) {
        finish(watch, 0);
    } else if (rc == 0 && strcmp(url, watch->url) != 0) {
        aq_run_watch_close(watch->watch);
        watch->watch = NULL;
        memcpy(watch->url, url, sizeof(url));
        watch->silent_looks = 0; /* it has as long as after an answer */
        watch->silent = false;
        rc = ask(watch);
        if (rc != 0) {
            finish(watch, rc);
        }
    } else if (!watch->silent) {
        watch->silent = true;
        (void)fprintf(stderr, "actorq status: %s does not answer any more; still asking\n",
                      watch->url);
    }
}

static void on_look(uv_timer_t *timer)
{
    status_watch *watch = timer->data;
    if (is_refused(watch)) {
        finish(watch,
               aq_fail(watch->error, AQ_E_PEER, "%s", aq_run_watch_outcome(watch->watch)->message));
    } else if (!watch->is_heard) {
        if (aq_clock_monotonic_ns() - watch->started_ns >= watch->first_ns) {
            finish(watch, fail_unheard(watch));
        }
    } else if (++watch->silent_looks >= SILENT_LOOKS) {
        on_silence(watch);
    }
}

int aq_status_watch(const char *endpoint, aq_json_form json, uint32_t first_ms, aq_error *error)
{
    status_watch watch = {
        .endpoint = endpoint,
        .json = json,
        .is_terminal = !json && isatty(STDOUT_FILENO),
        .started_ns = aq_clock_monotonic_ns(),
        .first_ns = first_ms * AQ_NS_PER_MS,
        .error = error,
    };
    int rc = aq_live_endpoint_url(endpoint, watch.url, error);
    if (rc != 0) {
        return rc;
    }
    if (uv_loop_init(&watch.loop)) {
        return aq_fail(error, AQ_E_NOMEM, "an event loop could not be made");
    }
    (void)uv_timer_init(&watch.loop, &watch.timer);
    watch.timer.data = &watch;
    rc = ask(&watch);
    if (rc == 0) {
        (void)uv_timer_start(&watch.timer, on_look, LOOK_MS, LOOK_MS);
        while (!watch.done) {
            (void)uv_run(&watch.loop, UV_RUN_DEFAULT);
        }
        rc = watch.rc;
        aq_run_watch_close(watch.watch);
    }
    uv_close((uv_handle_t *)&watch.timer, NULL);
    (void)uv_run(&watch.loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&watch.loop);
    return rc;
}
