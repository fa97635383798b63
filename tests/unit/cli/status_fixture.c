/*
 * Statuses to show.
 */
#include "tests/unit/cli/status_fixture.h"

#include <math.h>
#include <stdint.h>

/* protobuf-c knows no const; nobody writes to these. */
static char *text(const char *borrowed)
{
    return (char *)(uintptr_t)borrowed;
}

static void fill_tables(status_fixture *fixture)
{
    static const char *const names[STATUS_FIXTURE_TABLES] = {"main", "recent"};
    for (int i = 0; i < STATUS_FIXTURE_TABLES; i++) {
        Actorq__V1__TableStats *table = &fixture->tables[i];
        actorq__v1__table_stats__init(table);
        table->name = text(names[i]);
        table->items = 11000;
        table->mass = 5500.5;
        table->transitions = 12000;
        table->bytes = 1400000;
        table->sampled = 98765;
        table->times_sampled = 7.5;
        table->prioritized = 90000;
        table->stale = 321;
        fixture->table_pointers[i] = table;
    }
    fixture->replay.n_tables = STATUS_FIXTURE_TABLES;
    fixture->replay.tables = fixture->table_pointers;
}

static void fill_log(Actorq__V1__ReplayStats *replay)
{
    replay->durable_messages = 4321;
    replay->backlog_bytes = 65000;
    replay->disk_bytes = 9000000;
    replay->snapshots = 12;
    replay->restored = 10000;
    replay->damaged = 1;
}

static void fill_replay(status_fixture *fixture)
{
    Actorq__V1__ReplayStats *replay = &fixture->replay;
    actorq__v1__replay_stats__init(replay);
    replay->inserted = 12345;
    replay->sampled = 98765;
    replay->stored = 12000;
    replay->bytes = 1500000;
    replay->duplicates = 3;
    replay->gaps = 2;
    replay->rejected = 1;
    replay->insert_per_s = 2500;
    replay->sample_per_s = 20000;
    replay->waiting = text("actors wait: they are 900 steps ahead of the learner");
    replay->resident_bytes = 40000000;
    replay->waiting_s = 2.5;
    replay->running_s = 100;
    replay->inserting_s = 12;
    replay->sampling_s = 30;
    replay->actors_waited_s = 5;
    replay->learner_waited_s = 1;
    fixture->staleness[0] = fixture->staleness[2] = 50;
    fixture->staleness[4] = 5;
    replay->n_staleness = STATUS_FIXTURE_BUCKETS;
    replay->staleness = fixture->staleness;
    fixture->age_ms[4] = 7;
    replay->n_age_ms = STATUS_FIXTURE_BUCKETS;
    replay->age_ms = fixture->age_ms;
    fill_log(replay);
    fill_tables(fixture);
}

static void add_member(status_fixture *fixture, Actorq__V1__Role role, uint32_t slot,
                       const char *host)
{
    size_t i = fixture->reply.n_members++;
    Actorq__V1__MemberStatus *member = &fixture->members[i];
    actorq__v1__member_status__init(member);
    member->member = i + 1;
    member->role = role;
    member->slot = slot;
    member->host = text(host);
    member->pid = 1000 + (uint32_t)i;
    member->incarnation = 0xabc + i;
    member->joined_ms = 60000;
    member->heartbeat_ms = 120;
    member->address = text("ipc");
    fixture->pointers[i] = member;
}

static void add_actor_stats(status_fixture *fixture, size_t i)
{
    Actorq__V1__ActorStats *actor = &fixture->actors[i];
    actorq__v1__actor_stats__init(actor);
    actor->env_steps = 6000 + i;
    actor->episodes = 50;
    actor->return_mean = 123.4;
    actor->policy_version = 30;
    actor->steps_per_s = 1250;
    actor->unacknowledged = 7;
    actor->resent = 4;
    actor->waits_ms = 1500;
    actor->resident_bytes = 8000000;
    fixture->members[i].actor = actor;
}

static void fill_training(Actorq__V1__LearnerStatus *learner)
{
    actorq__v1__learner_status__init(learner);
    learner->env_steps = 12345;
    learner->env_steps_limit = 500000;
    learner->learner_steps = 3100;
    learner->learner_steps_per_s = 450;
    learner->env_steps_per_s = 2500;
    learner->policy_version = 31;
    learner->policy_versions = 31;
    learner->broadcast_bytes = 161200;
    learner->broadcast_bytes_fp32 = 606360;
    learner->staleness_mean = 1.25;
    learner->batch_wait_share = 0.03;
    learner->rejected_messages = 2;
    learner->checkpoint_step = 3000;
    learner->wall_s = 12.5;
    learner->members_joined = 5;
    learner->members_lost = 1;
}

