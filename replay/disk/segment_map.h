/*
 * Segment map: the segments of a store and where in them each frame lies, and leases of frames in
 * the mapped files. All leases of a segment share one mapping, which lives until the last of them
 * and the map have let go, also when the file has been deleted meanwhile.
 *
 * The log's caller reserves, leases and drops; the writer places, unlinks and forgets. Any thread:
 * a mutex of its own, held for short.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_MAP_H
#define AQ_REPLAY_DISK_SEGMENT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/lease.h"
#include "replay/disk/segment_folder.h"

typedef struct aq_segment_map aq_segment_map;

/* `folder` must outlive it. */
int aq_segment_map_create(const aq_segment_folder *folder, aq_segment_map **ret_map) AQ_MUST_USE;
void aq_segment_map_destroy(aq_segment_map *map); /* NULL is fine; leases may live on */

/* ---- segments ------------------------------------------------------------------------------- */

/* The newest; numbers only grow. AQ_E_NOMEM, AQ_E_FULL. `size_expected`: what is worth mapping. */
int aq_segment_map_add(aq_segment_map *map, uint64_t segment, uint64_t size_expected) AQ_MUST_USE;

size_t aq_segment_map_count(aq_segment_map *map);

/* The file's size is now this. */
void aq_segment_map_size(aq_segment_map *map, uint64_t segment, uint64_t size);

/* A mapping of the file that there is already; a reference is taken. */
void aq_segment_map_adopt(aq_segment_map *map, uint64_t segment, aq_lease *mapping);

/* A sync of the file failed after its frames were told to be durable: pages that never came to the
 * disk may be clean for the kernel, so no frame is leased from it any more. */
void aq_segment_map_distrust(aq_segment_map *map, uint64_t segment);

/* Of all files, and of those that were not dropped. */
void aq_segment_map_bytes(aq_segment_map *map, uint64_t *ret_bytes, uint64_t *ret_kept_bytes);

/* Those before one whose absence no note explains: aq_free. A note may be gone before this list is.
 * AQ_E_NOMEM. */
int aq_segment_map_live(aq_segment_map *map, uint64_t before, uint64_t **ret_segments,
                        uint64_t *ret_count) AQ_MUST_USE;

/* ---- dropping ------------------------------------------------------------------------------- */

/* A segment is dropped by the caller, then noted to be in the newest segment, then deleted and
 * forgotten: a note tells a file that was dropped from one that is missing. Where nothing can be
 * noted because the disk is full, an empty file takes its place meanwhile. */
void aq_segment_map_drop(aq_segment_map *map, uint64_t segment);

/* The oldest before `headed` that should be noted now, up to `count_max`. */
size_t aq_segment_map_to_note(aq_segment_map *map, uint64_t headed, uint64_t *ret_segments,
                              size_t count_max);
void aq_segment_map_noted(aq_segment_map *map, uint64_t segment);

/* One before `headed` that was noted and should be deleted now. */
bool aq_segment_map_to_delete(aq_segment_map *map, uint64_t headed, uint64_t *ret_segment);
/* One before `headed` that isn't noted yet, and whose bytes are to go. */
bool aq_segment_map_to_empty(aq_segment_map *map, uint64_t headed, uint64_t *ret_segment);
void aq_segment_map_emptied(aq_segment_map *map, uint64_t segment);

/* It was deleted, or never there. */
void aq_segment_map_forget(aq_segment_map *map, uint64_t segment);

/* ---- frames --------------------------------------------------------------------------------- */

/* Makes room to note where record `number` will lie. Numbers only grow. AQ_E_NOMEM. */
int aq_segment_map_reserve(aq_segment_map *map, uint64_t segment, uint64_t number) AQ_MUST_USE;
/* Takes the newest reservation back. */
void aq_segment_map_unreserve(aq_segment_map *map, uint64_t segment, uint64_t number);
void aq_segment_map_place(aq_segment_map *map, uint64_t segment, uint64_t number, uint64_t offset);

/* AQ_E_NOT_FOUND: not placed. AQ_E_UNSUPPORTED: compressed, distrusted, or its file system maps
 * nothing. AQ_E_IO, AQ_E_CORRUPT: what lies there is not that record any more. AQ_E_NOMEM. */
int aq_segment_map_lease(aq_segment_map *map, uint64_t segment, uint64_t number,
                         aq_lease **ret_frame) AQ_MUST_USE;

#endif
