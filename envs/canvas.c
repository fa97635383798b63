/*
 * How much of a pixel a shape covers is told from the signed distance of the pixel's middle to the
 * shape's border, in pixels: all of it from half a pixel inside, nothing from half a pixel outside,
 * and a straight line between. That is exact for straight borders along the axes and off by little
 * elsewhere, for the price of one square root at the border and none away from it.
 *
 * Only the pixels of a shape's bounding box are visited, so small shapes on large pictures are
 * cheap. A shape with a coordinate that is not finite is not drawn: a state that has blown up shall
 * be seen to be missing, not stop a program.
 */
#include "envs/canvas.h"

#include <math.h>
#include <stdbool.h>

#include "common/base/assert.h"

enum { CORNERS_MAX = 16 };

/* Pixels first .. end - 1 in each direction. */
typedef struct pixel_box {
    uint32_t first_row, end_row, first_column, end_column;
} pixel_box;

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* In pixels from the middle of the first one. */
static aq_point to_pixels(const aq_canvas *canvas, aq_point point)
{
    double scale = aq_canvas_unit(canvas);
    return (aq_point){point.x * scale + 0.5 * canvas->width - 0.5,
                      point.y * scale + 0.5 * canvas->height - 0.5};
}

static uint32_t clamp_pixel(double position, uint32_t size)
{
    return position <= 0 ? 0 : position >= size ? size : (uint32_t)position;
}

/* The pixels within `reach` of a rectangle, all in pixels; none when one is not finite. */
static pixel_box box_around(const aq_canvas *canvas, aq_point low, aq_point high, double reach)
{
    if (!isfinite(low.x + low.y + high.x + high.y + reach)) {
        return (pixel_box){0};
    }
    return (pixel_box){
        .first_row = clamp_pixel(floor(low.y - reach), canvas->height),
        .end_row = clamp_pixel(floor(high.y + reach) + 2, canvas->height),
        .first_column = clamp_pixel(floor(low.x - reach), canvas->width),
        .end_column = clamp_pixel(floor(high.x + reach) + 2, canvas->width),
    };
}

static uint8_t *pixel_at(aq_canvas *canvas, uint32_t row, uint32_t column)
{
    return canvas->pixels + ((size_t)row * canvas->width + column) * 3;
}

static void set_pixel(uint8_t *pixel, aq_colour colour)
{
    pixel[0] = colour.red;
    pixel[1] = colour.green;
    pixel[2] = colour.blue;
}

static uint8_t mix(uint8_t under, uint8_t over, double share)
{
    return (uint8_t)(under + (over - under) * share + 0.5);
}

static void blend_pixel(uint8_t *pixel, aq_colour colour, double share)
{
    if (share >= 1) {
        set_pixel(pixel, colour);
    } else if (share > 0) {
        pixel[0] = mix(pixel[0], colour.red, share);
        pixel[1] = mix(pixel[1], colour.green, share);
        pixel[2] = mix(pixel[2], colour.blue, share);
    }
}

void aq_canvas_fill(aq_canvas *canvas, aq_colour colour)
{
    uint8_t *pixel = canvas->pixels;
    for (size_t i = (size_t)canvas->width * canvas->height; i > 0; i--, pixel += 3) {
        set_pixel(pixel, colour);
    }
}

/* How much of the pixel's width lies within `radius` of a line whose middle is `distance` away.
 * For a line thinner than a pixel that is its thickness, so that it is paler, not wider. */
static double cover(double distance, double radius)
{
    return smaller(distance + 0.5, radius) - larger(distance - 0.5, -radius);
}

void aq_canvas_disc(aq_canvas *canvas, aq_point centre, double radius, aq_colour colour)
{
    aq_canvas_stroke(canvas, centre, centre, 2 * radius, colour);
}

