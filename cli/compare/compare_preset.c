/*
 * Compare preset: see compare_preset.h.
 */
#include "cli/compare/compare_preset.h"

#include <stddef.h>
#include <string.h>

typedef const char *const *assignments; /* NULL-terminated */

static const char *const none[] = {NULL};

static const char *const default_choices[] = {
    "learner.hidden=256,256,256",
    NULL,
};

/* As configs/dmc-d4pg.yaml, three layers wide. */
static const char *const default_boxes[] = {
    "learner.algorithm=d4pg",
    "learner.hidden=256,256,256",
    "learner.activation=elu",
    "learner.norm_first=yes",
    "learner.critic_hidden=256,256,256",
    "learner.batch_size=128",
    "learner.learning_rate=0.0003",
    "learner.n_step=3",
    "learner.target_period=100",
    "learner.gradient_clip=40",
    "learner.value_min=0",
    "learner.value_max=100",
    "replay.capacity=1000000",
    "replay.samples_per_insert=32",
    "actor.noise=0.5",
    "actor.noise_ladder=uniform",
    "quantizer.publish_period=30",
    NULL,
};

/* What the paper's two agents have in common. A learner step draws 256 rows, each step of an
 * environment is drawn 16 times, so 16 environment steps go with a learner step, 4 of each actor:
 * an actor makes 30 steps in 8 learner steps. Policies go out whole, as the paper's did. */
static const char *const paper_both[] = {
    "learner.hidden=2048,2048,2048",
    "learner.activation=tanh",
    "learner.batch_size=256",
    "learner.n_step=5",
    "learner.target_period=100",
    "replay.samples_per_insert=16",
    "replay.min_size=2000",
    "replay.tolerance=2000",
    "actor.count=4",
    "actor.envs=1",
    "quantizer.publish_period=8",
    "quantizer.full_period=1",
    NULL,
};

static const char *const paper_choices[] = {
    "learner.learning_rate=0.0001", "learner.gradient_clip=0", "replay.capacity=200000",
    "actor.epsilon_base=0.05",      "actor.epsilon_alpha=0",   NULL,
};

static const char *const paper_boxes[] = {
    "learner.algorithm=d4pg",        "learner.learning_rate=0.0001",
    "learner.gradient_clip=40",      "learner.critic_hidden=512,512,256",
    "learner.critic_activation=elu", "learner.critic_norm_first=yes",
    "learner.value_min=-150",        "learner.value_max=150",
    "replay.capacity=100000",        "actor.noise=0.2",
    "actor.noise_ladder=uniform",    NULL,
};

static const char *const paper_300[] = {"quantizer.publish_period=75", NULL};

static const struct {
    const char *name;
    assignments both, choices, boxes, last;
} presets[] = {
    {"default", none, default_choices, default_boxes, none},
    {"paper", paper_both, paper_choices, paper_boxes, none},
    {"paper-300", paper_both, paper_choices, paper_boxes, paper_300},
    {"none", none, none, none, none},
};

static int assign_all(assignments list, aq_run_config *config, aq_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && list[i]; i++) {
        rc = aq_settings_assign(aq_run_config_table(), list[i], config, error);
    }
    return rc;
}

int aq_compare_preset_apply(const char *name, bool has_choices, aq_run_config *config,
                            aq_error *error)
{
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        if (strcmp(name, presets[i].name) != 0) {
            continue;
        }
        int rc = assign_all(presets[i].both, config, error);
        if (rc == 0) {
            rc = assign_all(has_choices ? presets[i].choices : presets[i].boxes, config, error);
        }
        return rc != 0 ? rc : assign_all(presets[i].last, config, error);
    }
    return aq_fail(error, AQ_E_NOT_FOUND,
                   "there is no preset '%s': it is one of default, paper, paper-300 and none",
                   name);
}
