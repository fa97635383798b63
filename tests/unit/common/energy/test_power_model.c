/*
 * The power model in closed form, the table behind it, and what joules weigh in carbon.
 */
#include "common/energy/carbon_intensity.h"
#include "common/energy/power_model.h"
#include "tests/support/test.h"

static bool is_near(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-12 * fmax(1, fabs(wanted));
}

/* ---- power --------------------------------------------------------------------------------- */

TEST(full_load_takes_the_tdp_and_none_the_idle_share)
{
    aq_power_model model = aq_power_model_of("unheard of", 8, 100);
    assert_int_equal(model.origin, AQ_POWER_SETTING);
    const double wall_s = 60;
    double idle_j = aq_power_model_idle_j(&model, wall_s);
    double full_j = idle_j + aq_power_model_busy_j(&model, 8 * wall_s);
    double half_j = idle_j + aq_power_model_busy_j(&model, 4 * wall_s);
    assert_true(is_near(idle_j, 0.1 * 100 * 60));
    assert_true(is_near(full_j, 100 * 60));
    assert_true(is_near(half_j, (0.1 + 0.9 * 0.5) * 100 * 60));
}

TEST(a_part_of_a_package_has_that_part_of_its_tdp)
{
    aq_power_model model = aq_power_model_of("AMD EPYC 7763 64-Core Processor", 4, 0);
    assert_int_equal(model.origin, AQ_POWER_TABLE);
    assert_true(is_near(model.cpu_w, 280.0 / 128));
    assert_true(is_near(model.tdp_w, 4 * 280.0 / 128));
    aq_power_model whole = aq_power_model_of("AMD EPYC 7763 64-Core Processor", 128, 0);
    assert_true(is_near(whole.tdp_w, 280));
}

TEST(two_sockets_take_twice_as_much)
{
    aq_power_model model =
        aq_power_model_of("Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz", 112, 0);
    assert_true(is_near(model.tdp_w, 2 * 205));
}

TEST(an_unknown_processor_takes_four_watts_each)
{
    static const char *const names[] = {"AMD EPYC", "", "AMD EPYC 96541", "Ryzen 5 3600X"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        aq_power_model model = aq_power_model_of(names[i], 2, 0);
        assert_int_equal(model.origin, AQ_POWER_UNKNOWN);
        assert_true(is_near(model.tdp_w, 8));
    }
}

TEST(a_machine_has_at_least_one_processor)
{
    aq_power_model model = aq_power_model_of("x", 0, 10);
    assert_int_equal(model.cpus, 1);
    assert_true(is_near(model.cpu_w, 10));
}

/* ---- carbon -------------------------------------------------------------------------------- */

TEST(a_kilowatt_hour_weighs_the_intensity)
{
    assert_true(is_near(aq_carbon_grams(3.6e6, 381, 1), 381));
    assert_true(is_near(aq_carbon_grams(1.8e6, 381, 1.5), 381 * 0.75));
    assert_true(aq_carbon_grams(0, 381, 1.5) == 0);
}

TEST(a_country_is_found_in_either_case)
{
    const aq_carbon_intensity *row = aq_carbon_intensity_find("deu");
    assert_non_null(row);
    assert_ptr_equal(row, aq_carbon_intensity_find("DEU"));
    assert_string_equal(row->name, "Germany");
    assert_true(row->g_per_kwh == 381.0);
    assert_int_equal(row->year, 2023);
    assert_non_null(strstr(row->source, "Our World in Data"));
    assert_null(aq_carbon_intensity_find("QQQ"));
    assert_null(aq_carbon_intensity_find(""));
}
