/*
 * Output file: see output_file.h.
 */
#define _DEFAULT_SOURCE /* realpath */
#include "cli/text/output_file.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/parse.h"
#include "common/sys/file.h"

/* What a path is called in its folder, and that folder. */
static bool look_around(const char *path, struct stat *ret_folder, const char **ret_name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *ret_name = slash != NULL ? slash + 1 : path;
    return aq_text_format(folder, sizeof(folder), "%.*s.", (int)(*ret_name - path), path) == 0 &&
           stat(folder, ret_folder) == 0;
}

static bool are_one(const struct stat *first, const struct stat *second)
{
    return first->st_dev == second->st_dev && first->st_ino == second->st_ino;
}

/* Whether two paths are of one file, be it there or not. Pipes and devices may be written twice. */
static bool are_of_one_file(const char *first, const char *second)
{
    struct stat one, two;
    const char *name_one, *name_two;
    const bool is_there = stat(first, &one) == 0;
    if (is_there != (stat(second, &two) == 0)) {
        return false;
    }
    if (is_there) {
        return S_ISREG(one.st_mode) && are_one(&one, &two);
    }
    return look_around(first, &one, &name_one) && look_around(second, &two, &name_two) &&
           are_one(&one, &two) && strcmp(name_one, name_two) == 0;
}

/* Whether a run plays the file, or would. */
static bool is_policy_of_a_run(const char *path)
{
    char led_to[PATH_MAX], folder[PATH_MAX];
    path = realpath(path, led_to) != NULL ? led_to : path;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return (strcmp(name, "policy.aq") == 0 || strcmp(name, "policy.fp32.aq") == 0) &&
           aq_text_format(folder, sizeof(folder), "%.*s.", (int)(name - path), path) == 0 &&
           aq_path_exists_in(folder, "run.json");
}

int aq_output_check(const char *source, const char *target, aq_error *error)
{
    if (target == NULL) {
        return 0;
    }
    if (aq_path_is_folder(target)) {
        return aq_fail(error, AQ_E_INVALID, "%s is a folder; a file is written", target);
    }
    if (source != NULL && are_of_one_file(source, target)) {
        return aq_fail(error, AQ_E_INVALID, "%s would be written over itself", source);
    }
    return is_policy_of_a_run(target)
               ? aq_fail(error, AQ_E_INVALID,
                         "%s is the run's own policy, and would be written over", target)
               : 0;
}

int aq_output_check_both(const char *first, const char *second, aq_error *error)
{
    return first != NULL && second != NULL && are_of_one_file(first, second)
               ? aq_fail(error, AQ_E_INVALID, "%s would be written twice, as two different files",
                         second)
               : 0;
}

void aq_output_written(const char *target)
{
    if (target != NULL && aq_path_stream(target) == STDOUT_FILENO) {
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    }
}
