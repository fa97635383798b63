/*
 * Command page: see command_page.h.
 */
#include "common/sys/command_page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/base/nearest.h"
#include "common/base/plain_text.h"
#include "common/sys/process.h"

/* ---- finding one ----------------------------------------------------------------------------- */

static void print_page(const aq_command_page *page, FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < page->count; i++) {
        const int size = (int)strlen(page->commands[i]->name);
        width = size > width ? size : width;
    }
    (void)fprintf(out, "Usage: %s COMMAND [options]\n\n%s\n", page->program, page->summary);
    for (size_t i = 0; i < page->count; i++) {
        (void)fprintf(out, "  %-*s  %s\n", width, page->commands[i]->name,
                      page->commands[i]->summary);
    }
    (void)fprintf(out, "\n'%s help COMMAND' tells more about each. Try:\n%s", page->program,
                  page->examples);
}

static const aq_command *find(const aq_command_page *page, const char *name)
{
    for (size_t i = 0; i < page->count; i++) {
        if (strcmp(page->commands[i]->name, name) == 0) {
            return page->commands[i];
        }
    }
    return NULL;
}

/* The command that was meant; NULL: nobody knows. */
static const char *guess_command(const aq_command_page *page, aq_nearest *nearest)
{
    for (const aq_command_hint *hint = page->hints; hint != NULL && hint->word != NULL; hint++) {
        if (strcmp(hint->word, nearest->text) == 0) {
            return hint->instead;
        }
    }
    for (size_t i = 0; i < page->count; i++) {
        aq_nearest_offer(nearest, page->commands[i]->name);
    }
    return aq_nearest_name(nearest);
}

static int say_unknown(const aq_command_page *page, const char *name)
{
    aq_nearest nearest;
    aq_nearest_init(&nearest, name);
    const char *guess = guess_command(page, &nearest);
    (void)fprintf(stderr, "%s: there is no command '%s'", page->program, name);
    if (guess) {
        (void)fprintf(stderr, "; did you mean '%s'?\n", guess);
    } else {
        (void)fprintf(stderr, "; '%s --help' lists them\n", page->program);
    }
    return EXIT_FAILURE;
}

/* Of a program, or of one of its commands. */
static int end_printing(const char *who)
{
    if (fflush(stdout) == EOF || ferror(stdout)) {
        (void)fprintf(stderr, "%s: the result could not be written\n", who);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* Of "actorq train" it is actorq's. */
static int print_version(const char *who)
{
    (void)printf("%.*s %s\n", (int)strcspn(who, " "), who, AQ_VERSION);
    return end_printing(who);
}

static int act(const aq_command *command, int argc, char **argv)
{
    aq_error error = {0};
    int status;
    void *arguments = aq_alloc(1, command->bytes);
    if (arguments == NULL) {
        (void)aq_fail(&error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
        return aq_program_failed(command->options->program, &error);
    }
    memcpy(arguments, command->defaults, command->bytes);
    if (command->typed > 0) {
        memcpy((char *)arguments + command->typed, &argv, sizeof(argv));
    }
    if (aq_command_begin(command->options, argc, argv, arguments, &status)) {
        const int rc = command->act(arguments, &error);
        status = aq_command_end(command->options, rc, &error);
    }
    aq_free(arguments);
    return status;
}

/* Returns only when it can't. */
static int become(const aq_command *command, char **argv)
{
    char path[PATH_MAX];
    aq_error error = {0};
    if (aq_process_find_program(command->program, command->folder, path, sizeof(path), &error) ==
        0) {
        (void)execv(path, argv);
        (void)aq_fail(&error, aq_error_from_errno(errno), "%s can't be started: %s", path,
                      strerror(errno));
    }
    return aq_program_failed(command->speaker, &error);
}

static int do_command(const aq_command *command, int argc, char **argv)
{
    if (command->program != NULL) {
        return become(command, argv);
    }
    if (command->act == NULL) {
        return aq_command_main(command->page, argc, argv);
    }
    const aq_command *below =
        command->page != NULL && argc > 1 ? find(command->page, argv[1]) : NULL;
    return below != NULL ? do_command(below, argc - 1, argv + 1) : act(command, argc, argv);
}

static char help_option[] = "--help";

int aq_command_main(const aq_command_page *page, int argc, char **argv)
{
    if (argc < 2) {
        print_page(page, stderr);
        return EXIT_FAILURE;
    }
    const char *name = argv[1];
    const bool asks_help =
        strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
    if (asks_help && argc == 2) {
        print_page(page, stdout);
        return end_printing(page->program);
    }
    if (asks_help) { /* "help train" is "train --help" */
        memmove(&argv[1], &argv[2], (size_t)(argc - 2) * sizeof(argv[0]));
        argv[argc - 1] = help_option;
        name = argv[1];
    }
    if (strcmp(name, "--version") == 0) {
        return print_version(page->program);
    }
    const aq_command *command = find(page, name);
    if (command == NULL) {
        return say_unknown(page, name);
    }
    return do_command(command, argc - 1, argv + 1);
}

/* ---- arguments ------------------------------------------------------------------------------- */

bool aq_command_begin(const aq_options *page, int argc, char **argv, void *user, int *ret_status)
{
    aq_error error = {0};
    int rc = aq_options_parse(page, argc, argv, user, &error);
    if (rc == 0) {
        return true;
    }
    if (rc == AQ_OPTIONS_HELP) {
        aq_options_print_help(page, stdout);
        *ret_status = end_printing(page->program);
    } else if (rc == AQ_OPTIONS_VERSION) {
        *ret_status = print_version(page->program);
    } else {
        *ret_status = aq_program_failed(page->program, &error);
    }
    return false;
}

int aq_command_end(const aq_options *page, int rc, const aq_error *error)
{
    if (rc < 0) {
        return aq_program_failed(page->program, error);
    }
    const int status = end_printing(page->program);
    return rc > 0 ? rc : status;
}

/* ---- results --------------------------------------------------------------------------------- */

int aq_program_failed(const char *program, const aq_error *error)
{
    aq_print_failure(stderr, program, error->text);
    return EXIT_FAILURE;
}
