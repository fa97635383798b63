/*
 * Export header: what callers of an exported policy have to know: its functions, which the file
 * itself declares, too, and the widths of their arrays.
 *
 * Private to the export. No state; any thread.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_HEADER_H
#define AQ_QUANTIZER_EXPORT_EXPORT_HEADER_H

#include "common/policy/snapshot.h"
#include "quantizer/export/export_text.h"

/* Begins a comment: which policy it is, and who wrote it. */
void aq_export_put_title(aq_export_text *text, const aq_snapshot *snapshot);

void aq_export_put_prototypes(aq_export_text *text, const aq_snapshot *snapshot);
void aq_export_put_header(aq_export_text *text, const aq_snapshot *snapshot);

#endif
