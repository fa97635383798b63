/*
 * Gradient exchange: see gradient_exchange.h.
 *
 * The formats that round know levels alone, a number divided by its bucket's unit; bf16 has a unit
 * of 1. Whether all is finite is known from the greatest sizes, before anything is kept.
 */
#include "learner/gradients/gradient_exchange.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "learner/gradients/gradient_codes.h"
#include "learner/nn/optimizer.h"
#include "learner/nn/passes.h"

struct aq_gradient_exchange {
    aq_rank_link *link; /* NULL: alone */
    bool keeps;         /* gradients, instead of steps that are taken */
    float *kept;        /* (reserved), then */
    enum aq_gradient_format format;
    size_t reserved;          /* parameters, rounded up to whole buckets for each rank */
    float *residual;          /* (reserved): what was rounded off; NULL: of fp32 */
    float *sizes;             /* (buckets): the greatest of each, likewise */
    uint8_t *sent;            /* (reserved) codes, likewise */
    uint8_t *came;            /* (reserved) codes, or floats: one piece of each rank's */
    aq_gradient_noise *noise; /* of what follows; NULL: nobody wants to know */
    size_t watched_first, watched_count;
    double watched_rows; /* of all ranks */
};

static bool is_alone(const aq_gradient_exchange *exchange)
{
    return exchange == NULL || exchange->link == NULL || exchange->link->count == 1;
}

int aq_gradient_exchange_create(aq_rank_link *link, enum aq_gradient_format format,
                                aq_gradient_exchange **ret_exchange)
{
    aq_gradient_exchange *exchange = aq_alloc(1, sizeof(*exchange));
    if (exchange == NULL) {
        return AQ_E_NOMEM;
    }
    exchange->link = link;
    exchange->format = format;
    *ret_exchange = exchange;
    return 0;
}

int aq_gradient_exchange_create_keeping(aq_gradient_exchange **ret_exchange)
{
    int rc = aq_gradient_exchange_create(NULL, AQ_GRADIENT_FP32, ret_exchange);
    if (rc == 0) {
        (*ret_exchange)->keeps = true;
    }
    return rc;
}

static void free_room(aq_gradient_exchange *exchange)
{
    aq_free(exchange->kept);
    aq_free(exchange->residual);
    aq_free(exchange->sizes);
    aq_free(exchange->sent);
    aq_free(exchange->came);
}

void aq_gradient_exchange_destroy(aq_gradient_exchange *exchange)
{
    if (exchange != NULL) {
        free_room(exchange);
        aq_gradient_noise_destroy(exchange->noise);
        aq_free(exchange);
    }
}

/* Parameters of a rank's piece, whole buckets. */
static size_t piece_of(const aq_gradient_exchange *exchange, size_t count)
{
    const size_t ranks = exchange->link->count;
    return (aq_gradient_buckets(count) + ranks - 1) / ranks * AQ_GRADIENT_BUCKET;
}

static size_t code_bytes(const aq_gradient_exchange *exchange)
{
    return aq_gradient_code_bytes(exchange->format);
}

int aq_gradient_exchange_reserve(aq_gradient_exchange *exchange, size_t parameters)
{
    if (exchange != NULL && exchange->keeps) {
        free_room(exchange);
        exchange->reserved = parameters;
        exchange->kept = aq_alloc_large(parameters, sizeof(float));
        return exchange->kept != NULL ? 0 : AQ_E_NOMEM;
    }
    if (is_alone(exchange)) {
        return 0;
    }
    const size_t ranks = exchange->link->count;
    const size_t values = ranks * piece_of(exchange, parameters);
    free_room(exchange);
    exchange->reserved = values;
    exchange->residual = NULL;
    exchange->sizes = NULL;
    exchange->sent = NULL;
    exchange->came = aq_alloc_large(values, sizeof(float));
    if (exchange->format == AQ_GRADIENT_FP32) {
        return exchange->came != NULL ? 0 : AQ_E_NOMEM;
    }
    exchange->residual = aq_alloc_large(values, sizeof(float));
    exchange->sizes = aq_alloc(aq_gradient_buckets(values), sizeof(float));
    exchange->sent = aq_alloc_large(values, code_bytes(exchange));
    return exchange->came != NULL && exchange->residual != NULL && exchange->sizes != NULL &&
                   exchange->sent != NULL
               ? 0
               : AQ_E_NOMEM;
}

