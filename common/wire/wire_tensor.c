/*
 * zstd's fastest level: on the weights of policies in training the next eight save at most four
 * percent more and take up to eight times as long (docs/decisions/0012).
 */
#include "common/wire/wire_tensor.h"

#include <string.h>
#include <zstd.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/format.h"

enum { LEVEL = 1 };

/* Less is not worth unpacking it everywhere. */
enum { SAVED_SHARE = 32 };

/* Trying the weights of a wide policy for nothing takes a seventh of the time that a version does.
 * Of a large tensor some pieces, evenly apart, are tried before all of it. */
enum { LARGE_BYTES = 1 << 20, PIECES = 16, PIECE_BYTES = 4096 };

size_t aq_tensor_weight_width(uint32_t format)
{
    switch (format) {
    case AQ_FORMAT_F32:
        return sizeof(float);
    case AQ_FORMAT_F16:
    case AQ_FORMAT_BF16:
        return sizeof(uint16_t);
    default:
        return 1;
    }
}

void aq_planes_split(const void *numbers, size_t count, size_t width, uint8_t *ret_planes)
{
    const uint8_t *bytes = numbers;
    for (size_t p = 0; p < width; p++) {
        for (size_t i = 0; i < count; i++) {
            ret_planes[p * count + i] = bytes[i * width + p];
        }
    }
}

void aq_planes_join(const uint8_t *planes, size_t count, size_t width, void *ret_numbers)
{
    uint8_t *bytes = ret_numbers;
    for (size_t p = 0; p < width; p++) {
        for (size_t i = 0; i < count; i++) {
            bytes[i * width + p] = planes[p * count + i];
        }
    }
}

/* ---- out ----------------------------------------------------------------------------------- */

int aq_tensor_packer_init(aq_tensor_packer *packer, size_t bytes_max, size_t tensor_bytes_max)
{
    uint8_t *room = aq_alloc_unset(tensor_bytes_max + bytes_max, 1);
    struct ZSTD_CCtx_s *context = room != NULL ? ZSTD_createCCtx() : NULL;
    if (context == NULL) {
        aq_free(room);
        return AQ_E_NOMEM;
    }
    *packer = (aq_tensor_packer){.context = context,
                                 .scratch = room,
                                 .taken = room + tensor_bytes_max,
                                 .room_left = bytes_max};
    return 0;
}

void aq_tensor_packer_fini(aq_tensor_packer *packer)
{
    (void)ZSTD_freeCCtx(packer->context);
    aq_free(packer->scratch);
    *packer = (aq_tensor_packer){0};
}

static void take(aq_tensor_packer *packer, size_t size, ProtobufCBinaryData *ret_view)
{
    *ret_view = (ProtobufCBinaryData){.data = packer->taken, .len = size};
    packer->taken += size;
    packer->room_left -= size;
}

/* How long it is as a zstd frame, where the next one is put; 0: it does not pay, or there is no
 * memory for trying. */
static size_t compress(aq_tensor_packer *packer, const uint8_t *bytes, size_t size)
{
    const size_t size_max = size - size / SAVED_SHARE - 1;
    AQ_ASSERT(packer->room_left >= size_max);
    const size_t compressed =
        ZSTD_compressCCtx(packer->context, packer->taken, size_max, bytes, size, LEVEL);
    return ZSTD_isError(compressed) ? 0 : compressed;
}

static bool may_pay(aq_tensor_packer *packer, const uint8_t *bytes, size_t size)
{
    uint8_t pieces[PIECES * PIECE_BYTES];
    if (size < LARGE_BYTES) {
        return size > 0;
    }
    for (size_t i = 0; i < PIECES; i++) {
        memcpy(pieces + i * PIECE_BYTES, bytes + size / PIECES * i, PIECE_BYTES);
    }
    return compress(packer, pieces, sizeof(pieces)) > 0;
}

bool aq_tensor_compress(aq_tensor_packer *packer, const uint8_t *bytes, size_t size,
                        ProtobufCBinaryData *ret_view)
{
    const size_t compressed = may_pay(packer, bytes, size) ? compress(packer, bytes, size) : 0;
    if (compressed == 0 ||
        (size > AQ_TENSOR_SMALL_BYTES && size / AQ_TENSOR_RATIO_MAX > compressed)) {
        return false;
    }
    take(packer, compressed, ret_view);
    return true;
}