void aq_canvas_stroke(aq_canvas *canvas, aq_point from, aq_point to, double thickness,
                      aq_colour colour)
{
    const aq_point a = to_pixels(canvas, from), b = to_pixels(canvas, to);
    const double radius = 0.5 * thickness * aq_canvas_unit(canvas);
    const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    const double inside = larger(radius - 0.5, 0), outside = radius + 0.5;
    if (!(radius > 0) || !isfinite(square)) {
        return;
    }
    const pixel_box box = box_around(canvas, (aq_point){smaller(a.x, b.x), smaller(a.y, b.y)},
                                     (aq_point){larger(a.x, b.x), larger(a.y, b.y)}, outside);
    for (uint32_t row = box.first_row; row < box.end_row; row++) {
        uint8_t *pixel = pixel_at(canvas, row, box.first_column);
        for (uint32_t column = box.first_column; column < box.end_column; column++, pixel += 3) {
            /* The nearest point of the line is `along` of the way from a to b. */
            double x = column - a.x, y = row - a.y;
            double along = square > 0 ? (x * dx + y * dy) / square : 0;
            along = smaller(larger(along, 0), 1);
            x -= along * dx;
            y -= along * dy;
            double far = x * x + y * y;
            if (far < inside * inside) {
                set_pixel(pixel, colour);
            } else if (far < outside * outside) {
                blend_pixel(pixel, colour, cover(sqrt(far), radius));
            }
        }
    }
}

/* An edge of a polygon: how far a pixel is outside of it is x nx + y ny - offset. */
typedef struct edge {
    double nx, ny, offset;
} edge;

/* The edges of the polygon with these corners in pixels, normals outwards; how many there are, as
 * those without length are left out. */
static size_t make_edges(const aq_point *corners, size_t count, edge *edges)
{
    double area = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const aq_point a = corners[i], b = corners[(i + 1) % count];
        area += a.x * b.y - b.x * a.y;
    }
    for (size_t i = 0; i < count; i++) {
        const aq_point a = corners[i], b = corners[(i + 1) % count];
        const double length = hypot(b.x - a.x, b.y - a.y);
        if (length > 0) {
            const double side = area > 0 ? 1 / length : -1 / length;
            edge *e = &edges[used++];
            e->nx = (b.y - a.y) * side;
            e->ny = (a.x - b.x) * side;
            e->offset = a.x * e->nx + a.y * e->ny;
        }
    }
    return area != 0 ? used : 0;
}

void aq_canvas_polygon(aq_canvas *canvas, const aq_point *corners, size_t count, aq_colour colour)
{
    aq_point points[CORNERS_MAX], low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    edge edges[CORNERS_MAX];
    AQ_ASSERT(count >= 3);
    AQ_ASSERT(count <= CORNERS_MAX);
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        points[i] = to_pixels(canvas, corners[i]);
        low = (aq_point){smaller(low.x, points[i].x), smaller(low.y, points[i].y)};
        high = (aq_point){larger(high.x, points[i].x), larger(high.y, points[i].y)};
        finite = finite && isfinite(points[i].x + points[i].y);
    }
    const size_t edge_count = finite ? make_edges(points, count, edges) : 0;
    if (edge_count == 0) {
        return;
    }
    const pixel_box box = box_around(canvas, low, high, 0.5);
    for (uint32_t row = box.first_row; row < box.end_row; row++) {
        uint8_t *pixel = pixel_at(canvas, row, box.first_column);
        for (uint32_t column = box.first_column; column < box.end_column; column++, pixel += 3) {
            /* What each edge cuts off is added up: right for slivers that two edges cut. */
            double share = 1;
            for (size_t i = 0; i < edge_count && share > 0; i++) {
                double out = column * edges[i].nx + row * edges[i].ny - edges[i].offset;
                share -= larger(out + 0.5, 0);
            }
            blend_pixel(pixel, colour, share);
        }
    }
}

/* Where cell `index` of `count` begins among `size` pixels. */
static uint32_t cell_start(uint32_t index, uint32_t count, uint32_t size)
{
    return (uint32_t)((uint64_t)index * size / count);
}

void aq_canvas_cell(aq_canvas *canvas, uint32_t rows, uint32_t columns, uint32_t row,
                    uint32_t column, aq_colour colour)
{
    AQ_ASSERT(row < rows);
    AQ_ASSERT(column < columns);
    const uint32_t end_row = cell_start(row + 1, rows, canvas->height);
    const uint32_t first_column = cell_start(column, columns, canvas->width);
    const uint32_t end_column = cell_start(column + 1, columns, canvas->width);
    for (uint32_t y = cell_start(row, rows, canvas->height); y < end_row; y++) {
        for (uint32_t x = first_column; x < end_column; x++) {
            set_pixel(pixel_at(canvas, y, x), colour);
        }
    }
}
