/*
 * Presets: settings that train well, by name. Each is a file of settings in configs/, which is
 * built into every program that reads settings, so that it is there however the program was
 * installed and started. One that differs little from another names it (`preset: any-pqn`) and says
 * what differs.
 *
 * The `task` of a preset says which tasks it is the default of, `*` standing for any letters; one
 * without is taken by name alone. The list is in order of preference: of those that fit a task, the
 * first is its default. Those of what learns on-policy are only for who names the algorithm; where
 * states can be counted, so are those of networks. One for any task that has no hidden layers is a
 * table, for states that can be counted alone. Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_PRESET_H
#define AQ_COMMON_CONFIG_PRESET_H

#include "common/config/run_config.h"

#define AQ_PRESET_NONE "none" /* the settings' own defaults */

typedef struct aq_preset {
    const char *name;             /* static storage: "dmc-d4pg" */
    char tasks[AQ_TASK_NAME_MAX]; /* "dmc:*"; "": it is the default of none */
    aq_run_config config;         /* over the defaults; its task means nothing */
} aq_preset;

/* Fills it with number `index`; AQ_E_NOT_FOUND behind the last, AQ_E_NOMEM. */
int aq_preset_read(size_t index, aq_preset *ret_preset, aq_error *error) AQ_MUST_USE;

/* Puts what its file says over `config`, but for the task; before it, what the preset says that
 * this one builds on. AQ_E_NOMEM. */
int aq_preset_apply(const char *name, aq_run_config *config, aq_error *error) AQ_MUST_USE;

/* Whether the preset may be called so: in full, or without the algorithm at its end, unless that is
 * another one's name. It need not be one of this program. */
bool aq_preset_has_name(const char *preset, const char *name);

/* What a preset is chosen for. */
typedef struct aq_preset_wish {
    const char *name;        /* as asked for; NULL: nobody asked, the task's default */
    const char *task;        /* in full; options behind it change nothing */
    const aq_schema *schema; /* of the task */
    uint32_t algorithm;      /* that is asked for, or AQ_ALGORITHM_AUTO */
    bool by_gradients;       /* actors compute gradients, and not every preset suits them */
} aq_preset_wish;

/* *ret_name in static storage. A name may leave out the algorithm at its end: "paper" is paper-dqn
 * for choices, paper-d4pg for continuous actions. Without a name, AQ_PRESET_NONE where no preset
 * fits. AQ_E_NOT_FOUND for a name that there is not, saying which is near. */
int aq_preset_choose(const aq_preset_wish *wish, const char **ret_name,
                     aq_error *error) AQ_MUST_USE;

#endif
