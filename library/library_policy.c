/*
 * Policies of the public library: a snapshot, and an engine for as many rows as were asked for so
 * far. It grows with the largest batch, so that small ones need not pay for rows that never come.
 */
#include <limits.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "library/library_words.h"
#include "library/source/policy_source.h"
#include "quantizer/engine/engine.h"
#include "rollout/act.h"
#include "rollout/evaluation.h"

/* As many as an evaluation takes. */
enum { ROWS_FIRST = AQ_EVALUATION_LANES_MAX, NETWORK_TEXT_BYTES = 256 };

/* Room for rows, which a policy keeps: of pictures or of much noise a row takes up to megabytes. */
enum { ROOM_BYTES_MAX = 64 << 20 };

struct actorq_policy {
    aq_snapshot *snapshot;
    aq_engine *engine;
    aq_act *act;
    float *draws; /* (rows_max, 1 + elements of an action); NULL: the head does not draw */
    uint32_t rows_max;
    actorq_policy_facts facts;
    char path[PATH_MAX];
    char network[NETWORK_TEXT_BYTES];
};

static const aq_head_drawing *drawing_of(const actorq_policy *policy)
{
    return aq_head_of(policy->snapshot->head)->drawing;
}

/* ---- room for rows -------------------------------------------------------------------------- */

static void fini_room(actorq_policy *policy)
{
    aq_engine_destroy(policy->engine);
    aq_act_destroy(policy->act);
    aq_free(policy->draws);
}