void aq_tensor_keep(aq_tensor_packer *packer, const uint8_t *bytes, size_t size,
                    ProtobufCBinaryData *ret_view)
{
    AQ_ASSERT(packer->room_left >= size);
    memcpy(packer->taken, bytes, size);
    take(packer, size, ret_view);
}

/* ---- in ------------------------------------------------------------------------------------ */

int aq_tensor_claim(const ProtobufCBinaryData *data, bool compressed, const char *name,
                    size_t *ret_size, aq_error *error)
{
    if (!compressed) {
        *ret_size = data->len;
        return 0;
    }
    const unsigned long long claim = ZSTD_getFrameContentSize(data->data, data->len);
    if (claim == ZSTD_CONTENTSIZE_ERROR || claim == ZSTD_CONTENTSIZE_UNKNOWN) {
        return aq_fail(error, AQ_E_CORRUPT, "the %zu bytes of %s are no zstd frame with its size",
                       data->len, name);
    }
    if (claim > AQ_TENSOR_SMALL_BYTES && claim / AQ_TENSOR_RATIO_MAX > data->len) {
        return aq_fail(error, AQ_E_CORRUPT, "the %zu bytes of %s claim to be %llu", data->len, name,
                       claim);
    }
    *ret_size = (size_t)claim;
    return 0;
}

int aq_tensor_check(const ProtobufCBinaryData *data, bool compressed, const char *name,
                    size_t count, size_t width, aq_error *error)
{
    size_t expected;
    size_t size = 0;
    bool overflow = __builtin_mul_overflow(count, width, &expected);
    AQ_ASSERT(!overflow);
    int rc = aq_tensor_claim(data, compressed, name, &size, error);
    if (rc == 0 && size != expected) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s is %zu bytes long, not %zu times %zu", name, size,
                     count, width);
    }
    return rc;
}

void aq_tensor_reader_fini(aq_tensor_reader *reader)
{
    (void)ZSTD_freeDCtx(reader->context);
    aq_free(reader->room);
    *reader = (aq_tensor_reader){0};
}

/* Exactly `size` bytes, from a zstd frame. */
static int unpack(aq_tensor_reader *reader, const ProtobufCBinaryData *data, const char *name,
                  void *to, size_t size, aq_error *error)
{
    if (reader->context == NULL) {
        reader->context = ZSTD_createDCtx();
    }
    if (reader->context == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to unpack %s", name);
    }
    const size_t unpacked = ZSTD_decompressDCtx(reader->context, to, size, data->data, data->len);
    if (ZSTD_isError(unpacked)) {
        return aq_fail(error, AQ_E_CORRUPT, "%s cannot be unpacked: %s", name,
                       ZSTD_getErrorName(unpacked));
    }
    if (unpacked != size) {
        return aq_fail(error, AQ_E_CORRUPT, "%s unpacks to %zu bytes, not to %zu", name, unpacked,
                       size);
    }
    return 0;
}

static int make_room(aq_tensor_reader *reader, size_t size, aq_error *error)
{
    if (size <= reader->room_bytes) {
        return 0;
    }
    aq_free(reader->room);
    reader->room = aq_alloc_unset(size, 1);
    reader->room_bytes = reader->room != NULL ? size : 0;
    return reader->room != NULL ? 0 : aq_fail(error, AQ_E_NOMEM, "no memory for %zu bytes", size);
}

int aq_tensor_open(aq_tensor_reader *reader, const ProtobufCBinaryData *data, bool compressed,
                   const char *name, size_t size, const uint8_t **ret_bytes, aq_error *error)
{
    if (!compressed) {
        AQ_ASSERT(data->len == size);
        *ret_bytes = data->data;
        return 0;
    }
    int rc = make_room(reader, size, error);
    if (rc == 0) {
        rc = unpack(reader, data, name, reader->room, size, error);
    }
    if (rc == 0) {
        *ret_bytes = reader->room;
    }
    return rc;
}

int aq_tensor_read(aq_tensor_reader *reader, const ProtobufCBinaryData *data, bool compressed,
                   const char *name, size_t count, size_t width, void *to, aq_error *error)
{
    const size_t size = count * width;
    const uint8_t *bytes;
    if (compressed && width == 1) {
        return unpack(reader, data, name, to, size, error);
    }
    int rc = aq_tensor_open(reader, data, compressed, name, size, &bytes, error);
    if (rc == 0 && compressed) {
        aq_planes_join(bytes, count, width, to);
    } else if (rc == 0 && size > 0) { /* protobuf-c has no pointer to an empty one */
        memcpy(to, bytes, size);
    }
    return rc;
}
