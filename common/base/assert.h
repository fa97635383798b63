/*
 * Assertions: our own faults, in every build. A peer's fault is an error, never an assertion.
 * The condition has no side effects and states one thing.
 */
#ifndef AQ_COMMON_BASE_ASSERT_H
#define AQ_COMMON_BASE_ASSERT_H

#define AQ_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : aq_assert_failed(#condition, __FILE__, __LINE__))

/* Prints the condition and its place to standard error, and aborts. */
_Noreturn void aq_assert_failed(const char *condition, const char *file, int line);

#endif
