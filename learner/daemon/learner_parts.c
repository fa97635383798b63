/*
 * Learner parts: see learner_parts.h.
 */
#include "learner/daemon/learner_parts.h"

#include "common/config/layer_plan.h"
#include "common/sys/file.h"
#include "learner/daemon/configure_call.h"
#include "learner/daemon/run_resume.h"
#include "learner/nn/products.h"

/* `actorq train` writes to the run folder, too. */
enum { TIDY_AGE_S = 60 };

static int make_plan(aq_learner_parts *parts, const aq_run_config *given, aq_error *error)
{
    const char *resumed_dir = parts->options->resume ? parts->options->run_dir : NULL;
    int rc = aq_live_plan_make(given, resumed_dir, &parts->live, error);
    if (rc != 0) {
        return rc;
    }
    const aq_run_plan *plan = &parts->live.now;
    aq_algorithm_set_blas_threads(plan->algorithm_class, &plan->config);
    return 0;
}

static int open_metrics(aq_learner_parts *parts, aq_error *error)
{
    const aq_run_config *config = &parts->live.now.config;
    const aq_mirror_config wanted = {
        .run_dir = parts->folder.path,
        .format = aq_format_name(aq_run_config_format(config)),
        .tensorboard = config->log.tensorboard,
        .csv = config->log.csv,
        .step = (enum aq_log_step)config->log.step,
        .metrics = aq_agent_metrics(parts->agent),
        .goes_on = parts->folder.resumed,
        .learner_steps = aq_training_step(parts->training),
        .history = parts->history,
    };
    return aq_metrics_open(&wanted, &parts->metrics, error);
}

static int open_run(aq_learner_parts *parts, aq_error *error)
{
    const aq_run_config *config = &parts->live.now.config;
    const char *dir = parts->options->run_dir;
    int rc = aq_dir_create(dir, error);
    if (rc == 0) { /* before anything in it is looked at */
        rc = aq_folder_lock_take(dir, &parts->lock, error);
    }
    if (rc == 0) {
        aq_dir_tidy(dir, TIDY_AGE_S);
        rc = aq_run_folder_open(dir, config, parts->options->resume, parts->options->run_id,
                                &parts->folder, error);
    }
    if (rc == 0) {
        rc = aq_checkpoint_store_open(
            parts->folder.path, (unsigned)config->learner.checkpoints_kept, &parts->store, error);
    }
    return rc;
}

/* What the run tells of itself. It comes after whatever refuses this folder or this learner, which
 * is to begin there with another address: neither leaves anything in it. */
