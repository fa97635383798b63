/*
 * A learner's life in this process, of which nobody is a member.
 */
#include "common/net/daemon/daemon_security.h"
#include "learner/daemon/learner_net.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

static bool is_stuck;

bool __real_aq_net_is_stuck(void);
bool __wrap_aq_net_is_stuck(void);

bool __wrap_aq_net_is_stuck(void)
{
    return is_stuck || __real_aq_net_is_stuck();
}

TEST_IN(run_dir, dir, one_whose_transport_is_stuck_keeps_what_it_learned_and_is_to_be_started_again)
{
    const aq_run_config config = config_defaults();
    aq_daemon_security unprotected = {0};
    const aq_learner_options options = {.security = &unprotected,
                                        .listen_url = "tcp://127.0.0.1:0",
                                        .run_dir = run_dir_path(dir, "run")};
    bool is_lost = false;
    is_stuck = true;
    const int rc = aq_learner_run(&config, &options, &is_lost, &refusal);
    is_stuck = false;
    assert_refused(rc, AQ_E_PEER, "a connection could not be closed");
    assert_false(is_lost);
}
