/*
 * The AVX-512-VNNI rung.
 *
 * Outputs stand in blocks of 16, one a lane; four blocks make a tile of 64 outputs. One weight
 * vector holds 16 outputs x 4 inputs, which is what vpdpbusd multiplies and adds in one go with 4
 * bytes of activations, broadcast. A tile is computed for up to four rows at once: 16 accumulators
 * hide the latency and each weight vector that is loaded serves four rows. With fewer accumulators
 * than the latency needs, the inputs are split over two or four chains instead.
 *
 * Packed int8: [tile][group of 4 inputs][block of the tile][lane][4], fp32: [tile][input][block of
 * the tile][lane]; so a tile is one forward stream of memory. Inputs are padded to 16 (int8) and
 * outputs to 16 with zeros: no loop has a tail, and only the store of a tile's last block is masked.
 * Tiles are the outer loop and rows the inner one, so that a tile's weights are read from far away
 * once and from the nearest cache for every further four rows.
 */
#include <immintrin.h>
#include <string.h>

#include "common/sys/cpu.h"
#include "quantizer/qrow.h"
#include "quantizer/x86/qkernels_x86.h"

enum {
    LANES = 16,
    GROUP = 4,          /* inputs that one vpdpbusd lane takes */
    INPUT_PADDING = 16, /* int8: four groups, for the widest split into chains */
    TILE_BLOCKS = 4,
    TILE_ROWS = 4,
    CHAINS_MAX = 4,
};

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* What one tile needs besides its shape. */
typedef struct tile_job {
    const aq_packed_layer *layer;
    const aq_kernel_input *input;
    const void *weights; /* of this tile */
    size_t row;          /* the first row */
    uint32_t output;     /* the first output */
    float *y;            /* at (row, output) */
    size_t y_stride;
} tile_job;

typedef void tile_function(const tile_job *job);

static uint32_t round_up(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static uint32_t blocks_of(uint32_t outputs)
{
    return (outputs + LANES - 1) / LANES;
}

/* Lanes of `count` that exist at `first` and the 15 after it. */
ALWAYS_INLINE __mmask16 lane_mask(uint32_t count, uint32_t first)
{
    return count >= first + LANES ? (__mmask16)0xFFFF
                                  : (__mmask16)((1u << (count > first ? count - first : 0)) - 1u);
}

/* --- quantizing rows --- */

/* 16 values of the row from `first`; 0 for what is beyond its end, NaN or infinite. */
ALWAYS_INLINE __m512 load_finite(const float *x, uint32_t inputs, uint32_t first)
{
    enum { NAN_OR_INFINITE = 0x01 | 0x08 | 0x10 | 0x80 };
    const __m512 value = _mm512_maskz_loadu_ps(lane_mask(inputs, first), x + first);
    const __mmask16 bad = _mm512_fpclass_ps_mask(value, NAN_OR_INFINITE);
    return _mm512_maskz_mov_ps(_knot_mask16(bad), value);
}

ALWAYS_INLINE __m512i levels_of(__m512 value, __m512 inverse, __m512i zero_point)
{
    return _mm512_add_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(value, inverse)), zero_point);
}

static aq_row_quant quantize_row(const float *x, uint32_t inputs, uint8_t *q)
{
    __m512 low = _mm512_setzero_ps();
    __m512 high = _mm512_setzero_ps();
    for (uint32_t i = 0; i < inputs; i += LANES) {
        const __m512 value = load_finite(x, inputs, i);
        low = _mm512_min_ps(low, value);
        high = _mm512_max_ps(high, value);
    }

    float inverse_scalar;
    const aq_row_quant quant = row_quant_from_range(_mm512_reduce_min_ps(low),
                                                    _mm512_reduce_max_ps(high), &inverse_scalar);
    const __m512 inverse = _mm512_set1_ps(inverse_scalar);
    const __m512i zero_point = _mm512_set1_epi32(quant.zero_point);
    /* The packs work within 128-bit quarters; this puts their 4-byte pieces back in order. */
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

    for (uint32_t i = 0; i < inputs; i += AQ_QKERNEL_Q_PADDING) {
        __m512i level[4];
        for (uint32_t part = 0; part < 4; part++) {
            level[part] = levels_of(load_finite(x, inputs, i + part * LANES), inverse, zero_point);
        }
        const __m512i front = _mm512_packs_epi32(level[0], level[1]);
        const __m512i back = _mm512_packs_epi32(level[2], level[3]);
        const __m512i bytes = _mm512_packus_epi16(front, back); /* clamps to 0..255 */
        _mm512_storeu_si512(q + i, _mm512_permutexvar_epi32(order, bytes));
    }
    return quant;
}