static void add_metric(status_fixture *fixture, size_t index, const char *title, double value,
                       const char *unit)
{
    Actorq__V1__MetricStatus *metric = &fixture->metrics[index];
    actorq__v1__metric_status__init(metric);
    metric->title = text(title);
    metric->value = value;
    metric->unit = text(unit);
    fixture->metric_pointers[index] = metric;
    fixture->learner.metrics = fixture->metric_pointers;
    fixture->learner.n_metrics = index + 1;
}

static void fill_results(status_fixture *fixture)
{
    Actorq__V1__LearnerStatus *learner = &fixture->learner;
    learner->return_mean = 187.25;
    learner->return_std = 45.5;
    learner->return_episodes = 100;
    learner->return_version = 29;
    learner->return_format = text("int8");
    learner->return_confirmed = 1;
    learner->evaluations = 12;
    learner->return_best = 201.75;
    learner->return_best_std = 40.5;
    learner->return_best_episodes = 120;
    learner->return_best_version = 25;
    learner->return_best_confirmed = 1;
    actorq__v1__quant_error_status__init(&fixture->quant_error);
    fixture->quant_error.rows = 256;
    fixture->quant_error.cost = 0.0078125;
    fixture->quant_error.output_rms = 0.25;
    fixture->quant_error.output_max = 1;
    fixture->quant_error.fallbacks = 2;
    learner->quant_error = &fixture->quant_error;
}

static void fill_replay_use(status_fixture *fixture)
{
    Actorq__V1__ReplayUseStatus *use = &fixture->replay_use;
    actorq__v1__replay_use_status__init(use);
    use->answers = 1500;
    use->answer_ms_mean = 3.25;
    use->not_yet = 12;
    use->failures = 1;
    use->waited_limiter_s = 2.5;
    use->waited_answer_s = 0.25;
    use->priorities_sent = 1000;
    use->priorities_applied = 900;
    use->priorities_stale = 90;
    use->priorities_dropped = 10;
    use->n_staleness = STATUS_FIXTURE_BUCKETS;
    use->staleness = fixture->staleness;
    fixture->learner.replay_use = use;
}

void status_fixture_learner(status_fixture *fixture)
{
    *fixture = (status_fixture){0};
    Actorq__V1__StatusReply *reply = &fixture->reply;
    actorq__v1__status_reply__init(reply);
    reply->role = text("learner");
    reply->software = text("0.1.0");
    reply->run_id = 0x1122334455667788;
    reply->task = text("gym:CartPole-v1");
    reply->state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    reply->uptime_s = 125;
    reply->resident_bytes = 45000000;
    reply->run_dir = text("runs/first");
    reply->http = text("http://127.0.0.1:24680");
    reply->algorithm = text("dqn");
    reply->precision = text("int8");
    reply->seed = 42;
    fill_training(&fixture->learner);
    add_metric(fixture, 0, "loss", 0.0123, "");
    add_metric(fixture, 1, "step", 23.5, "rad");
    fill_results(fixture);
    fill_replay_use(fixture);
    reply->learner = &fixture->learner;
    add_member(fixture, ACTORQ__V1__ROLE__ROLE_REPLAY, 0, "box-r");
    add_member(fixture, ACTORQ__V1__ROLE__ROLE_ACTOR, 1, "box\033[2J");
    add_member(fixture, ACTORQ__V1__ROLE__ROLE_ACTOR, 0, "box-a");
    add_member(fixture, ACTORQ__V1__ROLE__ROLE_EVALUATOR, 0, "box-e");
    fill_replay(fixture);
    fixture->members[0].replay = &fixture->replay;
    add_actor_stats(fixture, 1);
    add_actor_stats(fixture, 2);
    reply->members = fixture->pointers;
}

void status_fixture_shard(status_fixture *fixture)
{
    *fixture = (status_fixture){0};
    Actorq__V1__StatusReply *reply = &fixture->reply;
    actorq__v1__status_reply__init(reply);
    reply->role = text("replay");
    reply->software = text("0.1.0");
    reply->run_id = 0x1122334455667788;
    reply->task = text("gym:CartPole-v1");
    reply->state = ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING;
    reply->seed = 42;
    fill_replay(fixture);
    reply->replay = &fixture->replay;
    add_member(fixture, ACTORQ__V1__ROLE__ROLE_ACTOR, 0, "");
    add_actor_stats(fixture, 0);
    fixture->actors[0].return_mean = (double)NAN;
    actorq__v1__intake_stats__init(&fixture->intake);
    fixture->intake.transitions = 6100;
    fixture->intake.taken = 210;
    fixture->intake.acknowledged = 205;
    fixture->intake.duplicates = 3;
    fixture->intake.gaps = 2;
    fixture->intake.granted = 6800;
    fixture->members[0].intake = &fixture->intake;
    reply->members = fixture->pointers;
}
