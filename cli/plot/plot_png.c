/*
 * Plot PNG: see plot_png.h. What is called of librsvg, of GLib and of Cairo beneath it is declared
 * here as their manuals have it; these interfaces have not changed since librsvg 2.52.
 */
#include "cli/plot/plot_png.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

enum { PIXELS_PER_PX = 2, CAIRO_RGB24 = 1, CAIRO_FAILED_TO_WRITE = 11 };

typedef struct gerror {
    uint32_t domain;
    int code;
    const char *message;
} gerror;

typedef struct rsvg_rectangle {
    double x, y, width, height;
} rsvg_rectangle;

typedef int (*cairo_write)(void *closure, const unsigned char *bytes, unsigned size);

/* Name, what it returns, what it takes. */
#define FUNCTIONS(X)                                                                               \
    X(rsvg_handle_new_from_data, void *, (const void *bytes, size_t size, gerror **error))         \
    X(rsvg_handle_get_intrinsic_size_in_pixels, int,                                               \
      (void *handle, double *width, double *height))                                               \
    X(rsvg_handle_render_document, int,                                                            \
      (void *handle, void *cairo, const rsvg_rectangle *place, gerror **error))                    \
    X(g_object_unref, void, (void *object))                                                        \
    X(g_error_free, void, (gerror * error))                                                        \
    X(cairo_image_surface_create, void *, (int format, int width, int height))                     \
    X(cairo_create, void *, (void *surface))                                                       \
    X(cairo_destroy, void, (void *cairo))                                                          \
    X(cairo_surface_destroy, void, (void *surface))                                                \
    X(cairo_surface_write_to_png_stream, int, (void *surface, cairo_write write, void *closure))

typedef struct rsvg {
#define MEMBER(name, result, arguments) result(*name) arguments;
    FUNCTIONS(MEMBER)
#undef MEMBER
} rsvg;

/* Stays loaded: GLib can't be unloaded. */
static int load(const char *library, rsvg *ret_rsvg, aq_error *error)
{
    void *file = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    bool is_whole = file != NULL;
#define FIND(name, result, arguments)                                                              \
    if (is_whole) {                                                                                \
        void *symbol = dlsym(file, #name);                                                         \
        memcpy(&ret_rsvg->name, &symbol, sizeof(symbol));                                          \
        is_whole = symbol != NULL;                                                                 \
    }
    FUNCTIONS(FIND)
#undef FIND
    if (!is_whole) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a PNG of a chart needs librsvg 2.52 (Debian's librsvg2-2), an SVG needs "
                       "nothing: %s",
                       dlerror());
    }
    return 0;
}

static int fail(const rsvg *to, gerror *why, aq_error *error)
{
    int rc = aq_fail(error, AQ_E_INVALID, "librsvg: %s", why != NULL ? why->message : "no picture");
    if (why != NULL) {
        to->g_error_free(why);
    }
    return rc;
}

/* Where Cairo writes to. */
typedef struct png_sink {
    aq_buffer *out;
    int rc;
} png_sink;

static int take(void *closure, const unsigned char *bytes, unsigned size)
{
    png_sink *sink = closure;
    sink->rc = aq_buffer_append(sink->out, bytes, size);
    return sink->rc == 0 ? 0 : CAIRO_FAILED_TO_WRITE;
}

/* A surface that Cairo could not make is one that refuses to be drawn on and written. */
static int draw(const rsvg *to, void *handle, aq_buffer *out, aq_error *error)
{
    double width, height;
    if (!to->rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height)) {
        return fail(to, NULL, error);
    }
    const rsvg_rectangle place = {0, 0, PIXELS_PER_PX * width, PIXELS_PER_PX * height};
    void *surface =
        to->cairo_image_surface_create(CAIRO_RGB24, (int)place.width, (int)place.height);
    void *cairo = to->cairo_create(surface);
    const size_t size = out->size;
    png_sink sink = {.out = out};
    gerror *why = NULL;
    int rc = 0;
    if (!to->rsvg_handle_render_document(handle, cairo, &place, &why)) {
        rc = fail(to, why, error);
    } else if (to->cairo_surface_write_to_png_stream(surface, take, &sink) != 0) {
        out->size = size;
        rc = sink.rc != 0 ? sink.rc : AQ_E_NOMEM;
        (void)aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    to->cairo_destroy(cairo);
    to->cairo_surface_destroy(surface);
    return rc;
}

int aq_plot_png(const char *library, const aq_buffer *svg, aq_buffer *out, aq_error *error)
{
    rsvg to = {0};
    gerror *why = NULL;
    int rc = load(library, &to, error);
    if (rc != 0) {
        return rc;
    }
    void *handle = to.rsvg_handle_new_from_data(svg->data, svg->size, &why);
    if (handle == NULL) {
        return fail(&to, why, error);
    }
    rc = draw(&to, handle, out, error);
    to.g_object_unref(handle);
    return rc;
}
