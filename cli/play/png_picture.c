/*
 * PNG picture: see png_picture.h. libpng's simplified interface writes it: it reports by return
 * value, where the other one jumps.
 */
#include "cli/play/png_picture.h"

#include <png.h>

#include "common/base/memory.h"

int aq_png_picture(uint32_t width, uint32_t height, const uint8_t *pixels, aq_buffer *out)
{
    png_image image = {
        .version = PNG_IMAGE_VERSION,
        .width = width,
        .height = height,
        .format = PNG_FORMAT_RGB,
    };
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    uint8_t *bytes = aq_alloc_unset(1, size);
    if (bytes == NULL) {
        return AQ_E_NOMEM;
    }
    /* The bytes are enough for any picture of that size, so memory is what it can run out of. */
    int rc = png_image_write_to_memory(&image, bytes, &size, 0, pixels, 0, NULL)
                 ? aq_buffer_append(out, bytes, size)
                 : AQ_E_NOMEM;
    png_image_free(&image);
    aq_free(bytes);
    return rc;
}
