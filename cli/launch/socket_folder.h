/*
 * Socket folder: the short-lived folder below /tmp in which the daemons of one 'actorq train' have
 * their Unix-domain sockets; the path of a run folder may be too long for one.
 *
 * A lock on its file `owner` says that whoever made it lives. One that was killed leaves its folder
 * behind: the next that is made removes those of this user whose lock is free. The folder itself is
 * locked against systems that clean /tmp by age: they leave a locked one alone, and what is in it
 * is read again when a daemon is started anew, after weeks maybe.
 */
#ifndef AQ_CLI_LAUNCH_SOCKET_FOLDER_H
#define AQ_CLI_LAUNCH_SOCKET_FOLDER_H

#include "common/base/error.h"

enum { AQ_SOCKET_FOLDER_PATH_MAX = 64 };

typedef struct aq_socket_folder {
    char path[AQ_SOCKET_FOLDER_PATH_MAX]; /* "": none was made */
    int owner;                            /* the locked file */
    int held;                             /* the locked folder; -1: it could not be locked */
} aq_socket_folder;

/* Removes what others left, and makes one of its own. */
int aq_socket_folder_make(aq_socket_folder *folder, aq_error *error) AQ_MUST_USE;

/* With all that is in it. One that was not made is fine. */
void aq_socket_folder_remove(aq_socket_folder *folder);

#endif