static void quantize_rows(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,
                          size_t q_stride, aq_row_quant *ret_quant)
{
    for (size_t row = 0; row < rows; row++) {
        ret_quant[row] = quantize_row(x + row * x_stride, inputs, q + row * q_stride);
    }
}

/* --- what both formats share --- */

ALWAYS_INLINE void store_block(const tile_job *job, uint32_t row, uint32_t block, __m512 value)
{
    const uint32_t first = job->output + block * LANES;
    if (job->layer->activation == AQ_ACTIVATION_RELU) {
        value = _mm512_max_ps(value, _mm512_setzero_ps()); /* NaN gives the second: 0 */
    }
    _mm512_mask_storeu_ps(job->y + row * job->y_stride + block * LANES,
                          lane_mask(job->layer->outputs, first), value);
}

/* Walks the tiles of 64 outputs, and within each the rows, four at a time. */
static void run_tiles(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                      size_t y_stride, size_t block_bytes,
                      tile_function *const tiles[TILE_ROWS][TILE_BLOCKS])
{
    const uint32_t blocks = blocks_of(layer->outputs);
    const unsigned char *weights = layer->weights;

    for (uint32_t block = 0; block < blocks; block += TILE_BLOCKS) {
        const uint32_t width = blocks - block < TILE_BLOCKS ? blocks - block : TILE_BLOCKS;
        tile_job job = {.layer = layer,
                        .input = input,
                        .weights = weights + block * block_bytes,
                        .output = block * LANES,
                        .y_stride = y_stride};
        for (size_t row = 0; row < input->rows; row += TILE_ROWS) {
            const size_t left = input->rows - row;
            const size_t height = left < TILE_ROWS ? left : TILE_ROWS;
            job.row = row;
            job.y = y + row * y_stride + job.output;
            tiles[height - 1][width - 1](&job);
        }
    }
}

/* --- int8 --- */

static size_t block_bytes_int8(uint32_t inputs)
{
    return (size_t)round_up(inputs, INPUT_PADDING) * LANES;
}

static size_t packed_bytes_int8(uint32_t inputs, uint32_t outputs)
{
    return blocks_of(outputs) * block_bytes_int8(inputs);
}

static void pack_int8(const void *weights, uint32_t inputs, uint32_t outputs, void *packed)
{
    const int8_t *source = weights;
    const uint32_t blocks = blocks_of(outputs);
    const uint32_t groups = (inputs + GROUP - 1) / GROUP;

    memset(packed, 0, packed_bytes_int8(inputs, outputs));
    for (uint32_t o = 0; o < outputs; o++) {
        const uint32_t block = o / LANES;
        const uint32_t tile_block = block - block % TILE_BLOCKS;
        const uint32_t width = blocks - tile_block < TILE_BLOCKS ? blocks - tile_block
                                                                 : TILE_BLOCKS;
        int8_t *to = (int8_t *)packed + tile_block * block_bytes_int8(inputs) +
                     (size_t)(block % TILE_BLOCKS) * LANES * GROUP + (size_t)(o % LANES) * GROUP;
        const int8_t *from = source + (size_t)o * inputs;
        for (uint32_t g = 0; g < groups; g++) {
            const uint32_t left = inputs - g * GROUP;
            memcpy(to, from + g * GROUP, left < GROUP ? left : GROUP);
            to += (size_t)width * LANES * GROUP;
        }
    }
}

ALWAYS_INLINE __m512i broadcast_group(const uint8_t *q)
{
    int32_t group;
    memcpy(&group, q, sizeof(group));
    return _mm512_set1_epi32(group);
}

