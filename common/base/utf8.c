/*
 * UTF-8 as RFC 3629 defines it.
 */
#include "common/base/utf8.h"

size_t aq_utf8_decode(const char *text, uint32_t *ret_code_point)
{
    /* The first code point that needs this many bytes: anything below is an overlong form. */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t lead = (uint8_t)text[0];
    size_t size;

    if (lead < 0x80) {
        if (lead == 0) {
            return 0;
        }
        *ret_code_point = lead;
        return 1;
    }
    if ((lead & 0xe0) == 0xc0) {
        size = 2;
    } else if ((lead & 0xf0) == 0xe0) {
        size = 3;
    } else if ((lead & 0xf8) == 0xf0) {
        size = 4;
    } else {
        return 0;
    }
    uint32_t code_point = lead & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        uint8_t next = (uint8_t)text[i]; /* the terminator is no continuation: it ends here */

        if ((next & 0xc0) != 0x80) {
            return 0;
        }
        code_point = code_point << 6 | (next & 0x3f);
    }
    if (code_point < least[size] || code_point > 0x10ffff ||
        (code_point >= 0xd800 && code_point <= 0xdfff)) {
        return 0;
    }
    *ret_code_point = code_point;
    return size;
}

bool aq_utf8_is_plain(const char *text)
{
    while (*text != '\0') {
        uint32_t code_point = 0;
        const size_t size = aq_utf8_decode(text, &code_point);
        if (size == 0 || aq_utf8_is_control(code_point)) {
            return false;
        }
        text += size;
    }
    return true;
}
