/*
 * Ranks: see ranks.h.
 */
#include "learner/daemon/ranks.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/security/incarnation.h"
#include "common/sys/log.h"
#include "common/sys/process.h"
#include "learner/nn/products.h"

enum { CONFIG_BYTES_MAX = 1 << 20, VERSION_MAX = 32, HURRY_MS = 2000 };

/* Until what is kept last is there. Rank 0 comes once it has written what was under way, which
 * takes as long as the disk does; the others are there by then. */
enum { LAST_MS = 20000, LAST_CHECKPOINT_MS = 600000 };

_Static_assert(sizeof(aq_rank_news) <= AQ_RANK_NOTE_MAX, "news fit a note");
_Static_assert(sizeof(aq_rank_account) <= AQ_RANK_NOTE_MAX, "so does an account");

/* ---- the link ------------------------------------------------------------------------------- */

static bool has_other_ranks(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_SIZE");
    uint64_t ranks = 0;
    return text != NULL && aq_parse_u64(text, &ranks) == 0 && ranks > 1;
}

static int load(void **ret_handle, aq_error *error)
{
    char path[PATH_MAX];
    int rc = aq_process_find_module("actorq-mpi.so", AQ_MODULE_FOLDER, path, sizeof(path), error);
    if (rc != 0) {
        return aq_fail_context(error, rc,
                               "several ranks: this was built without Open MPI ('apt-get install "
                               "libopenmpi-dev openmpi-bin', then build in an empty folder)");
    }
    /* What MPI loads in turn looks for MPI among what all see. */
    *ret_handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (*ret_handle == NULL) {
        const char *reason = dlerror();
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "several ranks need Open MPI ('apt-get install openmpi-bin'): %s",
                       reason != NULL ? reason : path);
    }
    return 0;
}

int aq_ranks_open(bool is_told, aq_rank_link **ret_link, aq_error *error)
{
    void *handle = NULL;
    aq_rank_link_open_fn open = NULL;
    *ret_link = NULL;
    if (!is_told && !has_other_ranks()) {
        return 0;
    }
    int rc = load(&handle, error);
    if (rc != 0) {
        return rc;
    }
    void *symbol = dlsym(handle, AQ_RANK_LINK_SYMBOL);
    aq_rank_link *link = aq_alloc(1, sizeof(*link));
    if (link == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    memcpy(&open, &symbol, sizeof(open));
    if (open == NULL || open(sizeof(*link), link) != 0) {
        rc =
            aq_fail(error, AQ_E_UNSUPPORTED, "several ranks: %s",
                    link->trouble[0] != '\0' ? link->trouble : "actorq-mpi.so is of another build");
        aq_free(link);
        return rc;
    }
    if (link->count < 2) {
        link->close(link, true);
        aq_free(link);
        link = NULL;
    }
    *ret_link = link;
    return 0;
}

void aq_ranks_close(aq_rank_link *link)
{
    if (link != NULL && link->close != NULL) { /* not yet */
        link->close(link, false);
    }
    aq_free(link);
}

/* ---- what stands on it ---------------------------------------------------------------------- */

/* Ranks side by side share networks; those with the same place among these, the gradients of what
 * they have. */
static int make_groups(aq_ranks *ranks, uint32_t sharing)
{
    const aq_rank_link *all = ranks->link;
    if (sharing == 1) {
        return 0;
    }
    ranks->within = (aq_rank_link){.rank = all->rank % sharing, .count = sharing};
    ranks->across = (aq_rank_link){.rank = all->rank / sharing, .count = all->count / sharing};
    return aq_model_group_create(&ranks->within, &ranks->model);
}

int aq_ranks_make(aq_rank_link *link, const aq_run_config *config, aq_ranks *ranks, aq_error *error)
{
    const uint32_t sharing = (uint32_t)config->learner.model_ranks;
    const uint32_t count = link != NULL ? link->count : 1;
    if (count % sharing != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.model_ranks is %" PRIu32 ", and the learner has %" PRIu32
                       " rank(s): it takes a multiple (actorq train --learners %" PRIu32
                       ", or mpirun -n %" PRIu32 ")",
                       sharing, count, sharing, sharing);
    }
    ranks->count = count;
    ranks->link = link;
    int rc = link != NULL ? make_groups(ranks, sharing) : 0;
    if (rc == 0) {
        rc = aq_gradient_exchange_create(sharing > 1 ? &ranks->across : link,
                                         (enum aq_gradient_format)config->learner.gradient_format,
                                         &ranks->exchange);
    }
    if (rc == 0 && link != NULL) {
        rc = aq_rank_meeting_create(link, &ranks->meeting);
    }
    return rc == 0 ? 0 : aq_fail(error, rc, "no memory for what ranks exchange");
}

