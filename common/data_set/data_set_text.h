/*
 * The text of a data set's header: what its steps are of, as one JSON object. Pure; any thread.
 */
#ifndef AQ_COMMON_DATA_SET_DATA_SET_TEXT_H
#define AQ_COMMON_DATA_SET_DATA_SET_TEXT_H

#include "common/data_set/data_set_header.h"

/* NULL: no memory. Release with aq_free. */
char *aq_data_set_text_of(const aq_data_set_info *info);

/* Into zeroes; what it says may be of no schema yet. AQ_E_CORRUPT. */
int aq_data_set_text_read(const uint8_t *text, size_t bytes,
                          aq_data_set_info *ret_info) AQ_MUST_USE;

#endif
