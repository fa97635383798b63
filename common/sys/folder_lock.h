/*
 * Folder lock: one process at a time uses a folder. The lock is the kernel's, on FOLDER/lock: it
 * goes with the process that holds it, however that ends. The file stays and says who was last.
 *
 * One owner.
 */
#ifndef AQ_COMMON_SYS_FOLDER_LOCK_H
#define AQ_COMMON_SYS_FOLDER_LOCK_H

#include "common/base/error.h"

typedef struct aq_folder_lock aq_folder_lock;

/* AQ_E_EXISTS says who uses the folder, and since when, or that it is being read; AQ_E_NOMEM. */
int aq_folder_lock_take(const char *folder, aq_folder_lock **ret_lock, aq_error *error) AQ_MUST_USE;

/* Beside others who read what is there: nobody takes it meanwhile. It has been taken before:
 * AQ_E_NOT_FOUND if not. Changes nothing. */
int aq_folder_lock_share(const char *folder, aq_folder_lock **ret_lock,
                         aq_error *error) AQ_MUST_USE;
void aq_folder_lock_release(aq_folder_lock *lock); /* NULL is fine */

/* 0: nobody writes there, or there is no such folder; AQ_E_EXISTS as above. Changes nothing. */
int aq_folder_lock_check(const char *folder, aq_error *error) AQ_MUST_USE;

#endif
