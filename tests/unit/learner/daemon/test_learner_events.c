/*
 * What the learner's log says of members.
 */
#include "learner/daemon/learner_events.h"
#include "learner/daemon/learner_parts.h"
#include "tests/support/test.h"
#include "tests/unit/common/sys/stderr_capture.h"

enum { CROWD = 1000, LINES_PER_S = 20 };

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* One of each kind, that of whoever is told last. */
static size_t lines_of(size_t members)
{
    static char output[1 << 16];
    static aq_learner_parts parts;
    const aq_run_config config = {.energy.carbon_intensity = 1};
    assert_int_equal(aq_energy_account_create(&config, &parts.folder, &parts.energy), 0);
    aq_learner_events events = {.parts = &parts};
    const aq_learner_service_owner owner = aq_learner_events_owner(&events);
    stderr_capture_begin();
    for (size_t i = 1; i <= members; i++) {
        const aq_member_record record = {.member = i, .role = AQ_ROLE_ACTOR};
        owner.joined(owner.user, &record, false);
        owner.left(owner.user, &record, "why");
    }
    (void)stderr_capture_end(output, sizeof(output));
    aq_energy_account_destroy(parts.energy);
    return count_lines(output);
}

TEST(each_of_a_few_members_has_its_lines)
{
    assert_int_equal(lines_of(LINES_PER_S), 2 * LINES_PER_S);
}

/* Who joins and leaves without end must not fill the disk. */
TEST(a_crowd_has_some_lines_a_second)
{
    const size_t lines = lines_of(CROWD);
    assert_in_range(lines, 2 * LINES_PER_S, CROWD / 2);
}