int aq_gradient_exchange_watch(aq_gradient_exchange *exchange, size_t first, size_t count,
                               double rows)
{
    if (exchange == NULL) {
        return 0;
    }
    exchange->watched_first = first;
    exchange->watched_count = count;
    aq_gradient_exchange_watch_rows(exchange, rows);
    aq_gradient_noise_destroy(exchange->noise);
    exchange->noise = NULL;
    return aq_gradient_noise_create(count, &exchange->noise);
}

void aq_gradient_exchange_watch_rows(aq_gradient_exchange *exchange, double rows)
{
    if (exchange != NULL) {
        exchange->watched_rows = rows * aq_gradient_exchange_ranks(exchange);
    }
}

aq_noise_figures aq_gradient_exchange_noise(const aq_gradient_exchange *exchange)
{
    return aq_gradient_noise_figures(exchange != NULL ? exchange->noise : NULL);
}

static void watch(aq_gradient_exchange *exchange, size_t first, const float *gradient, size_t count)
{
    const size_t from = exchange->watched_first;
    if (exchange->noise != NULL && first <= from &&
        from + exchange->watched_count <= first + count) {
        aq_gradient_noise_take(exchange->noise, gradient + (from - first), exchange->watched_rows);
    }
}

uint32_t aq_gradient_exchange_rank(const aq_gradient_exchange *exchange)
{
    return is_alone(exchange) ? 0 : exchange->link->rank;
}

uint32_t aq_gradient_exchange_ranks(const aq_gradient_exchange *exchange)
{
    return is_alone(exchange) ? 1 : exchange->link->count;
}

int aq_rank_link_gather(aq_rank_link *link, void *all, size_t bytes)
{
    return link->join(link, all, link->count * bytes, bytes) == 0 ? 0 : AQ_E_PEER;
}

int aq_gradient_exchange_gather(aq_gradient_exchange *exchange, void *all, size_t bytes)
{
    return is_alone(exchange) ? 0 : aq_rank_link_gather(exchange->link, all, bytes);
}

const float *aq_gradient_exchange_kept(const aq_gradient_exchange *exchange)
{
    return exchange != NULL ? exchange->kept : NULL;
}

aq_exchange_figures aq_gradient_exchange_figures(const aq_gradient_exchange *exchange)
{
    return exchange != NULL && exchange->link != NULL ? aq_rank_link_figures(exchange->link)
                                                      : (aq_exchange_figures){0};
}

aq_exchange_figures aq_rank_link_figures(const aq_rank_link *link)
{
    return (aq_exchange_figures){.sent_bytes = link->sent_bytes, .spent_ns = link->spent_ns};
}

double aq_rank_rate(const aq_run_config *config, uint32_t ranks)
{
    return config->learner.rank_rate == AQ_RANK_RATE_SQRT     ? sqrt(ranks)
           : config->learner.rank_rate == AQ_RANK_RATE_LINEAR ? ranks
                                                              : 1.0;
}

/* ---- this rank's piece ---------------------------------------------------------------------- */

/* Where it is among `count` numbers; the last ranks of few have nothing. */
typedef struct span {
    size_t piece, first, count;
} span;

static span span_of(const aq_gradient_exchange *exchange, size_t count, size_t piece)
{
    const size_t first = piece * exchange->link->rank;
    const size_t left = first < count ? count - first : 0;
    return (span){.piece = piece, .first = first, .count = left < piece ? left : piece};
}

static span own_span(const aq_gradient_exchange *exchange, size_t count)
{
    return span_of(exchange, count, piece_of(exchange, count));
}

static int swap(aq_gradient_exchange *exchange, const void *out, size_t count, size_t piece,
                size_t bytes)
{
    aq_rank_link *link = exchange->link;
    return link->swap(link, out, count * bytes, piece * bytes, exchange->came) == 0 ? 0 : AQ_E_PEER;
}

static int join(aq_gradient_exchange *exchange, void *block, size_t count, size_t piece,
                size_t bytes)
{
    aq_rank_link *link = exchange->link;
    return link->join(link, block, count * bytes, piece * bytes) == 0 ? 0 : AQ_E_PEER;
}

