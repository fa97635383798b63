/*
 * Edit distance with adjacent swaps (optimal string alignment), three rows at a time; and short
 * forms, which letters alone are far from.
 */
#include "common/base/nearest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define WORD_ENDS "._-:/"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_same_letter(const char *a, const char *b)
{
    return strncasecmp(a, b, 1) == 0;
}

size_t aq_edit_distance(const char *a, const char *b)
{
    /* rows[i % 3][j]: the distance between the first i letters of a and the first j of b. */
    size_t rows[3][AQ_NEAREST_TEXT_MAX + 1];
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);

    if (a_length > AQ_NEAREST_TEXT_MAX || b_length > AQ_NEAREST_TEXT_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = above[j - 1] + !is_same_letter(&a[i - 1], &b[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same_letter(&a[i - 1], &b[j - 2]) &&
                is_same_letter(&a[i - 2], &b[j - 1])) {
                row[j] = least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

static const char *next_word(const char *at)
{
    at += strcspn(at, WORD_ENDS);
    return at + strspn(at, WORD_ENDS);
}

/* Whether `text` is made of the beginnings of the words of `name`, from the first on: "lr", "learn"
 * and "l_rate" of "learning_rate". */
static bool is_short_form(const char *text, const char *name)
{
    size_t shared = 0;

    text += strspn(text, WORD_ENDS);
    if (*text == '\0') {
        return true;
    }
    while (strcspn(text + shared, WORD_ENDS) > 0 && strcspn(name + shared, WORD_ENDS) > 0 &&
           is_same_letter(text + shared, name + shared)) {
        shared++;
    }
    for (; shared > 0; shared--) {
        if (is_short_form(text + shared, next_word(name + shared))) {
            return true;
        }
    }
    return false;
}

/* 1 for a short form of the whole name, 2 for one of its later words, such as "steps" of
 * "env_steps"; else SIZE_MAX. */
static size_t short_form_distance(const char *text, const char *name)
{
    size_t distance = 1;

    text += strspn(text, WORD_ENDS); /* which alone are short for nothing */
    for (; *text != '\0' && *name != '\0'; name = next_word(name)) {
        if (is_short_form(text, name)) {
            return distance;
        }
        distance = 2;
    }
    return SIZE_MAX;
}

/* Letters of the group that both are in, "learner." of "learner.lr" and "learner.tau": that they
 * share it makes no two names alike. */
static size_t shared_group(const char *a, const char *b)
{
    size_t length = 0;

    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++) {
        length = a[i] == '.' || a[i] == ':' ? i + 1 : length;
    }
    return length;
}

void aq_nearest_init(aq_nearest *nearest, const char *text)
{
    *nearest = (aq_nearest){.text = text, .distance = SIZE_MAX};
}

bool aq_nearest_offer(aq_nearest *nearest, const char *name)
{
    const char *text = nearest->text;
    const size_t shared = shared_group(text, name);
    const size_t limit = strlen(name + shared) / 3;
    size_t distance = aq_edit_distance(text + shared, name + shared);

    if (strlen(text) > AQ_NEAREST_TEXT_MAX || strlen(name) > AQ_NEAREST_TEXT_MAX) {
        return false;
    }
    distance = distance <= limit || distance <= 1 ? distance : SIZE_MAX;
    distance = least(distance, short_form_distance(text + shared, name + shared));
    if (distance >= nearest->distance) {
        return false;
    }
    nearest->distance = distance;
    memcpy(nearest->name, name, strlen(name) + 1);
    return true;
}

const char *aq_nearest_name(const aq_nearest *nearest)
{
    return nearest->distance == SIZE_MAX ? NULL : nearest->name;
}