static void close_parts(aq_ranks *ranks)
{
    aq_rank_link *const parts[] = {&ranks->within, &ranks->across};
    for (size_t i = 0; i < 2; i++) {
        if (parts[i]->close != NULL) {
            parts[i]->close(parts[i], false);
        }
    }
}

void aq_ranks_fini(aq_ranks *ranks)
{
    aq_gradient_exchange_destroy(ranks->exchange);
    aq_model_group_destroy(ranks->model);
    aq_rank_meeting_destroy(ranks->meeting);
    close_parts(ranks);
}

void aq_ranks_hurry(aq_ranks *ranks)
{
    if (ranks->link != NULL && ranks->model == NULL) {
        ranks->link->set_patience(ranks->link, HURRY_MS);
    }
}

void aq_ranks_part(aq_ranks *ranks, bool in_order)
{
    if (ranks->link != NULL) {
        ranks->link->close(ranks->link, in_order);
        ranks->link = NULL;
    }
}

/* ---- the start ------------------------------------------------------------------------------ */

/* Of a build that has another one, only the version is looked at. */
typedef struct birth_head {
    char version[VERSION_MAX];
    uint64_t word_bytes, places_bytes;
    uint64_t run_id, first_step, config_bytes, is_bf16;
} birth_head;

static birth_head own_head(void)
{
    birth_head head = {.word_bytes = sizeof(aq_rank_word), .places_bytes = sizeof(aq_shard_places)};
    (void)snprintf(head.version, sizeof(head.version), "%s", AQ_VERSION);
    return head;
}

static int lost(const aq_rank_link *link, aq_error *error)
{
    return aq_fail(error, AQ_E_PEER, "the ranks did not come together: %s", link->trouble);
}

int aq_ranks_say_birth(aq_ranks *ranks, const aq_rank_birth *birth, aq_error *error)
{
    aq_rank_link *link = ranks->link;
    birth_head head = own_head();
    if (link == NULL) {
        return 0;
    }
    head.run_id = birth->run_id;
    head.first_step = birth->first_step;
    head.is_bf16 = birth->is_bf16;
    head.config_bytes = strlen(birth->config) + 1;
    AQ_ASSERT(head.config_bytes <= CONFIG_BYTES_MAX);
    return link->spread(link, 0, &head, sizeof(head)) == 0 &&
                   link->spread(link, 0, birth->config, head.config_bytes) == 0
               ? 0
               : lost(link, error);
}

