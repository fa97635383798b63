/*
 * Canvas: a picture of 8-bit RGB that environments draw themselves on, with y downwards and shapes
 * in fractions of the smaller side, so that a picture looks the same at any size. Shapes are cut at
 * the edge and have smooth borders. No state beyond the struct; the pixels are the caller's.
 */
#ifndef AQ_ENVS_CANVAS_H
#define AQ_ENVS_CANVAS_H

#include <stddef.h>
#include <stdint.h>

typedef struct aq_colour {
    uint8_t red, green, blue;
} aq_colour;

typedef struct aq_point {
    double x, y; /* 0, 0 is the middle; the smaller side goes from -0.5 to 0.5 */
} aq_point;

typedef struct aq_canvas {
    uint32_t width, height;
    uint8_t *pixels; /* (height, width, 3) */
} aq_canvas;

/* Pixels of the smaller side, which is the unit of a point's coordinates. */
static inline uint32_t aq_canvas_unit(const aq_canvas *canvas)
{
    return canvas->width < canvas->height ? canvas->width : canvas->height;
}

void aq_canvas_fill(aq_canvas *canvas, aq_colour colour);
void aq_canvas_disc(aq_canvas *canvas, aq_point centre, double radius, aq_colour colour);
/* A line of that thickness with round ends. */
void aq_canvas_stroke(aq_canvas *canvas, aq_point from, aq_point to, double thickness,
                      aq_colour colour);
/* A filled polygon of up to 16 corners, convex, in either direction. */
void aq_canvas_polygon(aq_canvas *canvas, const aq_point *corners, size_t count, aq_colour colour);
/* Cell (row, column) of a grid that fills the picture. */
void aq_canvas_cell(aq_canvas *canvas, uint32_t rows, uint32_t columns, uint32_t row,
                    uint32_t column, aq_colour colour);

#endif
