/*
 * The frame: 16 bytes before every message and in every file of ours.
 *
 * The checks run from the outside in (magic, version, length, crc, kind), each with words of its
 * own: a browser pointed at our port, a peer of another release and a damaged message need three
 * different people. Any thread; no state.
 */
#include "common/net/rpc/frame.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/little_endian.h"

enum { KIND_AT = 4, VERSION_AT = 6, LENGTH_AT = 8, CRC_AT = 12 };

static const uint8_t magic[4] = {'A', 'Q', 'F', '1'};

/* Over kind, version, length and payload: everything but the magic and the crc itself. */
static uint32_t compute_crc(const uint8_t *frame, size_t size)
{
    uint32_t crc = aq_crc32c(0, frame + KIND_AT, CRC_AT - KIND_AT);

    return aq_crc32c(crc, frame + AQ_FRAME_HEADER_BYTES, size - AQ_FRAME_HEADER_BYTES);
}

int aq_frame_begin(aq_buffer *out, size_t *ret_start)
{
    size_t start = out->size;
    uint8_t *header;
    int rc = aq_buffer_extend(out, AQ_FRAME_HEADER_BYTES, &header);

    if (rc < 0) {
        return rc;
    }
    *ret_start = start;
    return 0;
}

static void complete(aq_buffer *out, size_t start, enum aq_frame_kind kind, bool is_proved)
{
    uint8_t *frame = out->data + start;
    size_t size = out->size - start;

    AQ_ASSERT(out->size >= start);
    AQ_ASSERT(size >= AQ_FRAME_HEADER_BYTES);
    AQ_ASSERT(size - AQ_FRAME_HEADER_BYTES <= UINT32_MAX);
    memcpy(frame, magic, sizeof(magic));
    aq_u16_put(frame + KIND_AT, (uint16_t)kind);
    aq_u16_put(frame + VERSION_AT, AQ_PROTOCOL_VERSION);
    aq_u32_put(frame + LENGTH_AT, (uint32_t)(size - AQ_FRAME_HEADER_BYTES));
    aq_u32_put(frame + CRC_AT, is_proved ? 0 : compute_crc(frame, size));
}

void aq_frame_end(aq_buffer *out, size_t start, enum aq_frame_kind kind)
{
    complete(out, start, kind, false);
}

int aq_frame_finish(aq_buffer *out, size_t start, enum aq_frame_kind kind, bool is_proved, int rc)
{
    if (rc == 0 && out->size - start - AQ_FRAME_HEADER_BYTES > INT32_MAX) {
        rc = AQ_E_TOO_BIG;
    }
    if (rc < 0) {
        out->size = start;
        return rc;
    }
    complete(out, start, kind, is_proved);
    return 0;
}

const char *aq_frame_kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [AQ_FRAME_RPC_REQUEST] = "RPC request", [AQ_FRAME_RPC_REPLY] = "RPC reply",
        [AQ_FRAME_EXPERIENCE] = "experience",   [AQ_FRAME_POLICY] = "policy",
        [AQ_FRAME_CHECKPOINT] = "checkpoint",   [AQ_FRAME_POLICY_DELTA] = "policy delta",
    };

    if (kind >= sizeof(names) / sizeof(names[0]) || names[kind] == NULL) {
        return "unknown";
    }
    return names[kind];
}

/* What the bytes look like when they do not begin with our magic. Other protocols do not come so
 * far, as NNG ends whoever does not greet as it does. */
static const char *foreign_guess(const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *start;
        size_t size;
        const char *guess;
    } rows[] = {
        {"AQF", 3, "a frame of another format"},
        {"\177ELF", 4, "a program"},
        {"\x1f\x8b", 2, "gzip"},
        {"PK\x03\x04", 4, "zip"},
        {"\x93NUMPY", 6, "a NumPy array"},
        {"{", 1, "JSON"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (size >= rows[i].size && memcmp(bytes, rows[i].start, rows[i].size) == 0) {
            return rows[i].guess;
        }
    }
    return NULL;
}

