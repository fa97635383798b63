/*
 * A folder has one user at a time, who is named, and none when that one has ended.
 */
#include <signal.h>
#include <sys/wait.h>

#include "common/sys/folder_lock.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

TEST(one_has_it_and_is_named)
{
    const char *folder = file_folder();
    char words[64];
    aq_folder_lock *lock = NULL, *second = NULL;
    assert_int_equal(aq_folder_lock_take(folder, &lock, NULL), 0);
    (void)snprintf(words, sizeof(words), "in use by pid %ld since 20", (long)getpid());
    assert_refused(aq_folder_lock_take(folder, &second, &refusal), AQ_E_EXISTS, words);
    assert_refused(aq_folder_lock_check(folder, &refusal), AQ_E_EXISTS, words);
    aq_folder_lock_release(lock);
    assert_int_equal(aq_folder_lock_check(folder, NULL), 0);
    assert_int_equal(aq_folder_lock_take(folder, &lock, NULL), 0);
    aq_folder_lock_release(lock);
    aq_folder_lock_release(NULL);
}

TEST(readers_share_it_with_one_another_alone)
{
    const char *folder = file_folder();
    aq_folder_lock *lock = NULL, *readers[2];
    assert_refused(aq_folder_lock_share(folder, &lock, &refusal), AQ_E_NOT_FOUND, "/lock");
    assert_int_equal(aq_folder_lock_take(folder, &lock, NULL), 0);
    assert_refused(aq_folder_lock_share(folder, &readers[0], &refusal), AQ_E_EXISTS,
                   "in use by pid ");
    aq_folder_lock_release(lock);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(aq_folder_lock_share(folder, &readers[i], NULL), 0);
    }
    assert_int_equal(aq_folder_lock_check(folder, NULL), 0); /* readers are in nobody's way */
    assert_refused(aq_folder_lock_take(folder, &lock, &refusal), AQ_E_EXISTS,
                   "is being read by another process"); /* the file names who was last */
    aq_folder_lock_release(readers[0]);
    aq_folder_lock_release(readers[1]);
    assert_int_equal(aq_folder_lock_take(folder, &lock, NULL), 0);
    aq_folder_lock_release(lock);
}

TEST(it_goes_with_the_process_that_is_killed)
{
    const char *folder = file_folder();
    aq_folder_lock *lock = NULL;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (aq_folder_lock_take(folder, &lock, NULL) == 0 && write(ready[1], "x", 1) == 1) {
            (void)pause();
        }
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(aq_folder_lock_check(folder, NULL), AQ_E_EXISTS);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(aq_folder_lock_check(folder, NULL), 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

TEST(a_check_makes_nothing)
{
    const char *folder = file_folder();
    const char *none = file_in(folder, "none");
    aq_folder_lock *lock = NULL;
    assert_int_equal(aq_folder_lock_check(folder, NULL), 0);
    assert_int_equal(access(file_in(folder, "lock"), F_OK), -1);
    assert_int_equal(aq_folder_lock_check(none, NULL), 0);
    assert_refused(aq_folder_lock_take(none, &lock, &refusal), AQ_E_NOT_FOUND, "none/lock");
}
