/*
 * Export head: what a policy's head makes of its outputs, as C: the texts of its row, and what they
 * name.
 *
 * Private to the export. No state; any thread.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_HEAD_H
#define AQ_QUANTIZER_EXPORT_EXPORT_HEAD_H

#include "common/policy/snapshot.h"
#include "quantizer/export/export_text.h"

/* AQ_E_UNSUPPORTED for bounds that an action can't be scaled to. */
int aq_export_head_check(const aq_snapshot *snapshot, aq_error *error) AQ_MUST_USE;

const aq_head_code *aq_export_head_code(const aq_snapshot *snapshot); /* one of its head's */
uint32_t aq_export_head_pieces(const aq_snapshot *snapshot); /* that it builds on, as a set */
void aq_export_head_put_prototypes(aq_export_text *to, const aq_snapshot *snapshot);
void aq_export_head_put(aq_export_text *to, const aq_snapshot *snapshot);

#endif
