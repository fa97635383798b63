/*
 * A disk that is soon full: a small tmpfs that this process sees, with those that it starts from
 * then on, and nobody else.
 */
#ifndef AQ_TESTS_SUPPORT_SMALL_DISK_H
#define AQ_TESTS_SUPPORT_SMALL_DISK_H

#include <stdbool.h>
#include <stddef.h>

/* At this folder, until the test is over; false where this process may not mount anything, which
 * not every host gives, and who is not root may not once there are threads. */
bool small_disk_mount(const char *folder, size_t bytes);

/* Writes a file until there is no room left at all. */
void small_disk_fill(const char *path);

#endif
