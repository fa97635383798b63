/*
 * Status screen: see status_screen.h.
 *
 * What a member takes of the screen depends on its table and on how its line wraps. So pages are
 * made until one fits, which is soon found, as more members never take fewer rows.
 */
#include "cli/watch/status_screen.h"

#include <stdlib.h>
#include <string.h>

#include "cli/watch/status_page.h"

static int print_page(const char *url, const Actorq__V1__StatusReply *status, size_t members_max,
                      char **ret_text)
{
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);
    if (!page) {
        return AQ_E_NOMEM;
    }
    int rc = aq_status_page_print(page, url, status, members_max);
    if (fclose(page) == EOF) {
        rc = AQ_E_NOMEM;
    }
    if (rc != 0) {
        free(text);
        return rc;
    }
    *ret_text = text;
    return 0;
}

/* A line's characters; bytes after the first of one are 10xxxxxx in UTF-8. */
static size_t characters(const char *line, const char *end)
{
    size_t count = 0;
    for (; line < end; line++) {
        count += ((unsigned char)*line & 0xc0) != 0x80;
    }
    return count;
}

/* Where the lines end that fit; a long one takes several rows. */
static const char *end_of_fitting(const char *text, size_t rows, size_t columns)
{
    for (const char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n')) {
        const size_t length = characters(text, end);
        const size_t taken = length == 0 ? 1 : (length + columns - 1) / columns;
        if (taken > rows) {
            break;
        }
        rows -= taken;
        text = end + 1;
    }
    return text;
}

int aq_status_screen_print(FILE *out, const char *url, const Actorq__V1__StatusReply *status,
                           size_t rows, size_t columns)
{
    size_t least = 0, most = rows;
    char *text = NULL;
    int rc = 0;
    while (rc == 0 && least < most) {
        const size_t members_max = least + (most - least + 1) / 2;
        rc = print_page(url, status, members_max, &text);
        if (rc == 0 && *end_of_fitting(text, rows, columns) == '\0') {
            least = members_max;
        } else {
            most = members_max - 1;
        }
        free(text);
        text = NULL;
    }
    rc = rc != 0 ? rc : print_page(url, status, least, &text);
    if (rc == 0) { /* in one write, so that a terminal never shows half of it */
        const int size = (int)(end_of_fitting(text, rows, columns) - text);
        (void)fprintf(out, "\033[H\033[J%.*s", size, text);
    }
    free(text);
    return rc;
}
