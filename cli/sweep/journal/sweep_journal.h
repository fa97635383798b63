/*
 * Sweep journal: DIR/journal.jsonl, a line for each event (sweep_record.h), only ever appended to,
 * by any number of processes on any number of hosts. Who writes holds the file's lock, has read all
 * that is there, and knows that its line is durable when the call returns.
 *
 * The lock is fcntl's, on the file itself: it ends with the process that holds it, however that
 * ends, and over NFS, where taking it also makes others' lines seen (docs/decisions/0036).
 *
 * What a crash may leave is one line without its end, at the end of the file: readers pass it over,
 * and the next writer cuts it off. Anything else that is wrong is an error that names the line. One
 * owner.
 */
#ifndef AQ_CLI_SWEEP_JOURNAL_SWEEP_JOURNAL_H
#define AQ_CLI_SWEEP_JOURNAL_SWEEP_JOURNAL_H

#include <stdbool.h>

#include "cli/sweep/study/sweep_study.h"
#include "common/base/error.h"

typedef struct aq_sweep_journal aq_sweep_journal;

/* `flags` as of open(2): O_RDONLY for who only reads, or O_RDWR; with O_CREAT an empty one is made
 * where there is none, else that is AQ_E_NOT_FOUND. */
int aq_sweep_journal_open(const char *dir, int flags, aq_sweep_journal **ret_journal,
                          aq_error *error) AQ_MUST_USE;
void aq_sweep_journal_close(aq_sweep_journal *journal); /* NULL is fine; releases the lock */

/* Called while another process has the lock, which a process that stands still keeps: pauses, or
 * says false to give up. */
typedef bool (*aq_sweep_wait)(void *user);

/* Waits for the lock; without `wait`, however long it takes. AQ_E_TIMEOUT: it was given up. */
int aq_sweep_journal_lock(aq_sweep_journal *journal, aq_sweep_wait wait, void *user,
                          aq_error *error) AQ_MUST_USE;
void aq_sweep_journal_unlock(aq_sweep_journal *journal);

/* Applies what has come since the last call. AQ_E_CORRUPT, AQ_E_VERSION name the line. */
int aq_sweep_journal_read(aq_sweep_journal *journal, aq_sweep_study *study,
                          aq_error *error) AQ_MUST_USE;

/* Under the lock, with everything read: the event becomes part of the study, and is durable. One
 * that the study refuses is not written. When writing fails, the study is ahead of the file: its
 * owner gives both up. */
int aq_sweep_journal_append(aq_sweep_journal *journal, aq_sweep_study *study,
                            const aq_sweep_event *event, aq_error *error) AQ_MUST_USE;

#endif
