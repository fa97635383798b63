/*
 * Progress: how far work on a data set is, for whoever shows it.
 */
#ifndef AQ_REPLAY_DATA_DATA_PROGRESS_H
#define AQ_REPLAY_DATA_DATA_PROGRESS_H

#include <stddef.h>

typedef struct aq_data_progress {
    void (*tell)(void *user, double done); /* 0 to 1, or below 0 where nobody knows; NULL: nobody
                                              asks */
    void *user;
} aq_data_progress;

static inline void aq_data_progress_tell(const aq_data_progress *progress, double done)
{
    if (progress->tell != NULL) {
        progress->tell(progress->user, done);
    }
}

#endif
