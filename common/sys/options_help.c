/*
 * The help page of a table of options: usage, summary, one aligned row per option, details.
 */
#include <stdio.h>
#include <string.h>

#include "common/sys/options.h"

#define WIDTH           80
#define HELP_COLUMN_MAX 30 /* an option longer than this has its help on the next line */
#define LABEL_SIZE      80

/* "  -j, --jobs N", "      --json[=pretty]" */
static void format_label(char *out, const aq_option *option)
{
    char letter[8] = "    ";

    if (option->short_name != 0) {
        snprintf(letter, sizeof(letter), "-%c, ", option->short_name);
    }
    snprintf(out, LABEL_SIZE, "  %s--%s%s%s", letter, option->name,
             option->value == NULL ? "" : " ",
             option->kind == AQ_OPTION_JSON ? "[=pretty]"
             : option->value == NULL        ? ""
                                            : option->value);
}

/* Prints the words of `text` in lines of up to WIDTH columns; the first begins at `column`, where
 * the cursor is, the others at `indent`. */
static void print_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
    size_t start = column;

    while (*text != '\0') {
        size_t length = strcspn(text, " \n");
        size_t gap = column > start ? 1 : 0;

        if (gap > 0 && column + gap + length > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            start = indent;
            column = indent;
            gap = 0;
        }
        fprintf(out, "%s%.*s", gap > 0 ? " " : "", (int)length, text);
        column += gap + length;
        text += length;
        text += strspn(text, " \n");
    }
    fprintf(out, "\n");
}

static void print_option(FILE *out, const aq_option *option, size_t help_column)
{
    char label[LABEL_SIZE];

    format_label(label, option);
    size_t length = strlen(label);
    if (length + 2 > help_column) {
        fprintf(out, "%s\n%*s", label, (int)help_column, "");
    } else {
        fprintf(out, "%-*s", (int)help_column, label);
    }
    print_wrapped(out, option->help, help_column, help_column);
}

void aq_options_print_help(const aq_options *options, FILE *out)
{
    static const aq_option built_in[] = {
        {"help", 'h', NULL, "Show this help and exit."},
        {"version", 0, NULL, "Show the version and exit."},
    };
    const size_t built_in_count = sizeof(built_in) / sizeof(built_in[0]);
    size_t help_column = strlen("      --version  ");

    for (size_t i = 0; i < options->count; i++) {
        char label[LABEL_SIZE];

        format_label(label, &options->rows[i]);
        size_t column = strlen(label) + 2;
        if (column > help_column && column <= HELP_COLUMN_MAX) {
            help_column = column;
        }
    }
    fprintf(out, "Usage: %s %s\n\n", options->program, options->usage);
    print_wrapped(out, options->summary, 0, 0);
    fprintf(out, "\nOptions:\n");
    for (size_t i = 0; i < options->count; i++) {
        print_option(out, &options->rows[i], help_column);
    }
    for (size_t i = 0; i < built_in_count; i++) {
        print_option(out, &built_in[i], help_column);
    }
    if (options->details != NULL) {
        size_t length = strlen(options->details);
        bool ended = length > 0 && options->details[length - 1] == '\n';

        fprintf(out, "\n%s%s", options->details, ended ? "" : "\n");
    }
}