/* y = (s * scale) * (dot - z * sum) + bias, each operation rounded once. */
ALWAYS_INLINE void finish_int8(const tile_job *job, uint32_t row, uint32_t block, __m512i dot)
{
    const aq_row_quant *quant = &job->input->quant[job->row + row];
    const uint32_t first = job->output + block * LANES;
    const __m512i sum = _mm512_loadu_si512(job->layer->sum + first);
    const __m512 scale = _mm512_loadu_ps(job->layer->scale + first);
    const __m512 bias = _mm512_loadu_ps(job->layer->bias + first);

    const __m512i offset = _mm512_mullo_epi32(_mm512_set1_epi32(quant->zero_point), sum);
    const __m512 centred = _mm512_cvtepi32_ps(_mm512_sub_epi32(dot, offset));
    const __m512 factor = _mm512_mul_ps(_mm512_set1_ps(quant->scale), scale);
    store_block(job, row, block, _mm512_add_ps(_mm512_mul_ps(factor, centred), bias));
}

/* dot (rows, blocks * 16) of a tile, with the inputs split over `chains` accumulators. All three
 * are constants where this is inlined, so that the accumulators are registers. */
ALWAYS_INLINE void tile_int8(const tile_job *job, const uint32_t rows, const uint32_t blocks,
                             const uint32_t chains)
{
    __m512i dot[CHAINS_MAX][TILE_ROWS][TILE_BLOCKS];
    const uint32_t inputs = round_up(job->layer->inputs, INPUT_PADDING);
    const size_t q_stride = job->input->q_stride;
    const uint8_t *q = job->input->q + job->row * q_stride;
    const int8_t *weights = job->weights;

    for (uint32_t c = 0; c < chains; c++) {
        for (uint32_t r = 0; r < rows; r++) {
            for (uint32_t b = 0; b < blocks; b++) {
                dot[c][r][b] = _mm512_setzero_si512();
            }
        }
    }
    for (uint32_t i = 0; i < inputs; i += chains * GROUP) {
        for (uint32_t c = 0; c < chains; c++) {
            __m512i weight[TILE_BLOCKS];
            for (uint32_t b = 0; b < blocks; b++) {
                weight[b] = _mm512_load_si512(weights);
                weights += LANES * GROUP;
            }
            for (uint32_t r = 0; r < rows; r++) {
                const __m512i x = broadcast_group(q + r * q_stride + i + c * GROUP);
                for (uint32_t b = 0; b < blocks; b++) {
                    dot[c][r][b] = _mm512_dpbusd_epi32(dot[c][r][b], x, weight[b]);
                }
            }
        }
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t b = 0; b < blocks; b++) {
            __m512i total = dot[0][r][b];
            for (uint32_t c = 1; c < chains; c++) {
                total = _mm512_add_epi32(total, dot[c][r][b]);
            }
            finish_int8(job, r, b, total);
        }
    }
}

/* --- fp32 --- */

static size_t block_bytes_f32(uint32_t inputs)
{
    return (size_t)inputs * LANES * sizeof(float);
}

static size_t packed_bytes_f32(uint32_t inputs, uint32_t outputs)
{
    return blocks_of(outputs) * block_bytes_f32(inputs);
}

static void pack_f32(const void *weights, uint32_t inputs, uint32_t outputs, void *packed)
{
    const float *source = weights;
    const uint32_t blocks = blocks_of(outputs);

    memset(packed, 0, packed_bytes_f32(inputs, outputs));
    for (uint32_t o = 0; o < outputs; o++) {
        const uint32_t block = o / LANES;
        const uint32_t tile_block = block - block % TILE_BLOCKS;
        const uint32_t width = blocks - tile_block < TILE_BLOCKS ? blocks - tile_block
                                                                 : TILE_BLOCKS;
        float *to = (float *)packed + (size_t)tile_block * inputs * LANES +
                    (size_t)(block % TILE_BLOCKS) * LANES + o % LANES;
        for (uint32_t i = 0; i < inputs; i++) {
            to[(size_t)i * width * LANES] = source[(size_t)o * inputs + i];
        }
    }
}

/* One step of the inputs for every accumulator of chain `c`. */
ALWAYS_INLINE void step_f32(__m512 (*dot)[TILE_BLOCKS], const float *x, size_t x_stride,
                            const float *weights, const uint32_t rows, const uint32_t blocks)
{
    __m512 weight[TILE_BLOCKS];
    for (uint32_t b = 0; b < blocks; b++) {
        weight[b] = _mm512_load_ps(weights + b * LANES);
    }
    for (uint32_t r = 0; r < rows; r++) {
        const __m512 value = _mm512_set1_ps(x[r * x_stride]);
        for (uint32_t b = 0; b < blocks; b++) {
            dot[r][b] = _mm512_fmadd_ps(value, weight[b], dot[r][b]);
        }
    }
}

