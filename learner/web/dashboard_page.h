/*
 * Dashboard page: HTML, styles, scripts and the chart library as one document, put together at
 * build time by tools/dashboard_page.py. Any thread; no state.
 */
#ifndef AQ_LEARNER_WEB_DASHBOARD_PAGE_H
#define AQ_LEARNER_WEB_DASHBOARD_PAGE_H

#include <stddef.h>
#include <stdint.h>

extern const uint8_t aq_dashboard_page[];
extern const size_t aq_dashboard_page_bytes;

#endif
