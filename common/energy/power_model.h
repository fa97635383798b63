/*
 * Power model: what processors take, where nothing can measure it. A straight line from idle to
 * full load:
 *
 *   P(u) = TDP * (idle + (1 - idle) * u)     u: share of the processors that are busy, 0 to 1
 *
 * whose slope is shared by processor time and whose foot, the idle share, is told apart. It knows
 * neither frequencies nor instructions: it can see time that was saved, not watts. Any thread.
 */
#ifndef AQ_COMMON_ENERGY_POWER_MODEL_H
#define AQ_COMMON_ENERGY_POWER_MODEL_H

#include <stdint.h>

/* Of the TDP, of processors that do nothing. CodeCarbon 3's machine mode has the same foot. */
#define AQ_POWER_IDLE_SHARE 0.1

/* Of a logical processor of an unknown kind, as CodeCarbon 3 takes for one. */
#define AQ_POWER_UNKNOWN_W 4.0

enum aq_power_origin {
    AQ_POWER_SETTING, /* somebody said so */
    AQ_POWER_TABLE,   /* of the maker's figure, by logical processors */
    AQ_POWER_UNKNOWN, /* AQ_POWER_UNKNOWN_W a logical processor */
};

typedef struct aq_power_model {
    double tdp_w;  /* of the logical processors that are there */
    double cpu_w;  /* of one of them */
    uint32_t cpus; /* at least 1 */
    enum aq_power_origin origin;
} aq_power_model;

/* Of a machine with that name of processor and so many logical ones, which may be a part of the
 * package's: it gets that part of the TDP. `tdp_w` above 0 is taken instead, for all of them. */
aq_power_model aq_power_model_of(const char *processor, uint32_t cpus, double tdp_w);

/* What that much processor time adds to an idle machine. */
double aq_power_model_busy_j(const aq_power_model *model, double cpu_s);

/* What the machine takes in that time if nothing runs. */
double aq_power_model_idle_j(const aq_power_model *model, double wall_s);

const char *aq_power_origin_text(enum aq_power_origin origin);

#endif
