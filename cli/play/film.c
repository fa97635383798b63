/*
 * Film: see film.h.
 */
#include "cli/play/film.h"

#include "cli/play/contact_sheet.h"
#include "cli/play/gif_writer.h"
#include "cli/text/output_file.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/sys/file.h"

enum { HOLD_CS = 50 };
#define PNG_BYTES_MAX ((size_t)1 << 30)

struct aq_film {
    const aq_film_options *options;
    aq_canvas canvas;
    aq_gif *gif;     /* NULL: none is wanted */
    aq_sheet *sheet; /* likewise */
};

int aq_film_create(const aq_film_options *options, aq_film **ret_film, aq_error *error)
{
    AQ_ASSERT(options->pictures_per_second >= 1);
    AQ_ASSERT(options->pictures_per_second <= AQ_FILM_RATE_MAX);
    const uint32_t width = options->width, height = options->height;
    /* A GIF tells how long a picture stays in hundredths of a second; the nearest is taken. */
    const uint32_t rate = options->pictures_per_second;
    const uint16_t delay_cs = (uint16_t)((100 + rate / 2) / rate);
    aq_film *film = aq_alloc(1, sizeof(*film));
    int rc = film != NULL ? 0 : AQ_E_NOMEM;
    if (rc == 0) {
        film->options = options;
        film->canvas = (aq_canvas){width, height, aq_alloc((size_t)width * height, 3)};
        rc = film->canvas.pixels != NULL ? 0 : AQ_E_NOMEM;
    }
    if (rc == 0 && options->gif_path != NULL) {
        rc = aq_gif_create(width, height, delay_cs, &film->gif);
    }
    if (rc == 0 && options->png_path != NULL) {
        rc = aq_sheet_create(width, height, &film->sheet);
    }
    if (rc != 0) {
        aq_film_destroy(film);
        return aq_fail(error, rc, "no memory for pictures of %u x %u", width, height);
    }
    *ret_film = film;
    return 0;
}

void aq_film_destroy(aq_film *film)
{
    if (film == NULL) {
        return;
    }
    aq_free(film->canvas.pixels);
    aq_gif_destroy(film->gif);
    aq_sheet_destroy(film->sheet);
    aq_free(film);
}

aq_canvas *aq_film_canvas(aq_film *film)
{
    return &film->canvas;
}

static int add_to_gif(aq_film *film, aq_error *error)
{
    int rc = aq_gif_add(film->gif, film->canvas.pixels);
    if (rc == AQ_E_TOO_BIG) {
        return aq_fail(error, rc, "%s: more than %zu MiB; ask for fewer episodes or a smaller size",
                       film->options->gif_path, AQ_GIF_BYTES_MAX >> 20);
    }
    return rc != 0 ? aq_fail(error, rc, "%s: %s", film->options->gif_path, aq_error_text(rc)) : 0;
}

int aq_film_take(aq_film *film, aq_error *error)
{
    if (film->sheet != NULL) {
        aq_sheet_add(film->sheet, film->canvas.pixels);
    }
    return film->gif != NULL ? add_to_gif(film, error) : 0;
}

void aq_film_hold(aq_film *film)
{
    if (film->gif != NULL) {
        aq_gif_hold(film->gif, HOLD_CS);
    }
}

static int write_gif(aq_film *film, aq_error *error)
{
    const aq_buffer *bytes;
    int rc = aq_gif_end(film->gif, &bytes);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: %s", film->options->gif_path, aq_error_text(rc));
    }
    return aq_file_write_atomic(film->options->gif_path, bytes->data, bytes->size, error);
}

static int write_png(aq_film *film, aq_error *error)
{
    aq_buffer bytes;
    aq_buffer_init(&bytes, PNG_BYTES_MAX);
    int rc = aq_sheet_png(film->sheet, &bytes);
    if (rc == 0) {
        rc = aq_file_write_atomic(film->options->png_path, bytes.data, bytes.size, error);
    } else {
        rc = aq_fail(error, rc, "%s: %s", film->options->png_path, aq_error_text(rc));
    }
    aq_buffer_fini(&bytes);
    return rc;
}

int aq_film_write(aq_film *film, aq_error *error)
{
    int rc = film->gif != NULL ? write_gif(film, error) : 0;
    if (rc == 0 && film->sheet != NULL) {
        rc = write_png(film, error);
    }
    if (rc == 0) {
        aq_output_written(film->options->gif_path);
        aq_output_written(film->options->png_path);
    }
    return rc;
}
