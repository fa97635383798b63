/*
 * Written from the specification, without regard to how the writer does it.
 */
#include "tests/unit/cli/gif_reader.h"

#include "tests/support/test.h"

enum { CODES_MAX = 4096, NONE = 0xffff };

static uint8_t next_byte(gif_reader *r)
{
    assert_true(r->at < r->size);
    return r->bytes[r->at++];
}

static uint32_t next_u16(gif_reader *r)
{
    const uint32_t low = next_byte(r);
    return low | (uint32_t)next_byte(r) << 8;
}

void gif_reader_open(gif_reader *r, const uint8_t *bytes, size_t size)
{
    memset(r, 0, sizeof(*r));
    r->bytes = bytes;
    r->size = size;
    assert_true(size > 13);
    assert_memory_equal(bytes, "GIF89a", 6);
    r->at = 6;
    r->width = next_u16(r);
    r->height = next_u16(r);
    assert_in_range(r->width, 1, GIF_SIDE_MAX);
    assert_in_range(r->height, 1, GIF_SIDE_MAX);
    assert_int_equal(next_byte(r) & 0x80, 0); /* no palette for all */
    (void)next_u16(r);
}

/* ---- LZW ------------------------------------------------------------------------------------ */

/* The table of codes: each is another code and one index more. */
typedef struct codes {
    uint16_t before[CODES_MAX];
    uint8_t last[CODES_MAX];
    uint8_t first[CODES_MAX];
    uint32_t length[CODES_MAX];
    uint32_t next, width, bits;
} codes;

static void clear(codes *c)
{
    const uint32_t roots = 1U << c->bits;
    for (uint32_t i = 0; i < roots; i++) {
        c->before[i] = NONE;
        c->first[i] = c->last[i] = (uint8_t)i;
        c->length[i] = 1;
    }
    c->next = roots + 2;
    c->width = c->bits + 1;
}

/* Bits of the sub-blocks. */
typedef struct bit_source {
    gif_reader *r;
    uint32_t left_in_block, held, held_count;
} bit_source;

static uint32_t take_code(bit_source *source, uint32_t width)
{
    while (source->held_count < width) {
        if (source->left_in_block == 0) {
            source->left_in_block = next_byte(source->r);
            assert_int_not_equal(source->left_in_block, 0);
        }
        source->held |= (uint32_t)next_byte(source->r) << source->held_count;
        source->held_count += 8;
        source->left_in_block--;
    }
    const uint32_t code = source->held & ((1U << width) - 1);
    source->held >>= width;
    source->held_count -= width;
    return code;
}

/* Writes what the code stands for behind `count` indices; returns how many there are then. */
static size_t put(gif_reader *r, const codes *c, uint32_t code, size_t count, size_t count_max)
{
    const size_t end = count + c->length[code];
    assert_true(end <= count_max);
    for (size_t i = end; i > count; i--) {
        r->indices[i - 1] = c->last[code];
        code = c->before[code];
    }
    assert_int_equal(code, NONE);
    return end;
}

static void add(codes *c, uint32_t before, uint8_t last)
{
    if (c->next == CODES_MAX) {
        return;
    }
    c->before[c->next] = (uint16_t)before;
    c->last[c->next] = last;
    c->first[c->next] = c->first[before];
    c->length[c->next] = c->length[before] + 1;
    c->next++;
    if (c->next == 1U << c->width && c->width < 12) {
        c->width++;
    }
}

static void read_indices(gif_reader *r, size_t count_wanted)
{
    static codes c;
    bit_source source = {.r = r};
    uint32_t before = NONE;
    size_t count = 0;
    c.bits = next_byte(r);
    assert_in_range(c.bits, 2, 8);
    clear(&c);
    for (;;) {
        const uint32_t code = take_code(&source, c.width);
        if (code == (1U << c.bits) + 1) {
            break;
        }
        if (code == 1U << c.bits) {
            clear(&c);
            before = NONE;
            continue;
        }
        if (before != NONE) {
            assert_true(code <= c.next);
            add(&c, before, code < c.next ? c.first[code] : c.first[before]);
        }
        assert_true(code < c.next);
        count = put(r, &c, code, count, count_wanted);
        before = code;
    }
    assert_int_equal(count, count_wanted);
    assert_int_equal(source.left_in_block, 0);
    assert_int_equal(next_byte(r), 0);
}

/* ---- frames --------------------------------------------------------------------------------- */

static void read_extension(gif_reader *r)
{
    const uint8_t kind = next_byte(r), size = next_byte(r);
    if (kind == 0xf9) {
        assert_int_equal(size, 4);
        assert_int_equal(next_byte(r), 1 << 2); /* stays, nothing is transparent */
        r->delay_cs = next_u16(r);
        (void)next_byte(r);
        assert_int_equal(next_byte(r), 0);
        return;
    }
    assert_int_equal(kind, 0xff);
    assert_int_equal(size, 11);
    assert_memory_equal(r->bytes + r->at, "NETSCAPE2.0", 11);
    r->at += 11;
    assert_int_equal(next_byte(r), 3);
    assert_int_equal(next_byte(r), 1);
    r->repeats = next_u16(r) == 0;
    assert_int_equal(next_byte(r), 0);
}

static void read_frame(gif_reader *r)
{
    uint8_t palette[256 * 3];
    r->left = next_u16(r);
    r->top = next_u16(r);
    r->frame_width = next_u16(r);
    r->frame_height = next_u16(r);
    assert_true(r->frame_width > 0 && r->left + r->frame_width <= r->width);
    assert_true(r->frame_height > 0 && r->top + r->frame_height <= r->height);
    const uint8_t flags = next_byte(r);
    assert_int_equal(flags & 0xc0, 0x80); /* a palette, rows in order */
    const size_t colours = (size_t)2 << (flags & 7);
    assert_true(r->at + colours * 3 <= r->size);
    memcpy(palette, r->bytes + r->at, colours * 3);
    r->at += colours * 3;
    read_indices(r, (size_t)r->frame_width * r->frame_height);
    for (uint32_t i = 0; i < r->frame_width * r->frame_height; i++) {
        const uint32_t row = r->top + i / r->frame_width, column = r->left + i % r->frame_width;
        assert_true(r->indices[i] < colours);
        memcpy(r->pixels + (row * r->width + column) * 3, palette + r->indices[i] * 3, 3);
    }
}

bool gif_reader_next(gif_reader *r)
{
    for (;;) {
        const uint8_t block = next_byte(r);
        if (block == 0x3b) {
            assert_int_equal(r->at, r->size);
            return false;
        }
        if (block == 0x2c) {
            read_frame(r);
            return true;
        }
        assert_int_equal(block, 0x21);
        read_extension(r);
    }
}
