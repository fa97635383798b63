/*
 * A decimal number and a newline.
 */
#include "replay/disk/slot_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buffer.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum { SLOT_TEXT_MAX = 16, SLOT_MAX = 65535 };

uint32_t aq_slot_file_read(const char *folder)
{
    char path[PATH_MAX];
    char text[SLOT_TEXT_MAX + 1] = "";
    uint64_t slot = 0;
    aq_buffer bytes;
    if (aq_path_in(path, sizeof(path), folder, "slot", NULL) != 0) {
        return 0;
    }
    aq_buffer_init(&bytes, SLOT_TEXT_MAX);
    if (aq_file_read(path, &bytes, NULL) == 0 && bytes.size > 0) {
        memcpy(text, bytes.data, bytes.size);
        text[strcspn(text, "\n")] = '\0';
        if (aq_parse_u64(text, &slot) != 0 || slot > SLOT_MAX) {
            slot = 0;
        }
    }
    aq_buffer_fini(&bytes);
    return (uint32_t)slot;
}

int aq_slot_file_write(const char *folder, uint32_t slot, aq_error *error)
{
    char path[PATH_MAX];
    char text[SLOT_TEXT_MAX];
    int rc = aq_path_in(path, sizeof(path), folder, "slot", error);
    if (rc != 0) {
        return rc;
    }
    if (aq_path_exists(path) && aq_slot_file_read(folder) == slot) {
        return 0;
    }
    int length = snprintf(text, sizeof(text), "%" PRIu32 "\n", slot);
    return aq_file_write_atomic(path, text, (size_t)length, error);
}