ALWAYS_INLINE void tile_f32(const tile_job *job, const uint32_t rows, const uint32_t blocks,
                            const uint32_t chains)
{
    __m512 dot[CHAINS_MAX][TILE_ROWS][TILE_BLOCKS];
    const uint32_t inputs = job->layer->inputs;
    const size_t x_stride = job->input->x_stride;
    const float *x = job->input->x + job->row * x_stride;
    const float *weights = job->weights;
    const size_t step = (size_t)blocks * LANES;

    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t b = 0; b < blocks; b++) {
            dot[0][r][b] = _mm512_loadu_ps(job->layer->bias + job->output + b * LANES);
            for (uint32_t c = 1; c < chains; c++) {
                dot[c][r][b] = _mm512_setzero_ps();
            }
        }
    }
    uint32_t i = 0;
    for (; i + chains <= inputs; i += chains) {
        for (uint32_t c = 0; c < chains; c++) {
            step_f32(dot[c], x + i + c, x_stride, weights + c * step, rows, blocks);
        }
        weights += chains * step;
    }
    for (; i < inputs; i++) {
        step_f32(dot[0], x + i, x_stride, weights, rows, blocks);
        weights += step;
    }
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t b = 0; b < blocks; b++) {
            __m512 total = dot[0][r][b];
            for (uint32_t c = 1; c < chains; c++) {
                total = _mm512_add_ps(total, dot[c][r][b]);
            }
            store_block(job, r, b, total);
        }
    }
}

/* --- the shapes --- */

/* Two pipes times four cycles of latency want eight accumulators at least. */
#define TILE_SHAPES(X)                                                                             \
    X(1, 1, 4) X(1, 2, 4) X(1, 3, 4) X(1, 4, 2)                                                    \
    X(2, 1, 4) X(2, 2, 2) X(2, 3, 2) X(2, 4, 1)                                                    \
    X(3, 1, 4) X(3, 2, 2) X(3, 3, 1) X(3, 4, 1)                                                    \
    X(4, 1, 2) X(4, 2, 1) X(4, 3, 1) X(4, 4, 1)

#define TILE_DEFINE(rows, blocks, chains)                                                          \
    static void tile_int8_##rows##x##blocks(const tile_job *job)                                   \
    {                                                                                              \
        tile_int8(job, rows, blocks, chains);                                                      \
    }                                                                                              \
    static void tile_f32_##rows##x##blocks(const tile_job *job)                                    \
    {                                                                                              \
        tile_f32(job, rows, blocks, chains);                                                       \
    }
TILE_SHAPES(TILE_DEFINE)

#define TILE_INT8(rows, blocks, chains) [rows - 1][blocks - 1] = tile_int8_##rows##x##blocks,
static tile_function *const tiles_int8[TILE_ROWS][TILE_BLOCKS] = {TILE_SHAPES(TILE_INT8)};

#define TILE_F32(rows, blocks, chains) [rows - 1][blocks - 1] = tile_f32_##rows##x##blocks,
static tile_function *const tiles_f32[TILE_ROWS][TILE_BLOCKS] = {TILE_SHAPES(TILE_F32)};

static void run_int8(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                     size_t y_stride)
{
    run_tiles(layer, input, y, y_stride, block_bytes_int8(layer->inputs), tiles_int8);
}

static void run_f32(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                    size_t y_stride)
{
    run_tiles(layer, input, y, y_stride, block_bytes_f32(layer->inputs), tiles_f32);
}

const aq_qkernels aq_qkernels_avx512vnni = {
    .name = "avx512vnni",
    .cpu_flags = AQ_CPU_AVX512 | AQ_CPU_AVX512_VNNI,
    .quantize_rows = quantize_rows,
    .linear = {
        [AQ_FORMAT_F32] = {false, packed_bytes_f32, pack_f32, run_f32},
        [AQ_FORMAT_INT8_CHANNEL] = {true, packed_bytes_int8, pack_int8, run_int8},
    },
};
