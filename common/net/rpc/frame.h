/*
 * Frame: what stands before every message and in every file of ours. 16 bytes, little-endian:
 *
 *   0  magic "AQF1"      8  length of the payload
 *   4  kind   (u16)     12  crc32c of bytes 4 to 11 and the payload
 *   6  protocol version (u16)
 *
 * A receiver believes nothing before the frame has been checked; what is wrong with it is said in
 * words, so that an older peer or another file can be told from a corrupt message.
 */
#ifndef AQ_COMMON_NET_RPC_FRAME_H
#define AQ_COMMON_NET_RPC_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

enum { AQ_PROTOCOL_VERSION = 1, AQ_FRAME_HEADER_BYTES = 16 };

enum aq_frame_kind {
    AQ_FRAME_RPC_REQUEST = 1,
    AQ_FRAME_RPC_REPLY = 2,
    AQ_FRAME_EXPERIENCE = 3,
    AQ_FRAME_POLICY = 4,
    AQ_FRAME_CHECKPOINT = 6, /* 5 was something else once */
    AQ_FRAME_POLICY_DELTA = 7,
};

/* "RPC request", "policy"; "unknown" for a kind that is not in the list. Static storage. */
const char *aq_frame_kind_name(uint32_t kind);

/* Starts a frame at the end of `out`: appends a header to be filled by aq_frame_end. */
int aq_frame_begin(aq_buffer *out, size_t *ret_start) AQ_MUST_USE;

/* Completes the frame that begins at `start` and reaches to the end of `out`. */
void aq_frame_end(aq_buffer *out, size_t start, enum aq_frame_kind kind);

/* Ends what aq_frame_begin started at `start` when `rc` is 0, with a crc of 0 when it `is_proved`
 * by another sum (aq_frame_check_proved); else takes it back. Returns `rc`, or AQ_E_TOO_BIG when
 * the frame became larger than a message may be. */
int aq_frame_finish(aq_buffer *out, size_t start, enum aq_frame_kind kind, bool is_proved,
                    int rc) AQ_MUST_USE;

/* Checks the one frame that fills bytes[size]. AQ_E_FOREIGN (magic), AQ_E_VERSION, AQ_E_CORRUPT
 * (length, crc), AQ_E_INVALID (another kind than `kind`; 0 accepts any). */
int aq_frame_check(const void *bytes, size_t size, uint32_t kind, const uint8_t **ret_payload,
                   size_t *ret_payload_size, aq_error *error) AQ_MUST_USE;

/* The same for bytes that another sum has proved: the crc is not looked at. */
int aq_frame_check_proved(const void *bytes, size_t size, uint32_t kind,
                          const uint8_t **ret_payload, size_t *ret_payload_size,
                          aq_error *error) AQ_MUST_USE;

/* Whether a file that begins with this header says that it is a frame of that kind. */
bool aq_frame_begins(const uint8_t header[AQ_FRAME_HEADER_BYTES], enum aq_frame_kind kind);

/* How many bytes a frame is long that begins with this header. */
size_t aq_frame_size(const uint8_t header[AQ_FRAME_HEADER_BYTES]);

/* What a frame that aq_frame_check has passed says of itself. The crc tells one message from
 * another. */
uint32_t aq_frame_kind(const void *frame);
uint32_t aq_frame_crc(const void *frame);

#endif