/* ---- fp32 ----------------------------------------------------------------------------------- */

static int mean_of_floats(aq_gradient_exchange *exchange, float *gradient, size_t count)
{
    const span own = own_span(exchange, count);
    const uint32_t ranks = exchange->link->count;
    const float *came = (const float *)(const void *)exchange->came;
    int rc = swap(exchange, gradient, count, own.piece, sizeof(*gradient));
    if (rc != 0) {
        return rc;
    }
    if (own.count > 0) {
        float *sum = gradient + own.first;
        memcpy(sum, came, own.count * sizeof(*sum));
        for (uint32_t rank = 1; rank < ranks; rank++) {
            aq_passes_best()->add(sum, came + rank * own.count, own.count);
        }
        for (size_t i = 0; i < own.count; i++) {
            sum[i] /= (float)ranks;
        }
    }
    rc = join(exchange, gradient, count, own.piece, sizeof(*gradient));
    return rc == 0 && isnan(gradient[0]) ? AQ_E_CORRUPT : rc;
}

/* ---- formats that round --------------------------------------------------------------------- */

/* Each becomes the greatest of any rank. */
static int find_greatest(aq_gradient_exchange *exchange, float *sizes, size_t count)
{
    const uint32_t ranks = exchange->link->count;
    const span own = span_of(exchange, count, (count + ranks - 1) / ranks);
    const float *came = (const float *)(const void *)exchange->came;
    float theirs[AQ_RANKS_MAX];
    int rc = swap(exchange, sizes, count, own.piece, sizeof(*sizes));
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < own.count; i++) {
        for (uint32_t rank = 0; rank < ranks; rank++) {
            theirs[rank] = came[rank * own.count + i];
        }
        sizes[own.first + i] = aq_gradient_greatest(theirs, ranks);
    }
    return join(exchange, sizes, count, own.piece, sizeof(*sizes));
}

/* Adds what is left of before, and agrees on the greatest size of each bucket, or of all where
 * units do not follow from it. AQ_E_CORRUPT when one is no number that can be rounded. */
static int agree_on_sizes(aq_gradient_exchange *exchange, const float *residual, float *gradient,
                          size_t count)
{
    const bool has_units = exchange->format == AQ_GRADIENT_INT8;
    const size_t sizes = has_units ? aq_gradient_buckets(count) : 1;
    aq_passes_best()->add(gradient, residual, count);
    for (size_t b = 0; b < sizes; b++) {
        exchange->sizes[b] =
            aq_gradient_greatest(gradient + b * AQ_GRADIENT_BUCKET,
                                 has_units ? aq_gradient_bucket_values(count, b) : count);
    }
    int rc = find_greatest(exchange, exchange->sizes, sizes);
    const float greatest = aq_gradient_greatest(exchange->sizes, sizes);
    return rc != 0 ? rc : greatest <= (float)AQ_GRADIENT_NORM_MAX ? 0 : AQ_E_CORRUPT;
}

static float unit_of(const aq_gradient_exchange *exchange, size_t bucket)
{
    return aq_gradient_unit(exchange->format, exchange->sizes[bucket]);
}

/* Codes of this rank's own, and what they leave over. */
static void give(aq_gradient_exchange *exchange, float *residual, const float *gradient,
                 size_t count)
{
    memcpy(residual, gradient, count * sizeof(*residual));
    for (size_t b = 0; b < aq_gradient_buckets(count); b++) {
        const size_t first = b * AQ_GRADIENT_BUCKET;
        aq_gradient_bucket_pack(exchange->format, unit_of(exchange, b), residual + first,
                                aq_gradient_bucket_values(count, b),
                                exchange->sent + first * code_bytes(exchange));
    }
}

/* Codes of the mean over this rank's piece. What they leave over is missing from the mean on all
 * ranks, so this one owes it to them as many times. */