static int init_room(actorq_policy *room, uint32_t rows_max, aq_error *error)
{
    const aq_schema *schema = &room->snapshot->schema;
    room->rows_max = rows_max;
    int rc = aq_engine_create(room->snapshot, rows_max, aq_cpu_flags(), &room->engine, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_act_create(schema, rows_max, &room->act);
    rc = rc == 0 ? aq_act_prepare(room->act, room->engine) : rc;
    if (rc == 0 && drawing_of(room) != NULL) {
        room->draws =
            aq_alloc(rows_max * (1 + aq_space_elements(&schema->action)), sizeof(*room->draws));
        rc = room->draws == NULL ? AQ_E_NOMEM : rc;
    }
    return rc != 0 ? aq_fail(error, rc, "no memory to act on %u observations", rows_max) : 0;
}

/* Of so many rows, how many are done at once: what comes of them does not depend on it. */
static uint32_t rows_at_once(const actorq_policy *policy, uint64_t rows)
{
    const size_t numbers = 1 + aq_space_elements(&policy->snapshot->schema.action) +
                           aq_net_spec_outputs(&policy->snapshot->spec);
    const size_t row_bytes = aq_act_row_bytes(policy->snapshot) + numbers * sizeof(float);
    uint32_t most = ROWS_FIRST;
    while (most < AQ_ENGINE_ROWS_MAX && 2 * most * row_bytes <= ROOM_BYTES_MAX) {
        most *= 2;
    }
    return rows < most ? (uint32_t)rows : most;
}

/* The policy has what it had on failure. */
static int make_room(actorq_policy *policy, uint32_t rows, aq_error *error)
{
    actorq_policy room = {.snapshot = policy->snapshot};
    uint32_t rows_max = ROWS_FIRST;
    if (rows <= policy->rows_max) {
        return 0;
    }
    while (rows_max < rows) {
        rows_max *= 2;
    }
    int rc = init_room(&room, rows_max, error);
    if (rc != 0) {
        fini_room(&room);
        return rc;
    }
    fini_room(policy);
    policy->engine = room.engine;
    policy->act = room.act;
    policy->draws = room.draws;
    policy->rows_max = room.rows_max;
    return 0;
}

/* ---- from file to handle -------------------------------------------------------------------- */

static void set_facts(actorq_policy *policy)
{
    const aq_snapshot *snapshot = policy->snapshot;
    policy->facts = (actorq_policy_facts){
        .task = snapshot->task,
        .path = policy->path,
        .precision = aq_format_name(aq_snapshot_format(snapshot)),
        .head = aq_head_name(snapshot->head),
        .network = aq_net_spec_text(&snapshot->spec, policy->network, sizeof(policy->network)),
        .rung = aq_engine_rung(policy->engine),
        .run_id = snapshot->run_id,
        .version = snapshot->version,
        .learner_step = snapshot->learner_step,
        .parameters = aq_net_spec_parameters(&snapshot->spec),
        .output_count = aq_net_spec_outputs(&snapshot->spec),
        .draws = drawing_of(policy) != NULL,
        .observation_bytes = aq_space_bytes(&snapshot->schema.obs),
        .action_bytes = aq_space_bytes(&snapshot->schema.action),
        .observation = aq_library_space(&snapshot->schema.obs),
        .action = aq_library_space(&snapshot->schema.action),
        .state_count = aq_net_spec_state(&snapshot->spec),
    };
}

/* Takes the reference that `snapshot` is. */
static int make(aq_snapshot *snapshot, const char *path, actorq_policy **ret_policy,
                aq_error *error)
{
    actorq_policy *policy = aq_alloc(1, sizeof(*policy));
    if (policy == NULL) {
        aq_snapshot_unref(snapshot);
        return aq_fail(error, AQ_E_NOMEM, "no memory for a policy");
    }
    policy->snapshot = snapshot;
    int rc = aq_text_set(policy->path, sizeof(policy->path), path);
    rc = rc != 0 ? aq_fail(error, rc, "%s: the path is too long", path)
                 : make_room(policy, 1, error);
    if (rc != 0) {
        actorq_policy_free(policy);
        return rc;
    }
    set_facts(policy);
    *ret_policy = policy;
    return 0;
}

int actorq_policy_load(const char *path, const char *precision, actorq_policy **ret_policy,
                       actorq_error *error)
{
    aq_error problem = {0};
    aq_snapshot *snapshot;
    char found[PATH_MAX];
    uint32_t format = AQ_PRECISION_AS_STORED;
    int rc = AQ_NEED(&problem, {"path", path}, {"ret_policy", ret_policy});
    if (rc == 0 && precision != NULL) {
        rc = aq_precision_take(&format, precision, &problem);
    }
    rc = rc != 0 ? rc : aq_policy_source_read(path, format, &snapshot, found, NULL, &problem);
    rc = rc != 0 ? rc : make(snapshot, found, ret_policy, &problem);
    return aq_library_tell(rc, &problem, error);
}

int actorq_policy_copy(const actorq_policy *policy, actorq_policy **ret_policy, actorq_error *error)
{
    aq_error problem = {0};
    int rc = AQ_NEED(&problem, {"policy", policy}, {"ret_policy", ret_policy});
    rc = rc != 0 ? rc : make(aq_snapshot_ref(policy->snapshot), policy->path, ret_policy, &problem);
    return aq_library_tell(rc, &problem, error);
}

void actorq_policy_free(actorq_policy *policy)
{
    if (policy == NULL) {
        return;
    }
    fini_room(policy);
    aq_snapshot_unref(policy->snapshot);
    aq_free(policy);
}

const actorq_policy_facts *actorq_policy_look(const actorq_policy *policy)
{
    return policy != NULL ? &policy->facts : NULL;
}

/* ---- acting --------------------------------------------------------------------------------- */

/* What is done with some rows. */
typedef struct rows_work {
    void (*run)(actorq_policy *policy, const void *obs, uint32_t rows, uint8_t *out);
    size_t (*out_bytes)(const actorq_policy *policy); /* of a row */
    const char *out_name;
} rows_work;

static size_t action_bytes(const actorq_policy *policy)
{
    return policy->facts.action_bytes;
}

static size_t outputs_bytes(const actorq_policy *policy)
{
    return policy->facts.output_count * sizeof(float);
}

static void act_greedy(actorq_policy *policy, const void *obs, uint32_t rows, uint8_t *actions)
{
    aq_act_greedy(policy->act, policy->engine, obs, rows, actions);
}

static void write_outputs(actorq_policy *policy, const void *obs, uint32_t rows, uint8_t *outputs)
{
    aq_engine_forward(policy->engine, aq_act_inputs(policy->act, obs, rows), rows,
                      (float *)(void *)outputs);
}

static const rows_work greedy = {act_greedy, action_bytes, "actions"};
static const rows_work forward = {write_outputs, outputs_bytes, "outputs"};

/* Rows between the caller's memory and this library's. */
typedef struct row_ends {
    const void *obs;
    uint64_t rows;
    float *states; /* NULL: a row is of no episode, so that there is nothing to go on from */
    void *out;
} row_ends;

/* Without rows nothing is read or written. */
static int check_rows(const actorq_policy *policy, const row_ends *ends, const rows_work *work,
                      aq_error *error)
{
    int rc = AQ_NEED(error, {"policy", policy});
    if (rc == 0 && ends->rows > 0) {
        rc = AQ_NEED(error, {"observations", ends->obs}, {work->out_name, ends->out});
    }
    if (rc != 0) {
        return rc;
    }
    const uint64_t state_row = policy->facts.state_count * sizeof(float);
    const uint64_t row = policy->facts.observation_bytes + work->out_bytes(policy) + state_row;
    return ends->rows <= PTRDIFF_MAX / row
               ? 0
               : aq_fail(error, AQ_E_INVALID, "%llu observations are more than memory holds",
                         (unsigned long long)ends->rows);
}

static int check_state(const actorq_policy *policy, const float *states, aq_error *error)
{
    return policy->facts.state_count == 0 || states != NULL
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "the policy keeps a state from step to step (%s), and this function knows "
                         "no episodes; actorq_policy_act_from and draw_from (in Python act_from, "
                         "draw_from and predict) take the state",
                         policy->facts.network);
}

