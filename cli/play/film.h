/*
 * Film: takes picture after picture of a run, and writes an animation (GIF), a contact sheet (PNG)
 * or both at the end. One thread.
 */
#ifndef AQ_CLI_PLAY_FILM_H
#define AQ_CLI_PLAY_FILM_H

#include <stdint.h>

#include "common/base/error.h"
#include "envs/canvas.h"

enum { AQ_FILM_SIDE_MIN = 8, AQ_FILM_SIDE_MAX = 1024, AQ_FILM_RATE_MAX = 50 };

typedef struct aq_film_options {
    const char *gif_path;         /* NULL: none */
    const char *png_path;         /* NULL: none */
    uint32_t width, height;       /* AQ_FILM_SIDE_MIN to AQ_FILM_SIDE_MAX pixels */
    uint32_t pictures_per_second; /* 1 to AQ_FILM_RATE_MAX */
} aq_film_options;

typedef struct aq_film aq_film;

/* The options are lent until the film is destroyed. */
int aq_film_create(const aq_film_options *options, aq_film **ret_film, aq_error *error) AQ_MUST_USE;
void aq_film_destroy(aq_film *film); /* NULL is fine */

/* What the next picture is drawn on. */
aq_canvas *aq_film_canvas(aq_film *film);

/* Takes the picture that is on the canvas. AQ_E_TOO_BIG, AQ_E_NOMEM, in words. */
int aq_film_take(aq_film *film, aq_error *error) AQ_MUST_USE;

/* Shows the picture that was taken last for half a second longer: the end of an episode. */
void aq_film_hold(aq_film *film);

/* Writes the files; at least one picture was taken. As aq_file_write_atomic, or AQ_E_NOMEM. */
int aq_film_write(aq_film *film, aq_error *error) AQ_MUST_USE;

#endif
