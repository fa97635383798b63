/*
 * Power model: see power_model.h.
 *
 * The table holds processors that are met in clouds and on desks, by the part of the name that
 * tells them from others: default TDP and logical processors of one package, as the makers' data
 * sheets give them (those of Intel that clouds alone have: as the clouds' users cite them).
 */
#include "common/energy/power_model.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct tdp_row {
    const char *name;
    double tdp_w;
    uint32_t cpus;
} tdp_row;

static const tdp_row tdp_rows[] = {
    {"EPYC 9965", 500, 384},      {"EPYC 9755", 500, 256},    {"EPYC 9655", 400, 192},
    {"EPYC 9555", 360, 128},      {"EPYC 9754", 360, 256},    {"EPYC 9654", 360, 192},
    {"EPYC 9554", 360, 128},      {"EPYC 9454", 290, 96},     {"EPYC 7763", 280, 128},
    {"EPYC 7713", 225, 128},      {"EPYC 7543", 225, 64},     {"EPYC 7742", 225, 128},
    {"EPYC 7702", 200, 128},      {"EPYC 7551", 180, 64},     {"Platinum 8490H", 350, 120},
    {"Platinum 8480", 350, 112},  {"Platinum 8380", 270, 80}, {"Platinum 8280", 205, 56},
    {"Platinum 8275CL", 240, 48}, {"Gold 6248", 150, 40},     {"Gold 6230", 125, 40},
    {"Gold 6148", 150, 40},       {"E5-2690 v4", 135, 28},    {"E5-2680 v4", 120, 28},
    {"E5-2650 v4", 105, 24},      {"i9-13900K", 125, 32},     {"i9-12900K", 125, 24},
    {"i9-9900K", 95, 16},         {"i7-8700K", 95, 12},       {"i7-8550U", 15, 8},
    {"i5-8250U", 15, 8},          {"Ryzen 9 7950X", 170, 32}, {"Ryzen 9 5950X", 105, 32},
    {"Ryzen 9 5900X", 105, 24},   {"Ryzen 9 3900X", 105, 24}, {"Ryzen 7 5800X", 105, 16},
    {"Ryzen 7 3700X", 65, 16},    {"Ryzen 5 5600X", 65, 12},  {"Ryzen 5 3600", 65, 12},
};

/* Whole words: "EPYC 9654" is not within "EPYC 96545", and "Ryzen 5 3600" not within "3600X". */
static bool holds(const char *processor, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(processor, name); at; at = strstr(at + 1, name)) {
        bool begins = at == processor || !isalnum((unsigned char)at[-1]);
        if (begins && !isalnum((unsigned char)at[length])) {
            return true;
        }
    }
    return false;
}

static const tdp_row *find_row(const char *processor)
{
    for (size_t i = 0; i < sizeof(tdp_rows) / sizeof(tdp_rows[0]); i++) {
        if (holds(processor, tdp_rows[i].name)) {
            return &tdp_rows[i];
        }
    }
    return NULL;
}

aq_power_model aq_power_model_of(const char *processor, uint32_t cpus, double tdp_w)
{
    aq_power_model model = {
        .cpus = cpus > 0 ? cpus : 1,
        .cpu_w = AQ_POWER_UNKNOWN_W,
        .origin = AQ_POWER_UNKNOWN,
    };
    const tdp_row *row = find_row(processor);
    if (tdp_w > 0) {
        model.cpu_w = tdp_w / model.cpus;
        model.origin = AQ_POWER_SETTING;
    } else if (row) {
        model.cpu_w = row->tdp_w / row->cpus;
        model.origin = AQ_POWER_TABLE;
    }
    model.tdp_w = model.cpu_w * model.cpus;
    return model;
}

double aq_power_model_busy_j(const aq_power_model *model, double cpu_s)
{
    return (1 - AQ_POWER_IDLE_SHARE) * model->cpu_w * cpu_s;
}

double aq_power_model_idle_j(const aq_power_model *model, double wall_s)
{
    return AQ_POWER_IDLE_SHARE * model->tdp_w * wall_s;
}

const char *aq_power_origin_text(enum aq_power_origin origin)
{
    switch (origin) {
    case AQ_POWER_SETTING:
        return "energy.tdp_w";
    case AQ_POWER_TABLE:
        return "the maker's TDP, by logical processors";
    case AQ_POWER_UNKNOWN:
        return "an unknown processor, 4 W for each logical one";
    }
    return "unknown";
}