static size_t state_bytes(const actorq_policy *policy, uint32_t rows)
{
    return rows * (size_t)policy->facts.state_count * sizeof(float);
}

static void take_states(const actorq_policy *policy, const float *states, uint32_t rows)
{
    uint32_t width;
    if (policy->facts.state_count > 0) {
        memcpy(aq_act_state(policy->act, &width), states, state_bytes(policy, rows));
    }
}

static void give_states(const actorq_policy *policy, uint32_t rows, float *states)
{
    uint32_t width;
    if (policy->facts.state_count > 0) {
        memcpy(states, aq_act_state(policy->act, &width), state_bytes(policy, rows));
    }
}

/* The rows behind those that are done: `most` of them, or all that are left. */
static row_ends piece_of(const actorq_policy *policy, const row_ends *ends, const rows_work *work,
                         uint64_t done, uint32_t most)
{
    const uint64_t left = ends->rows - done;
    return (row_ends){
        .obs = (const uint8_t *)ends->obs + done * policy->facts.observation_bytes,
        .rows = left < most ? left : most,
        .states = ends->states != NULL ? ends->states + done * policy->facts.state_count : NULL,
        .out = (uint8_t *)ends->out + done * work->out_bytes(policy),
    };
}

/* What comes of a row has nothing to do with its place: any number can be done in pieces. */
static int in_pieces(actorq_policy *policy, const row_ends *ends, const rows_work *work,
                     actorq_error *error)
{
    aq_error problem = {0};
    int rc = check_rows(policy, ends, work, &problem);
    rc = rc == 0 ? check_state(policy, ends->states, &problem) : rc;
    const uint32_t most = rc == 0 ? rows_at_once(policy, ends->rows) : 0;
    rc = rc == 0 ? make_room(policy, most, &problem) : rc;
    for (uint64_t done = 0; rc == 0 && done < ends->rows; done += most) {
        const row_ends piece = piece_of(policy, ends, work, done, most);
        const uint32_t count = (uint32_t)piece.rows;
        take_states(policy, piece.states, count);
        work->run(policy, piece.obs, count, piece.out);
        give_states(policy, count, piece.states);
    }
    return aq_library_tell(rc, &problem, error);
}

int actorq_policy_act_from(actorq_policy *policy, const void *observations, uint64_t rows,
                           float *states, void *actions, actorq_error *error)
{
    const row_ends ends = {observations, rows, states, actions};
    return in_pieces(policy, &ends, &greedy, error);
}