int aq_ranks_hear_birth(aq_rank_link *link, aq_rank_birth *ret_birth, aq_error *error)
{
    const birth_head own = own_head();
    birth_head head = {0};
    if (link->spread(link, 0, &head, sizeof(head)) != 0) {
        return lost(link, error);
    }
    if (memcmp(head.version, own.version, sizeof(own.version)) != 0 ||
        head.word_bytes != own.word_bytes || head.places_bytes != own.places_bytes ||
        head.config_bytes > CONFIG_BYTES_MAX) {
        return aq_fail(error, AQ_E_VERSION,
                       "rank %" PRIu32 " is of another build than rank 0: version %s, that one "
                       "%.*s; all ranks need the same",
                       link->rank, own.version, VERSION_MAX - 1, head.version);
    }
    char *config = aq_alloc(1, head.config_bytes + 1);
    if (config == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    if (link->spread(link, 0, config, head.config_bytes) != 0) {
        aq_free(config);
        return lost(link, error);
    }
    *ret_birth = (aq_rank_birth){.run_id = head.run_id,
                                 .first_step = head.first_step,
                                 .is_bf16 = head.is_bf16 != 0,
                                 .config = config};
    return 0;
}

int aq_ranks_take_products(const aq_rank_birth *birth, aq_run_config *config, aq_error *error)
{
    if (birth->is_bf16 && !aq_products_has_bf16()) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "rank 0 computes in bf16, which this processor or build can't: set "
                       "learner.products=fp32");
    }
    config->learner.products = birth->is_bf16 ? AQ_PRODUCTS_BF16 : AQ_PRODUCTS_FP32;
    return 0;
}

/* What each rank says before anything is trained; the same bytes for all. */
typedef struct rank_answer {
    uint64_t shape; /* of what its agent keeps */
    int32_t code;   /* 0: it can take part */
    char text[AQ_ERROR_TEXT_MAX];
} rank_answer;

static int judge(const aq_ranks *ranks, const rank_answer *answers, aq_error *error)
{
    for (uint32_t rank = 0; rank < ranks->link->count; rank++) {
        const rank_answer *answer = &answers[rank];
        if (answer->code != 0) {
            return aq_fail(error, answer->code, "rank %" PRIu32 ": %.*s", rank,
                           AQ_ERROR_TEXT_MAX - 1, answer->text);
        }
        if (answer->shape != answers[0].shape) {
            return aq_fail(error, AQ_E_INVALID, "rank %" PRIu32 " made another network than rank 0",
                           rank);
        }
    }
    return 0;
}

