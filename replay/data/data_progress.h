/*
 * Progress: how far work on a data set is, for whoever shows it, and may end it there.
 */
#ifndef AQ_REPLAY_DATA_DATA_PROGRESS_H
#define AQ_REPLAY_DATA_DATA_PROGRESS_H

#include <stddef.h>

#include "common/base/error.h"

/* `done` is 0 to 1, or below 0 where nobody knows. A failure ends the work with its code and words.
 * NULL: nobody asks. */
typedef struct aq_data_progress {
    int (*tell)(void *user, double done, aq_error *error);
    void *user;
} aq_data_progress;

AQ_MUST_USE static inline int aq_data_progress_tell(const aq_data_progress *progress, double done,
                                                    aq_error *error)
{
    return progress->tell != NULL ? progress->tell(progress->user, done, error) : 0;
}

#endif
