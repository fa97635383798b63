/*
 * CRC-32C (Castagnoli), as in iSCSI and ext4: the check of every message and file of ours.
 * Table-driven by eight bytes; the processor's own instruction where it has one.
 */
#ifndef AQ_COMMON_BASE_CRC32C_H
#define AQ_COMMON_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The crc of `size` bytes appended to those that gave `crc`; start with 0. */
uint32_t aq_crc32c(uint32_t crc, const void *bytes, size_t size);

/* The portable path, kept as the reference for tests. */
uint32_t aq_crc32c_reference(uint32_t crc, const void *bytes, size_t size);

#endif
