/*
 * The learner daemon: where its metrics go besides their file, and the dashboard that is drawn from
 * them. Without HTTP there is nobody to draw for, and no history is kept.
 */
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "learner/daemon/learner_net_priv.h"

static void say_history_failed(const aq_error *error)
{
    char quoted[2 * AQ_ERROR_TEXT_MAX];
    aq_log(AQ_LOG_WARN, "history_failed", "the dashboard begins with this process", "error=%s",
           aq_log_quote(quoted, sizeof(quoted), error->text));
}

/* A run that goes on has a history already; one that cannot be read is no reason to stand still. */
static int create_history(aq_learner *learner, aq_error *error)
{
    char path[AQ_PATH_MAX];
    aq_error problem = {0};
    if (aq_run_history_create(&learner->history)) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    if (!learner->folder.resumed) {
        return 0;
    }
    int rc = aq_text_format(path, sizeof(path), "%s/metrics.jsonl", learner->folder.path);
    rc = rc ? aq_fail(&problem, rc, "%s: the path is too long", learner->folder.path)
            : aq_run_history_read(learner->history, path, &problem);
    if (rc) {
        say_history_failed(&problem);
    }
    return 0;
}

int aq_learner_mirror_open(aq_learner *learner, aq_error *error)
{
    const aq_run_config *config = &learner->plan.config;
    aq_metrics_mirror *mirror;
    int rc = learner->options->daemon.http ? create_history(learner, error) : 0;
    const aq_mirror_config wanted = {
        .run_dir = learner->folder.path,
        .format = aq_format_name(aq_run_config_format(config)),
        .tensorboard = config->log.tensorboard,
        .csv = config->log.csv,
        .step = (enum aq_log_step)config->log.step,
        .goes_on = learner->folder.resumed,
        .history = learner->history,
    };
    rc = rc ? rc : aq_metrics_mirror_open(&wanted, &mirror, error);
    if (!rc) {
        aq_metrics_set_mirror(learner->metrics, mirror);
    }
    return rc;
}

static int64_t source_now_ns(void *user)
{
    (void)user;
    return aq_clock_monotonic_ns();
}

static struct json_t *source_time(void *user)
{
    return aq_learner_time_metrics(user);
}

int aq_learner_dashboard_create(aq_learner *learner, aq_error *error)
{
    char network[128];
    if (!learner->history) {
        return 0;
    }
    const aq_dashboard_sources sources = {
        .service = learner->service,
        .history = learner->history,
        .plan = &learner->plan,
        .network = aq_net_spec_text(learner->plan.algorithm_class->spec(learner->algorithm),
                                    network, sizeof(network)),
        .now_ns = source_now_ns,
        .time = source_time,
        .user = learner,
    };
    int rc = aq_dashboard_create(&sources, &learner->dashboard);
    return rc ? aq_fail(error, rc, "out of memory") : 0;
}

void aq_learner_dashboard_destroy(aq_learner *learner)
{
    aq_dashboard_destroy(learner->dashboard);
    aq_run_history_destroy(learner->history);
}
