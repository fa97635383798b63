/*
 * Preset texts: the files of configs/ in the order of configs/meson.build, made into C by
 * tools/preset_texts.py. Only preset.c includes this.
 */
#ifndef AQ_COMMON_CONFIG_PRESET_TEXTS_H
#define AQ_COMMON_CONFIG_PRESET_TEXTS_H

#include <stddef.h>

typedef struct aq_preset_text {
    const char *name, *text;
} aq_preset_text;

extern const aq_preset_text aq_preset_texts[];
extern const size_t aq_preset_text_count;

#endif
