/*
 * Which functions a file carries, and the root that processors have and C99 has not.
 */
#include "quantizer/export/export_exact.h"

#include <stdint.h>

#include "common/base/assert.h"

/* clang-format off */
const char aq_exact_root_text[] =
    "\n"
    "/* The root of a number that is not negative, rounded to the nearest: its 54 leading bits,\n"
    " * of which the last one says where to round to (no root lies half way). 0 stays 0. */\n"
    "static double @_exact_root(double x)\n"
    "{\n"
    "    uint64_t bits, rest = 0, root = 0;\n"
    "    memcpy(&bits, &x, sizeof(bits));\n"
    "    const uint64_t exponent = bits >> 52;\n"
    "    uint64_t left = ((bits & 0xfffffffffffffu) | 0x10000000000000u)\n"
    "                    << (10 + (exponent + 1) % 2);\n"
    "    if (x == 0.0) {\n"
    "        return x;\n"
    "    }\n"
    "    for (int i = 0; i < 54; i++, left <<= 2) {\n"
    "        const uint64_t trial = root << 2 | 1;\n"
    "        rest = rest << 2 | left >> 62;\n"
    "        root = root << 1 | (rest >= trial);\n"
    "        rest -= rest >= trial ? trial : 0;\n"
    "    }\n"
    "    bits = (((exponent + 1023) / 2 - 1) << 52) + ((root + 1) >> 1);\n"
    "    memcpy(&x, &bits, sizeof(x));\n"
    "    return x;\n"
    "}\n";
/* clang-format on */

/* Whether a text that will be put names it. */
static bool is_named(const char *name, uint32_t wanted, const char *const *texts, size_t count)
{
    bool named = aq_export_texts_name(texts, count, name);
    for (size_t i = 0; aq_exact_texts[i].name != NULL && !named; i++) {
        named = (wanted >> i & 1) != 0 && aq_export_names(aq_exact_texts[i].text, name);
    }
    return named;
}

void aq_export_put_exact(aq_export_text *to, const char *const *texts, size_t count)
{
    uint32_t wanted = 0, rows = 0;
    while (aq_exact_texts[rows].name != NULL) {
        rows++;
    }
    AQ_ASSERT(rows <= 32);
    for (uint32_t i = rows; i-- > 0;) {
        wanted |= (uint32_t)is_named(aq_exact_texts[i].name, wanted, texts, count) << i;
    }
    for (uint32_t i = 0; i < rows; i++) {
        if ((wanted >> i & 1) != 0) {
            aq_export_put(to, aq_exact_texts[i].text);
        }
    }
}
