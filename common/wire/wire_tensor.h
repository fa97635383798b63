/*
 * One tensor as it travels: as it is, or as a zstd frame where that pays.
 *
 * Numbers of several bytes are first split into planes (all lowest bytes, then all next ones, ...):
 * neighbours agree in sign and exponent, which zstd only sees when these bytes stand side by side.
 *
 * What comes in is believed only as far as its own size: a compressed tensor says how long it will
 * be, that must be the tensor's size, and it is unpacked into exactly that room.
 *
 * Any thread, each with packers and readers of its own.
 */
#ifndef AQ_COMMON_WIRE_WIRE_TENSOR_H
#define AQ_COMMON_WIRE_WIRE_TENSOR_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* Bits of LayerTensors.compressed and LayerDelta.compressed. */
enum {
    AQ_COMPRESSED_WEIGHTS = 1,
    AQ_COMPRESSED_SCALE = 2,
    AQ_COMPRESSED_BIAS = 4,
    AQ_COMPRESSED_ALL = 7,
};

/* A compressed tensor is at most that many times as long as its zstd frame, or small: a full
 * snapshot names its own network, and a short one must not take much memory. */
enum { AQ_TENSOR_RATIO_MAX = 256, AQ_TENSOR_SMALL_BYTES = 1 << 20 };

/* Bytes of the numbers that a format stores its weights as. */
size_t aq_tensor_weight_width(uint32_t format);

/* Plane p holds byte p of each of `count` numbers of `width` bytes (1, 2 or 4). */
void aq_planes_split(const void *numbers, size_t count, size_t width, uint8_t *ret_planes);
void aq_planes_join(const uint8_t *planes, size_t count, size_t width, void *ret_numbers);

/* ---- out ----------------------------------------------------------------------------------- */

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Room for everything that one message holds; what was taken stays where it is until the end. */
typedef struct aq_tensor_packer {
    struct ZSTD_CCtx_s *context;
    uint8_t *scratch; /* for the caller, of tensor_bytes_max; the one block's beginning */
    uint8_t *taken;   /* where the next one is put */
    size_t room_left;
} aq_tensor_packer;

/* `bytes_max` bounds all tensors together, `tensor_bytes_max` each. AQ_E_NOMEM. */
int aq_tensor_packer_init(aq_tensor_packer *packer, size_t bytes_max,
                          size_t tensor_bytes_max) AQ_MUST_USE;
void aq_tensor_packer_fini(aq_tensor_packer *packer); /* zeroed is fine */

/* Takes a tensor's bytes as a zstd frame, if that saves a thirty-second of them; false, and nothing
 * is taken, if it does not. */
bool aq_tensor_compress(aq_tensor_packer *packer, const uint8_t *bytes, size_t size,
                        ProtobufCBinaryData *ret_view);

/* Takes them as they are. */
void aq_tensor_keep(aq_tensor_packer *packer, const uint8_t *bytes, size_t size,
                    ProtobufCBinaryData *ret_view);

/* ---- in ------------------------------------------------------------------------------------ */

/* How long the tensor is, or says that it will be. AQ_E_CORRUPT, naming it, for what is no zstd
 * frame with its size, or one that claims to be too long. */
int aq_tensor_claim(const ProtobufCBinaryData *data, bool compressed, const char *name,
                    size_t *ret_size, aq_error *error) AQ_MUST_USE;

/* AQ_E_CORRUPT, naming it, unless it is, or says that it will be, `count` numbers of `width` bytes.
 * The product must not overflow. */
int aq_tensor_check(const ProtobufCBinaryData *data, bool compressed, const char *name,
                    size_t count, size_t width, aq_error *error) AQ_MUST_USE;

/* Zeroed: empty. Makes what it needs when it needs it. */
typedef struct aq_tensor_reader {
    struct ZSTD_DCtx_s *context;
    uint8_t *room;
    size_t room_bytes;
} aq_tensor_reader;

void aq_tensor_reader_fini(aq_tensor_reader *reader);

/* The `size` bytes of a tensor that was checked: valid until the next call, and no longer than
 * `data`. AQ_E_NOMEM; AQ_E_CORRUPT, naming it, for a zstd frame that is not what it says. */
int aq_tensor_open(aq_tensor_reader *reader, const ProtobufCBinaryData *data, bool compressed,
                   const char *name, size_t size, const uint8_t **ret_bytes,
                   aq_error *error) AQ_MUST_USE;

/* Reads `count` numbers of `width` bytes of a snapshot's tensor into `to`: in planes if compressed,
 * else as they are. Fails as aq_tensor_open does; `to` may then be anything. */
int aq_tensor_read(aq_tensor_reader *reader, const ProtobufCBinaryData *data, bool compressed,
                   const char *name, size_t count, size_t width, void *to,
                   aq_error *error) AQ_MUST_USE;

#endif
