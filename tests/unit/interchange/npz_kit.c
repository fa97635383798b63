/*
 * NPZ kit: see npz_kit.h.
 */
#include "tests/unit/interchange/npz_kit.h"

#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "tests/support/must.h"

enum { FILE_BYTES_MAX = 1 << 22, LINE_BYTES = 256 };

void npz_kit_init(npz_kit *kit)
{
    *kit = (npz_kit){0};
    aq_buffer_init(&kit->file, FILE_BYTES_MAX);
    aq_buffer_init(&kit->list, FILE_BYTES_MAX);
}

void npz_kit_fini(npz_kit *kit)
{
    aq_buffer_fini(&kit->file);
    aq_buffer_fini(&kit->list);
}

static void put(aq_buffer *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)(value >> (8 * i));
        must(aq_buffer_append(out, &byte, 1));
    }
}

static uint32_t crc_of(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size * 8; i++) {
        crc ^= i % 8 == 0 ? bytes[i / 8] : 0;
        crc = crc >> 1 ^ ((crc & 1) != 0 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

/* Both the entry of the list and what stands before a file have these. */
static void put_facts(aq_buffer *out, const aq_buffer *file, const char *name)
{
    const uint32_t size = (uint32_t)file->size;
    put(out, 20, 2);
    put(out, 0, 2 + 2 + 4); /* flags, stored as it is, no time */
    put(out, crc_of(file->data, file->size), 4);
    put(out, size, 4);
    put(out, size, 4);
    put(out, (uint32_t)strlen(name), 2);
}

void npz_kit_add(npz_kit *kit, const char *name, const char *head, const void *bytes, size_t size)
{
    char line[LINE_BYTES];
    aq_buffer array;
    const uint32_t at = (uint32_t)kit->file.size;
    aq_buffer_init(&array, FILE_BYTES_MAX);
    const int length = snprintf(line, sizeof(line), "{%s, }\n", head);
    must(aq_buffer_append(&array, "\x93NUMPY\x01\x00", 8));
    put(&array, (uint32_t)length, 2);
    must(aq_buffer_append(&array, line, (size_t)length));
    must(aq_buffer_append(&array, bytes, size));

    put(&kit->file, UINT32_C(0x04034b50), 4);
    put_facts(&kit->file, &array, name);
    put(&kit->file, 0, 2);
    must(aq_buffer_append(&kit->file, name, strlen(name)));
    must(aq_buffer_append(&kit->file, array.data, array.size));

    put(&kit->list, UINT32_C(0x02014b50), 4);
    put(&kit->list, 20, 2);
    put_facts(&kit->list, &array, name);
    put(&kit->list, 0, 2 + 2);
    put(&kit->list, 0, 2 + 2);
    put(&kit->list, 0, 4);
    put(&kit->list, at, 4);
    must(aq_buffer_append(&kit->list, name, strlen(name)));
    kit->count++;
    aq_buffer_fini(&array);
}

void npz_kit_add_ramp(npz_kit *kit, const char *name, size_t rows, size_t columns)
{
    char head[LINE_BYTES], shape[64];
    const size_t count = rows * (columns > 0 ? columns : 1);
    float *values = aq_alloc(count, sizeof(*values));
    for (size_t i = 0; i < count; i++) {
        values[i] = 0.01f * (float)(i + 1);
    }
    (void)snprintf(shape, sizeof(shape), columns > 0 ? "(%zu, %zu)" : "(%zu,)", rows, columns);
    (void)snprintf(head, sizeof(head), "'descr': '<f4', 'fortran_order': False, 'shape': %s",
                   shape);
    npz_kit_add(kit, name, head, values, count * sizeof(*values));
    aq_free(values);
}

void npz_kit_end(npz_kit *kit)
{
    const uint32_t at = (uint32_t)kit->file.size, size = (uint32_t)kit->list.size;
    must(aq_buffer_append(&kit->file, kit->list.data, kit->list.size));
    put(&kit->file, UINT32_C(0x06054b50), 4);
    put(&kit->file, 0, 4);
    put(&kit->file, kit->count, 2);
    put(&kit->file, kit->count, 2);
    put(&kit->file, size, 4);
    put(&kit->file, at, 4);
    put(&kit->file, 0, 2);
}