int actorq_policy_act(actorq_policy *policy, const void *observations, uint64_t rows, void *actions,
                      actorq_error *error)
{
    return actorq_policy_act_from(policy, observations, rows, NULL, actions, error);
}

int actorq_policy_outputs(actorq_policy *policy, const void *observations, uint64_t rows,
                          float *outputs, actorq_error *error)
{
    const row_ends ends = {observations, rows, NULL, outputs};
    return in_pieces(policy, &ends, &forward, error);
}

/* Draws for rows of which the first is in that place among all. */
static void draw_piece(actorq_policy *policy, const row_ends *piece, uint32_t first,
                       const aq_act_draws *draws)
{
    const uint32_t rows = (uint32_t)piece->rows;
    aq_act_draws own = *draws;
    own.first = first;
    own.log_prob = draws->log_prob != NULL ? draws->log_prob + first : policy->draws;
    own.drawn = policy->draws + policy->rows_max;
    take_states(policy, piece->states, rows);
    aq_act_draw(policy->act, policy->engine, piece->obs, rows, &own, piece->out);
    give_states(policy, rows, piece->states);
}

static int draw(actorq_policy *policy, const row_ends *ends, const aq_act_draws *draws,
                aq_error *error)
{
    int rc = check_rows(policy, ends, &greedy, error); /* they are as wide */
    if (rc != 0) {
        return rc;
    }
    if (drawing_of(policy) == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a policy with the head %s draws nothing: its actors act greedily, and "
                       "explore",
                       policy->facts.head);
    }
    if (ends->rows > AQ_ENGINE_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%llu observations at once; up to %u are possible",
                       (unsigned long long)ends->rows, AQ_ENGINE_ROWS_MAX);
    }
    const uint32_t most = rows_at_once(policy, ends->rows);
    rc = check_state(policy, ends->states, error);
    rc = rc == 0 ? make_room(policy, most, error) : rc;
    for (uint64_t done = 0; rc == 0 && done < ends->rows; done += most) {
        const row_ends piece = piece_of(policy, ends, &greedy, done, most);
        draw_piece(policy, &piece, (uint32_t)done, draws);
    }
    return rc;
}

int actorq_policy_draw_from(actorq_policy *policy, const void *observations, uint64_t rows,
                            uint64_t key, uint64_t number, float *states, void *actions,
                            float *log_probs, actorq_error *error)
{
    const row_ends ends = {observations, rows, states, actions};
    const aq_act_draws draws = {
        .key = key, .number = number, .period = 1, .octaves = 1, .log_prob = log_probs};
    aq_error problem = {0};
    int rc = draw(policy, &ends, &draws, &problem);
    return aq_library_tell(rc, &problem, error);
}

int actorq_policy_draw(actorq_policy *policy, const void *observations, uint64_t rows, uint64_t key,
                       uint64_t number, void *actions, float *log_probs, actorq_error *error)
{
    return actorq_policy_draw_from(policy, observations, rows, key, number, NULL, actions,
                                   log_probs, error);
}

/* ---- what it is worth ----------------------------------------------------------------------- */

int actorq_policy_evaluate(actorq_policy *policy, uint32_t episodes, uint64_t seed,
                           actorq_worth *ret_worth, actorq_error *error)
{
    aq_error problem = {0};
    aq_env_task task;
    aq_evaluation result;
    int rc = AQ_NEED(&problem, {"policy", policy}, {"ret_worth", ret_worth});
    if (rc == 0) {
        const aq_snapshot *snapshot = policy->snapshot;
        rc = aq_env_task_find(snapshot->task, aq_schema_hash(&snapshot->schema), &task, &problem);
    }
    if (rc == 0) {
        rc = aq_evaluate(task.env, policy->engine, episodes, seed, &result, &problem);
        aq_env_task_fini(&task);
    }
    if (rc == 0) {
        *ret_worth = (actorq_worth){
            .return_mean = result.return_mean,
            .return_std = result.return_std,
            .return_min = result.return_min,
            .return_max = result.return_max,
            .episodes = result.episodes,
            .cut_off = result.cut_off,
        };
    }
    return aq_library_tell(rc, &problem, error);
}
