/*
 * Live plan: see live_plan.h.
 */
#include "learner/daemon/live_plan.h"

#include "common/base/buffer.h"
#include "common/base/memory.h"
#include "common/settings/settings.h"
#include "learner/run/given_settings.h"

enum { CONFIG_TEXT_MAX = 1 << 20 };

static int print(aq_live_plan *live)
{
    aq_buffer text;
    aq_buffer_init(&text, CONFIG_TEXT_MAX);
    int rc = aq_settings_print_yaml(aq_run_config_table(), &live->now.config, &text);
    if (rc == 0) {
        rc = aq_buffer_append(&text, "", 1);
    }
    char *copy = rc == 0 ? aq_text_copy((const char *)text.data) : NULL;
    aq_buffer_fini(&text);
    if (copy == NULL) {
        return rc != 0 ? rc : AQ_E_NOMEM;
    }
    aq_free(live->text);
    live->text = copy;
    return 0;
}

int aq_live_plan_make(const aq_run_config *given, const char *resumed_dir, aq_live_plan *live,
                      aq_error *error)
{
    aq_run_config config = *given;
    live->given = *given;
    int rc = resumed_dir != NULL ? aq_given_settings_take_up(resumed_dir, &config, error) : 0;
    if (rc == 0) {
        rc = aq_run_plan_make(&config, &live->now, error);
    }
    if (rc == 0 && print(live) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    return rc;
}

void aq_live_plan_fini(aq_live_plan *live)
{
    aq_free(live->text);
    live->text = NULL;
}

int aq_live_plan_settle(const aq_live_plan *live, const aq_run_folder *folder, aq_error *error)
{
    int rc = aq_run_folder_write_config(folder, &live->now.config, error);
    return rc != 0 ? rc
                   : aq_given_settings_settle(folder->path, &live->given, &live->now.config, error);
}

int aq_live_plan_change(aq_live_plan *live, const aq_run_folder *folder, const aq_run_plan *next,
                        aq_error *error)
{
    int rc = aq_given_settings_keep(folder->path, &live->given, error);
    if (rc == 0) {
        rc = aq_run_folder_write_config(folder, &next->config, error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "nothing was changed, as it can't be kept");
    }
    live->now = *next;
    rc = print(live);
    (void)rc; /* without memory, checkpoints show the settings as they were */
    return 0;
}
