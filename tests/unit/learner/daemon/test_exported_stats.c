/*
 * What a status says is on the page for Prometheus.
 */
#include "learner/daemon/exported_stats.h"
#include "tests/support/test.h"

enum { PAGE_BYTES_MAX = 1 << 20 };

static bool page_says(const Actorq__V1__LearnerStatus *learner, const char *line)
{
    aq_buffer *text = buffer_up_to(PAGE_BYTES_MAX);
    aq_metrics_page page;
    Actorq__V1__StatusReply status = ACTORQ__V1__STATUS_REPLY__INIT;
    status.learner = (Actorq__V1__LearnerStatus *)(uintptr_t)learner;
    aq_metrics_page_begin(&page, text);
    aq_learner_export(&status, &page);
    assert_int_equal(aq_metrics_page_end(&page), 0);
    assert_int_equal(aq_buffer_append(text, "", 1), 0);
    return strstr((const char *)text->data, line) != NULL;
}

TEST(a_learner_that_is_stuck_shows)
{
    static char reason[] = "checkpoints: no space left on the device";
    Actorq__V1__LearnerStatus learner = ACTORQ__V1__LEARNER_STATUS__INIT;
    assert_true(page_says(&learner, "\nactorq_learner_stuck 0\n"));
    learner.trouble = reason;
    assert_true(page_says(&learner, "\nactorq_learner_stuck 1\n"));
}
