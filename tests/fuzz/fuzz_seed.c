/*
 * Writes seeds.
 */
#include "tests/fuzz/fuzz_seed.h"

#include <limits.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/sys/file.h"
#include "common/wire/wire_frame.h"
#include "proto/rpc.pb-c.h"
#include "tests/support/must.h"

static const char *root;

void fuzz_seed_at(const char *path)
{
    root = path;
}

void fuzz_seed_write(const char *target, const char *name, const aq_buffer *bytes)
{
    char path[PATH_MAX];
    aq_error error;
    (void)snprintf(path, sizeof(path), "%s/%s", root, target);
    must(aq_dir_create(path, &error));
    (void)snprintf(path, sizeof(path), "%s/%s/%s_%s.bin", root, target, target, name);
    must(aq_file_write_atomic(path, bytes->data, bytes->size, &error));
}

void fuzz_seed_put(aq_buffer *out, const void *bytes, size_t size)
{
    must(aq_buffer_append(out, bytes, size));
}

void fuzz_seed_put_message(aq_buffer *out, const ProtobufCMessage *message)
{
    must(aq_message_append(message, out));
}

void fuzz_seed_put_step(aq_buffer *out, enum fuzz_step_kind kind, const void *bytes, size_t size)
{
    AQ_ASSERT(size <= UINT16_MAX);
    const uint8_t header[FUZZ_STREAM_HEADER_BYTES] = {(uint8_t)('0' + kind), (uint8_t)size,
                                                      (uint8_t)(size >> 8)};
    fuzz_seed_put(out, header, sizeof(header));
    fuzz_seed_put(out, bytes, size);
}

void fuzz_seed_put_wait(aq_buffer *out, uint16_t ms)
{
    const uint8_t bytes[2] = {(uint8_t)ms, (uint8_t)(ms >> 8)};
    fuzz_seed_put_step(out, FUZZ_STEP_TIME, bytes, sizeof(bytes));
}

void fuzz_seed_put_call(aq_buffer *out, const char *method, const ProtobufCMessage *request)
{
    static uint64_t id;
    char name[128];
    aq_buffer body, packed;
    Actorq__V1__RpcRequest envelope = ACTORQ__V1__RPC_REQUEST__INIT;
    (void)snprintf(name, sizeof(name), "%s", method);
    aq_buffer_init(&body, FUZZ_SEED_BYTES_MAX);
    aq_buffer_init(&packed, FUZZ_SEED_BYTES_MAX);
    fuzz_seed_put_message(&body, request);
    envelope.method = name;
    envelope.request_id = ++id;
    envelope.timeout_ms = 1000;
    envelope.body = aq_wire_bytes(body.data, body.size);
    fuzz_seed_put_message(&packed, &envelope.base);
    fuzz_seed_put_step(out, FUZZ_STEP_REQUEST, packed.data, packed.size);
    aq_buffer_fini(&packed);
    aq_buffer_fini(&body);
}
