/*
 * Carbon intensity: see carbon_intensity.h. Figures only, of the sources that stand beside them.
 */
#include "common/energy/carbon_intensity.h"

#include <stddef.h>
#include <strings.h>

static const char our_world_in_data[] =
    "Our World in Data, as in CodeCarbon 3's global_energy_mix.json";
static const char iea[] = "IEA, Global Energy & CO2 Status Report 2019";

static const aq_carbon_intensity rows[] = {
    {"WORLD", "World", 475.0, 2018, iea},
    {"AUS", "Australia", 548.7, 2023, our_world_in_data},
    {"BRA", "Brazil", 98.3, 2023, our_world_in_data},
    {"CAN", "Canada", 170.0, 2023, our_world_in_data},
    {"CHN", "China", 582.3, 2023, our_world_in_data},
    {"DEU", "Germany", 381.0, 2023, our_world_in_data},
    {"FRA", "France", 56.0, 2023, our_world_in_data},
    {"GBR", "United Kingdom", 237.6, 2023, our_world_in_data},
    {"IND", "India", 713.4, 2023, our_world_in_data},
    {"IRL", "Ireland", 290.8, 2023, our_world_in_data},
    {"JPN", "Japan", 485.4, 2023, our_world_in_data},
    {"KOR", "South Korea", 430.6, 2023, our_world_in_data},
    {"NLD", "Netherlands", 267.6, 2023, our_world_in_data},
    {"NOR", "Norway", 30.1, 2023, our_world_in_data},
    {"POL", "Poland", 661.9, 2023, our_world_in_data},
    {"SWE", "Sweden", 40.7, 2023, our_world_in_data},
    {"USA", "United States", 369.5, 2023, our_world_in_data},
    {"ZAF", "South Africa", 707.7, 2023, our_world_in_data},
};

const aq_carbon_intensity *aq_carbon_intensity_find(const char *code)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcasecmp(rows[i].code, code) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

double aq_carbon_grams(double joules, double g_per_kwh, double pue)
{
    static const double JOULES_PER_KWH = 3.6e6;
    return joules / JOULES_PER_KWH * pue * g_per_kwh;
}
