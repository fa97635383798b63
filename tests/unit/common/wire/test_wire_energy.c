/*
 * What processes say of their energy: over the wire and back, and what is not believed.
 */
#include <time.h>

#include "common/base/clock.h"
#include "common/energy/energy_meter.h"
#include "common/wire/wire_energy.h"
#include "tests/support/test.h"
#include "tests/unit/common/member/member_fake.h"

static const aq_energy_reading good = {
    .machine = 5,
    .processor = "Ant 9000",
    .cpus = 4,
    .source = "rapl",
    .wall_s = 10,
    .cpu_s = 12,
    .measured_j = 100,
    .machine_j = 300,
    .dram_j = 30,
    .idle_j = 150,
};

static int read_back(const aq_energy_reading *said, aq_energy_reading *ret_heard)
{
    aq_wire_energy energy;
    aq_wire_energy_to(said, &energy);
    return aq_wire_energy_from(&energy.message, ret_heard);
}

TEST(a_reading_arrives_as_it_was)
{
    aq_energy_reading heard;
    assert_int_equal(read_back(&good, &heard), 0);
    assert_true(heard.machine == 5 && heard.cpus == 4);
    assert_string_equal(heard.processor, "Ant 9000");
    assert_string_equal(heard.source, "rapl");
    assert_true(heard.wall_s == 10 && heard.cpu_s == 12 && heard.measured_j == 100);
    assert_true(heard.machine_j == 300 && heard.dram_j == 30 && heard.idle_j == 150);
}

TEST(joules_of_no_known_source_mean_nothing)
{
    static const char *const sources[] = {"", "magic"};
    for (size_t i = 0; i < 2; i++) {
        aq_energy_reading said = good, heard;
        strcpy(said.source, sources[i]);
        assert_int_equal(read_back(&said, &heard), 0);
        assert_string_equal(heard.source, "");
        assert_true(heard.machine_j == 0 && heard.measured_j == 0);
        assert_true(heard.cpu_s == 12);
    }
}

TEST(numbers_that_cannot_be_are_refused)
{
    aq_energy_reading bad[12], heard = {.cpu_s = 77};
    for (size_t i = 0; i < 12; i++) {
        bad[i] = good;
    }
    bad[0].cpu_s = NAN;
    bad[1].cpu_s = -1;
    bad[2].wall_s = INFINITY;
    bad[3].machine = 0;
    bad[4].cpus = 0;
    bad[5].cpus = 70000;
    bad[6].machine_j = NAN;
    bad[7].measured_j = -0.5;
    bad[8].measured_j = 200; /* with the idle share more than there is */
    bad[9].dram_j = 301;
    bad[10].idle_j = INFINITY;
    bad[11].machine_j = 1e300;
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(read_back(&bad[i], &heard), AQ_E_INVALID);
        assert_true(heard.cpu_s == 77);
    }
}

TEST(names_are_plain_and_short)
{
    aq_wire_energy energy;
    aq_energy_reading heard;
    char name[200];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    aq_wire_energy_to(&good, &energy);
    energy.message.processor = name;
    assert_int_equal(aq_wire_energy_from(&energy.message, &heard), 0);
    assert_int_equal(strlen(heard.processor), AQ_PROCESSOR_NAME_MAX - 1);
    strcpy(name, "a\033[31m");
    assert_int_equal(aq_wire_energy_from(&energy.message, &heard), 0);
    assert_string_equal(heard.processor, "");
}

/* ---- members ------------------------------------------------------------------------------- */

static aq_energy_meter *meter;

static int metered_setup(void **state)
{
    static member_fake fake;
    *state = &fake;
    int rc = aq_energy_meter_create(NULL, 0, &meter);
    return rc != 0 ? rc : fake_open_metered(&fake, 99, meter);
}

static int metered_teardown(void **state)
{
    fake_close(*state);
    aq_energy_meter_destroy(meter);
    return 0;
}

/* Takes two milliseconds of processor time. */
static void work(void)
{
    const clock_t begun = clock();
    while (clock() - begun < CLOCKS_PER_SEC / 500) {
    }
}

TEST_WITH(heartbeats_and_the_last_word_tell_energy_since_joining, metered_setup, metered_teardown)
{
    member_fake *fake = *state;
    aq_energy_reading waited, now;
    aq_energy_meter_read(meter, aq_clock_monotonic_ns(), &waited);
    fake_settle(fake);
    work();
    fake_wait_for_call(fake, 1000);
    Actorq__V1__HeartbeatRequest *beat =
        (void *)fake_request(fake, "Heartbeat", &actorq__v1__heartbeat_request__descriptor);
    assert_non_null(beat->energy);
    double cpu_s = beat->energy->cpu_s;
    aq_energy_meter_read(meter, aq_clock_monotonic_ns(), &now);
    assert_true(cpu_s >= 0.001);
    assert_true(cpu_s <= now.cpu_s - waited.cpu_s);
    assert_true(beat->energy->wall_s > 0);
    assert_true(beat->energy->wall_s <= now.wall_s - waited.wall_s);
    fake_beat answer;
    fake_beat_init(&answer);
    fake_reply(fake, &answer.reply.base);
    fake_leave(fake);
    Actorq__V1__LeaveRequest *leave =
        (void *)fake_request(fake, "Leave", &actorq__v1__leave_request__descriptor);
    assert_non_null(leave->energy);
    assert_true(leave->energy->cpu_s >= cpu_s);
    fake_lose(fake, AQ_E_TIMEOUT);
}

TEST_WITH(a_join_that_is_taken_back_bills_nothing_of_before, metered_setup, metered_teardown)
{
    member_fake *fake = *state;
    aq_energy_reading before;
    work();
    aq_energy_meter_read(meter, aq_clock_monotonic_ns(), &before);
    fake_pass(fake, 0);
    fake_leave(fake);
    fake_reply(fake, &fake->join.reply.base);
    Actorq__V1__LeaveRequest *leave =
        (void *)fake_request(fake, "Leave", &actorq__v1__leave_request__descriptor);
    assert_true(leave->energy->cpu_s < before.cpu_s);
    assert_true(leave->energy->wall_s < before.wall_s);
    fake_lose(fake, AQ_E_TIMEOUT);
}

TEST_OF_MEMBER(without_a_meter_nothing_is_told)
{
    fake_settle(fake);
    fake_wait_for_call(fake, 1000);
    Actorq__V1__HeartbeatRequest *beat =
        (void *)fake_request(fake, "Heartbeat", &actorq__v1__heartbeat_request__descriptor);
    assert_null(beat->energy);
    fake_lose(fake, AQ_E_TIMEOUT);
}