static int answer_all(aq_ranks *ranks, const rank_answer *own, aq_error *error)
{
    rank_answer *answers = aq_alloc(ranks->link->count, sizeof(*answers));
    if (answers == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    answers[ranks->link->rank] = *own;
    int rc = aq_rank_link_gather(ranks->link, answers, sizeof(*own)) == 0
                 ? judge(ranks, answers, error)
                 : lost(ranks->link, error);
    aq_free(answers);
    return rc;
}

/* Everybody is there, and of one mind. */
static int part(aq_ranks *ranks)
{
    aq_rank_link *all = ranks->link;
    const uint32_t sharing = aq_model_group_ranks(ranks->model);
    if (sharing == 1) {
        return 0;
    }
    return all->part(all, all->rank / sharing, &ranks->within) == 0 &&
                   all->part(all, all->rank % sharing, &ranks->across) == 0
               ? 0
               : AQ_E_PEER;
}

/* What rank 0 begins with, whole, on rank 0. */
static int find_beginning(aq_ranks *ranks, aq_agent *agent, const aq_named_arrays *resumed,
                          const aq_named_arrays *kept)
{
    if (ranks->link->rank >= aq_model_group_ranks(ranks->model)) {
        return 0; /* of another group */
    }
    int rc = aq_agent_keep(agent, kept);
    if (rc == 0 && resumed != NULL) {
        aq_named_arrays_copy(resumed, kept);
    }
    return rc;
}

/* Through a copy, so that it is judged before it is taken up. */
static int spread_agent(aq_ranks *ranks, aq_agent *agent, const aq_named_arrays *resumed,
                        aq_error *error)
{
    aq_named_arrays whole, kept;
    aq_agent_whole(agent, &whole);
    if (aq_named_arrays_like(&whole, &kept) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for another rank's networks");
    }
    int rc = find_beginning(ranks, agent, resumed, &kept) == 0 ? 0 : lost(ranks->link, error);
    for (size_t i = 0; rc == 0 && i < kept.count; i++) {
        aq_named_array *array = &kept.arrays[i];
        rc = ranks->link->spread(ranks->link, 0, array->values, aq_array_bytes(array)) == 0
                 ? 0
                 : lost(ranks->link, error);
    }
    if (rc == 0 && ranks->link->rank != 0) {
        rc = aq_agent_restore(agent, &kept, error);
    }
    aq_named_arrays_fini(&kept);
    return rc;
}

int aq_ranks_begin(aq_ranks *ranks, aq_agent *agent, int rc, const aq_named_arrays *resumed,
                   uint64_t timeout_ms, aq_error *error)
{
    rank_answer own = {.code = rc};
    aq_named_arrays arrays;
    if (ranks->link == NULL) {
        return rc;
    }
    if (rc == 0) {
        aq_agent_whole(agent, &arrays);
        own.shape = aq_named_arrays_shape_hash(&arrays);
    } else {
        (void)snprintf(own.text, sizeof(own.text), "%s", error->text);
    }
    rc = answer_all(ranks, &own, error);
    if (rc == 0) {
        rc = part(ranks) == 0 ? 0 : lost(ranks->link, error);
    }
    if (rc == 0) {
        rc = spread_agent(ranks, agent, resumed, error);
    }
    ranks->link->set_patience(ranks->link, (int64_t)timeout_ms);
    return rc;
}

int aq_ranks_keep(aq_ranks *ranks, aq_agent *agent, bool in_order, const aq_named_arrays *to)
{
    const uint32_t own = ranks->link != NULL ? ranks->link->rank : 0;
    if (own >= aq_model_group_ranks(ranks->model)) {
        return 0; /* of another group than rank 0's */
    }
    if (ranks->model != NULL) {
        ranks->link->set_patience(ranks->link, own == 0 ? LAST_MS : LAST_CHECKPOINT_MS);
    }
    int rc = ranks->model != NULL && !in_order ? AQ_E_PEER : aq_agent_keep(agent, to);
    if (rc != 0 && own == 0) {
        aq_log(AQ_LOG_WARN, "networks_lost",
               "a lost rank had a slice of them: the newest checkpoint is from before", "");
    }
    return rc;
}

/* ---- notes ---------------------------------------------------------------------------------- */

void aq_ranks_tell_news(aq_ranks *ranks, const aq_rank_news *news)
{
    aq_rank_news told = *news;
    if (ranks->meeting == NULL) {
        return;
    }
    for (size_t i = 0; i < told.places.count; i++) {
        aq_shard_place *place = &told.places.places[i];
        place->incarnation = aq_incarnation_name(place->incarnation);
    }
    aq_rank_note_post(ranks->meeting, &told, sizeof(told));
}

bool aq_ranks_hear_news(aq_ranks *ranks, aq_rank_news *ret_news)
{
    return aq_rank_note_read(ranks->meeting, 0, &ranks->seen[0], ret_news, sizeof(*ret_news));
}

void aq_ranks_tell_account(aq_ranks *ranks, const aq_rank_account *account)
{
    aq_rank_note_post(ranks->meeting, account, sizeof(*account));
}

bool aq_ranks_hear_account(aq_ranks *ranks, uint32_t rank, aq_rank_account *ret_account)
{
    const bool is_new = aq_rank_note_read(ranks->meeting, rank, &ranks->seen[rank], ret_account,
                                          sizeof(*ret_account));
    if (is_new) {
        ranks->accounts[rank] = *ret_account;
    }
    return is_new;
}

uint64_t aq_ranks_outdated(const aq_ranks *ranks)
{
    uint64_t sum = 0;
    for (uint32_t rank = 1; rank < ranks->count; rank++) {
        sum += ranks->accounts[rank].outdated;
    }
    return sum;
}