static void add_up(aq_gradient_exchange *exchange, float *residual, span own)
{
    const uint32_t ranks = exchange->link->count;
    const size_t bytes = code_bytes(exchange);
    float mean[AQ_GRADIENT_BUCKET], levels[AQ_GRADIENT_BUCKET];
    for (size_t b = 0; b < aq_gradient_buckets(own.count); b++) {
        const size_t at = b * AQ_GRADIENT_BUCKET, values = aq_gradient_bucket_values(own.count, b);
        const float unit = unit_of(exchange, own.first / AQ_GRADIENT_BUCKET + b);
        memset(mean, 0, sizeof(mean));
        for (uint32_t rank = 0; rank < ranks; rank++) {
            aq_gradient_bucket_unpack(exchange->format, 1.0f,
                                      exchange->came + (rank * own.count + at) * bytes, values,
                                      levels);
            aq_passes_best()->add(mean, levels, values);
        }
        for (size_t i = 0; i < values; i++) {
            mean[i] /= (float)ranks;
        }
        aq_gradient_bucket_pack(exchange->format, 1.0f, mean, values,
                                exchange->sent + (own.first + at) * bytes);
        for (size_t i = 0; i < values; i++) {
            residual[own.first + at + i] += (float)ranks * mean[i] * unit;
        }
    }
}

static void take(const aq_gradient_exchange *exchange, float *gradient, size_t count)
{
    for (size_t b = 0; b < aq_gradient_buckets(count); b++) {
        const size_t first = b * AQ_GRADIENT_BUCKET;
        aq_gradient_bucket_unpack(exchange->format, unit_of(exchange, b),
                                  exchange->sent + first * code_bytes(exchange),
                                  aq_gradient_bucket_values(count, b), gradient + first);
    }
}

static int mean_of_codes(aq_gradient_exchange *exchange, size_t first, float *gradient,
                         size_t count)
{
    float *residual = exchange->residual + first;
    const span own = own_span(exchange, count);
    int rc = agree_on_sizes(exchange, residual, gradient, count);
    if (rc != 0) {
        return rc;
    }
    give(exchange, residual, gradient, count);
    rc = swap(exchange, exchange->sent, count, own.piece, code_bytes(exchange));
    if (rc == 0) {
        add_up(exchange, residual, own);
        rc = join(exchange, exchange->sent, count, own.piece, code_bytes(exchange));
    }
    if (rc == 0) {
        take(exchange, gradient, count);
    }
    return rc;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void spoil(float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] = NAN;
    }
}

static int mean(aq_gradient_exchange *exchange, bool is_good, size_t first, float *gradient,
                size_t count)
{
    if (is_alone(exchange) || exchange->format == AQ_GRADIENT_FP32) {
        return aq_gradient_exchange_mean(exchange, is_good, gradient, count);
    }
    AQ_ASSERT(count > 0 && first + count <= exchange->reserved);
    if (!is_good) {
        spoil(gradient, count);
    }
    return mean_of_codes(exchange, first, gradient, count);
}

int aq_gradient_exchange_mean(aq_gradient_exchange *exchange, bool is_good, float *numbers,
                              size_t count)
{
    if (is_alone(exchange)) {
        return is_good ? 0 : AQ_E_CORRUPT;
    }
    AQ_ASSERT(count > 0 && count <= exchange->reserved);
    if (!is_good) {
        spoil(numbers, count);
    }
    return mean_of_floats(exchange, numbers, count);
}

int aq_gradient_exchange_sum(aq_gradient_exchange *exchange, double *numbers, size_t count)
{
    double all[AQ_RANKS_MAX * AQ_RANK_SUMS_MAX];
    AQ_ASSERT(count <= AQ_RANK_SUMS_MAX);
    if (is_alone(exchange)) {
        return 0;
    }
    memcpy(all + exchange->link->rank * count, numbers, count * sizeof(*all));
    int rc = aq_rank_link_gather(exchange->link, all, count * sizeof(*all));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        numbers[i] = all[i];
        for (uint32_t rank = 1; rank < exchange->link->count; rank++) {
            numbers[i] += all[rank * count + i];
        }
    }
    return rc;
}

int aq_gradient_mean(aq_gradient_exchange *exchange, bool is_good, size_t first, float *gradient,
                     size_t count)
{
    if (aq_gradient_exchange_kept(exchange) != NULL) {
        AQ_ASSERT(first + count <= exchange->reserved);
        memcpy(exchange->kept + first, gradient, count * sizeof(*gradient));
        return is_good ? 0 : AQ_E_CORRUPT;
    }
    int rc = mean(exchange, is_good, first, gradient, count);
    if (rc == 0 && exchange != NULL) {
        watch(exchange, first, gradient, count);
    }
    return rc;
}