static int refuse_foreign(const uint8_t *bytes, size_t size, aq_error *error)
{
    const char *guess = foreign_guess(bytes, size);

    if (guess == NULL) {
        return aq_fail(error, AQ_E_FOREIGN, "not a message of ours (%zu bytes)", size);
    }
    return aq_fail(error, AQ_E_FOREIGN, "not a message of ours: looks like %s", guess);
}

static int check_header(const uint8_t *bytes, size_t size, bool is_proved, aq_error *error)
{
    size_t payload_size = size - AQ_FRAME_HEADER_BYTES;
    uint32_t version = aq_u16_get(bytes + VERSION_AT);
    uint32_t length = aq_u32_get(bytes + LENGTH_AT);

    if (version != AQ_PROTOCOL_VERSION) {
        return aq_fail(error, AQ_E_VERSION,
                       "of protocol version %u; this program speaks version %d: %s ActorQ made it",
                       version, AQ_PROTOCOL_VERSION,
                       version > AQ_PROTOCOL_VERSION ? "a newer" : "an older");
    }
    if (length != payload_size) {
        return aq_fail(error, AQ_E_CORRUPT, "the frame announces %u bytes, %zu came", length,
                       payload_size);
    }
    if (!is_proved && aq_u32_get(bytes + CRC_AT) != compute_crc(bytes, size)) {
        return aq_fail(error, AQ_E_CORRUPT, "wrong checksum over %zu bytes", payload_size);
    }
    return 0;
}

static int check(const void *bytes, size_t size, bool is_proved, uint32_t kind,
                 const uint8_t **ret_payload, size_t *ret_payload_size, aq_error *error)
{
    const uint8_t *frame = bytes;
    size_t magic_size = size < sizeof(magic) ? size : sizeof(magic);

    if (magic_size > 0 && memcmp(frame, magic, magic_size) != 0) {
        return refuse_foreign(frame, size, error);
    }
    if (size < AQ_FRAME_HEADER_BYTES) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu bytes cannot hold a frame's header of %d", size,
                       AQ_FRAME_HEADER_BYTES);
    }
    int rc = check_header(frame, size, is_proved, error);
    if (rc < 0) {
        return rc;
    }
    uint32_t found = aq_frame_kind(frame);
    if (kind != 0 && found != kind) {
        return aq_fail(error, AQ_E_INVALID, "a frame of kind %u (%s) where %u (%s) is expected",
                       found, aq_frame_kind_name(found), kind, aq_frame_kind_name(kind));
    }
    *ret_payload = frame + AQ_FRAME_HEADER_BYTES;
    *ret_payload_size = size - AQ_FRAME_HEADER_BYTES;
    return 0;
}

int aq_frame_check(const void *bytes, size_t size, uint32_t kind, const uint8_t **ret_payload,
                   size_t *ret_payload_size, aq_error *error)
{
    return check(bytes, size, false, kind, ret_payload, ret_payload_size, error);
}

int aq_frame_check_proved(const void *bytes, size_t size, uint32_t kind,
                          const uint8_t **ret_payload, size_t *ret_payload_size, aq_error *error)
{
    return check(bytes, size, true, kind, ret_payload, ret_payload_size, error);
}

bool aq_frame_begins(const uint8_t header[AQ_FRAME_HEADER_BYTES], enum aq_frame_kind kind)
{
    return memcmp(header, magic, sizeof(magic)) == 0 && aq_u16_get(header + KIND_AT) == kind;
}

size_t aq_frame_size(const uint8_t header[AQ_FRAME_HEADER_BYTES])
{
    return AQ_FRAME_HEADER_BYTES + (size_t)aq_u32_get(header + LENGTH_AT);
}

uint32_t aq_frame_kind(const void *frame)
{
    return aq_u16_get((const uint8_t *)frame + KIND_AT);
}

uint32_t aq_frame_crc(const void *frame)
{
    return aq_u32_get((const uint8_t *)frame + CRC_AT);
}