static int open_records(aq_learner_parts *parts, aq_error *error)
{
    int rc = open_metrics(parts, error);
    if (rc == 0 &&
        aq_energy_account_create(&parts->live.now.config, &parts->folder, &parts->energy) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    return rc;
}

static int create_agent(aq_learner_parts *parts, aq_error *error)
{
    aq_run_plan *plan = &parts->live.now;
    const aq_algorithm_setup setup = {
        .config = &plan->config,
        .schema = &plan->settings.schema,
        .sequence_length = plan->sequence_length,
        .seed = plan->config.seed,
        .exchange = parts->ranks.exchange,
        .model = parts->ranks.model,
    };
    int rc = aq_agent_create(plan->algorithm_class, &setup, &parts->agent, error);
    const size_t gradient = rc == 0 ? aq_agent_gradient_values(parts->agent) : 0;
    return gradient > 0 ? aq_run_plan_take_gradients(plan, gradient, error) : rc;
}

static int create_cores(aq_learner_parts *parts, aq_error *error)
{
    const aq_run_plan *plan = &parts->live.now;
    const aq_coordinator_config limits = aq_configure_limits(plan);
    int rc = aq_coordinator_create(&limits, parts->started_ns, &parts->coordinator);
    if (rc == 0) {
        rc = aq_policy_shelf_create(&parts->shelf);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    rc = aq_ranks_make(parts->options->link, &plan->config, &parts->ranks, error);
    return rc == 0 ? create_agent(parts, error) : rc;
}

/* Takes up the run that is in the folder, if there is one; else `ret_resumed` stays empty. */
static int resume(aq_learner_parts *parts, aq_resumed *ret_resumed, aq_error *error)
{
    const aq_resume_into into = {
        .folder = &parts->folder,
        .plan = &parts->live.now,
        .agent = parts->agent,
        .coordinator = parts->coordinator,
        .shelf = parts->shelf,
        .best = &parts->best,
    };
    int rc = parts->folder.resumed ? aq_run_resume(&into, parts->store, ret_resumed, error) : 0;
    aq_version_numbers_init(&parts->versions, parts->folder.path, ret_resumed->last_version);
    return rc;
}

/* The other ranks come to be where this one is. */
static int begin_ranks(aq_learner_parts *parts, const aq_resumed *resumed, aq_error *error)
{
    const aq_rank_birth birth = {
        .run_id = parts->folder.run_id,
        .first_step = resumed->step,
        .is_bf16 = aq_products_bf16_threads(&parts->live.now.config, 1) != 0,
        .config = parts->live.text,
    };
    int rc = aq_ranks_say_birth(&parts->ranks, &birth, error);
    return rc == 0 ? aq_ranks_begin(&parts->ranks, parts->agent, 0,
                                    resumed->read.arrays.count > 0 ? &resumed->read.arrays : NULL,
                                    parts->live.now.config.net.rank_timeout_ms, error)
                   : rc;
}

/* Once nothing of this learner can go wrong any more: the run is what it was begun with, or, in
 * what it was resumed with, another. */
static int begin_folder(aq_learner_parts *parts, aq_error *error)
{
    return parts->folder.resumed
               ? aq_live_plan_settle(&parts->live, &parts->folder, error)
               : aq_run_folder_begin(&parts->folder, &parts->live.now.config, error);
}

static int create_service(aq_learner_parts *parts, const aq_resumed *resumed, aq_error *error)
{
    parts->live.now.settings.network_hash = aq_net_spec_hash(aq_agent_spec(parts->agent));
    const aq_learner_identity identity = {
        .run_id = parts->folder.run_id,
        .settings = &parts->live.now.settings,
        .policy_url = parts->ports.policy_url,
        .algorithm = parts->live.now.algorithm_class->name,
        .precision = aq_format_name(aq_run_config_format(&parts->live.now.config)),
        .quantizes = aq_layer_plan_quantizes(&parts->live.now.config, aq_agent_spec(parts->agent)),
    };
    parts->events.parts = parts;
    const aq_learner_service_owner owner = aq_learner_events_owner(&parts->events);
    int rc = aq_learner_service_create(&identity, parts->coordinator, parts->shelf, &owner,
                                       &parts->service);
    if (rc == 0) {
        aq_learner_service_restore_gap(parts->service, &resumed->gap);
        aq_learner_service_hold_end(parts->service, true); /* until it is on the disk */
        rc = aq_learner_service_offer(parts->service, parts->ports.dispatcher);
    }
    return rc == 0 ? 0 : aq_fail(error, rc, "out of memory");
}

/* What keeps it going, and tells of it. */
static int create_runners(aq_learner_parts *parts, uint64_t step, aq_error *error)
{
    int rc = aq_checkpointer_create(parts, step, &parts->checkpointer);
    if (rc == 0 && parts->options->daemon.http != NULL) {
        rc = aq_pages_history(&parts->folder, aq_agent_metrics(parts->agent), &parts->history);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    rc = aq_training_create(parts, step, &parts->training, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_run_report_create(parts, &parts->report);
    if (rc != 0) {
        return aq_fail(error, rc, "out of memory");
    }
    return parts->history != NULL ? aq_learner_pages_open(parts, &parts->pages, error) : 0;
}

int aq_learner_parts_make(aq_learner_parts *parts, const aq_run_config *config, aq_error *error)
{
    aq_resumed resumed = {0};
    int rc = make_plan(parts, config, error);
    if (rc == 0) { /* what cannot train is refused before there is a run folder */
        rc = create_cores(parts, error);
    }
    if (rc == 0) {
        rc = open_run(parts, error);
    }
    if (rc == 0) {
        rc = resume(parts, &resumed, error);
    }
    if (rc == 0) {
        rc = aq_learner_ports_open(parts->loop, parts->options->listen_url, &parts->live.now,
                                   aq_agent_spec(parts->agent), parts->options->security,
                                   &parts->ports, error);
    }
    if (rc == 0) {
        rc = create_service(parts, &resumed, error);
    }
    if (rc == 0) {
        rc = create_runners(parts, resumed.step, error);
    }
    if (rc == 0) {
        rc = open_records(parts, error);
    }
    if (rc == 0) { /* once nothing of this one can go wrong any more */
        rc = begin_ranks(parts, &resumed, error);
    }
    if (rc == 0) {
        rc = begin_folder(parts, error);
    }
    aq_checkpoint_fini(&resumed.read);
    return rc;
}

void aq_learner_parts_close(aq_learner_parts *parts)
{
    if (parts->training != NULL) {
        aq_training_stop(parts->training);
        aq_version_numbers_give_back(&parts->versions);
        aq_learner_service_checkpointed(parts->service, NULL, 0, "the learner stops");
    }
    aq_learner_ports_close(&parts->ports);
    aq_learner_pages_close(parts->pages);
    aq_training_close(parts->training);
}

void aq_learner_parts_fini(aq_learner_parts *parts)
{
    aq_training_destroy(parts->training);
    aq_learner_pages_destroy(parts->pages);
    aq_run_report_destroy(parts->report);
    aq_checkpointer_destroy(parts->checkpointer);
    aq_learner_ports_fini(&parts->ports);
    aq_learner_service_destroy(parts->service);
    aq_best_policy_fini(&parts->best);
    aq_policy_shelf_destroy(parts->shelf);
    aq_coordinator_destroy(parts->coordinator);
    aq_energy_account_destroy(parts->energy);
    aq_metrics_close(parts->metrics);
    aq_run_history_destroy(parts->history);
    aq_agent_destroy(parts->agent); /* whose metrics they show */
    aq_ranks_fini(&parts->ranks);
    aq_checkpoint_store_close(parts->store);
    aq_folder_lock_release(parts->lock);
    aq_live_plan_fini(&parts->live);
}
