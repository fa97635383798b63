/*
 * Base64, the strict half of its dialects: what decodes, decodes in one way only.
 */
#include "common/net/security/base64.h"

#include "common/base/memory.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *aq_base64_encode(const uint8_t *bytes, size_t size)
{
    size_t length = 0;

    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    char *text = aq_alloc((size + 2) / 3 * 4 + 1, 1);
    if (text == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < size; i += 3) {
        size_t rest = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (rest > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (rest > 2 ? bytes[i + 2] : 0);

        text[length++] = letters[group >> 18];
        text[length++] = letters[group >> 12 & 63];
        text[length++] = rest > 1 ? letters[group >> 6 & 63] : '=';
        text[length++] = rest > 2 ? letters[group & 63] : '=';
    }
    return text;
}

/* 0 to 63, or -1. */
static int letter_value(char letter)
{
    if (letter >= 'A' && letter <= 'Z') {
        return letter - 'A';
    }
    if (letter >= 'a' && letter <= 'z') {
        return letter - 'a' + 26;
    }
    if (letter >= '0' && letter <= '9') {
        return letter - '0' + 52;
    }
    if (letter == '+' || letter == '-') {
        return 62;
    }
    return letter == '/' || letter == '_' ? 63 : -1;
}

/* The length without padding; SIZE_MAX when the padding is not what the length asks for. */
static size_t strip_padding(const char *text, size_t length)
{
    size_t bare = length;

    while (bare > 0 && text[bare - 1] == '=') {
        bare--;
    }
    if (bare % 4 == 1 || (bare != length && (length % 4 != 0 || length - bare > 2))) {
        return SIZE_MAX;
    }
    return bare;
}

int aq_base64_decode(const char *text, size_t length, uint8_t **ret_bytes, size_t *ret_size)
{
    size_t bare = strip_padding(text, length);
    size_t size = 0;
    uint32_t bits = 0;
    unsigned bit_count = 0;

    if (bare == SIZE_MAX) {
        return AQ_E_INVALID;
    }
    uint8_t *bytes = aq_alloc(bare / 4 * 3 + 3, 1);
    if (bytes == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < bare; i++) {
        int value = letter_value(text[i]);

        if (value < 0) {
            goto invalid;
        }
        bits = bits << 6 | (uint32_t)value;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            bytes[size++] = (uint8_t)(bits >> bit_count);
            bits &= (1U << bit_count) - 1;
        }
    }
    if (bits != 0) { /* two texts would stand for the same bytes */
        goto invalid;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return 0;

invalid:
    aq_free(bytes);
    return AQ_E_INVALID;
}
