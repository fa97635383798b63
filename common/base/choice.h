/*
 * Choice: a list of alternatives, from which its enum and its words are made, so that a new one is
 * one row and nothing can come into another order:
 *
 *   #define AQ_SIZES(X) X(AQ_SIZE_SMALL, "small") X(AQ_SIZE_LARGE, "large")
 *   enum aq_size { AQ_SIZES(AQ_CHOICE_CONSTANT) };
 *   static const char *const words[] = {AQ_SIZES(AQ_CHOICE_WORD) NULL};
 *
 * NULL ends the words.
 */
#ifndef AQ_COMMON_BASE_CHOICE_H
#define AQ_COMMON_BASE_CHOICE_H

#include <stdint.h>

#include "common/base/error.h"

#define AQ_CHOICE_CONSTANT(constant, word) constant,
#define AQ_CHOICE_WORD(constant, word)     word,

uint32_t aq_choice_count(const char *const *words);

/* The index of `text` among the words; AQ_E_INVALID when it is none of them. */
int aq_choice_find(const char *const *words, const char *text) AQ_MUST_USE;

#endif
