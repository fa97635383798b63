/*
 * Sweep JSON: see sweep_json.h.
 */
#include "cli/sweep/report/sweep_json.h"

#include "cli/sweep/journal/sweep_record.h"
#include "cli/text/command.h"

static json_t *settings_json(const aq_sweep_study *study, uint32_t stage)
{
    return aq_sweep_point_json(&study->spec->space, &study->stages[stage].point);
}

/* The folders of a stage's runs, below the sweep's. */
static json_t *runs_json(const aq_sweep_study *study, uint32_t stage)
{
    json_t *json = json_array();
    for (size_t i = 0; i < study->stages[stage].run_count; i++) {
        const size_t run = study->stages[stage].first_run + i;
        char name[96];
        aq_sweep_run_name(study, aq_sweep_run_trained(study, run), name, sizeof(name));
        aq_json_add(&json, json_string(name));
    }
    return json;
}

static json_t *row_json(const aq_sweep_study *study, const aq_sweep_row *row)
{
    const aq_sweep_stage *stage = &study->stages[row->stage];
    json_t *seeds = json_array(), *scores = json_array();
    for (size_t i = 0; i < stage->run_count; i++) {
        const aq_sweep_run *run = &study->runs[stage->first_run + i];
        aq_json_add(&seeds, aq_json_count(run->seed));
        aq_json_add(&scores, run->state == AQ_SWEEP_DONE
                                 ? aq_json_number(run->outcome.figures[study->spec->score])
                                 : json_null());
    }
    const double score = aq_sweep_stage_score(study, row->stage);
    const bool is_other =
        stage->from != AQ_SWEEP_NONE && study->stages[stage->from].trial != stage->trial;
    return json_pack("{s:i, s:s, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "trial",
                     (int)stage->trial, "state", aq_sweep_run_state_name(row->state), "rung",
                     (int)stage->rung, "env_steps",
                     (json_int_t)aq_sweep_study_steps(study, stage->rung), "settings",
                     settings_json(study, row->stage), "score", aq_json_number(score), "score_ci95",
                     aq_json_number(aq_sweep_stage_spread(study, row->stage)), "cost_s",
                     aq_json_number(row->cost_s), "seeds", seeds, "scores", scores, "runs",
                     runs_json(study, row->stage), "parent",
                     is_other ? json_integer(study->stages[stage->from].trial) : json_null());
}

static json_t *finding_json(const aq_sweep_study *study, const aq_sweep_finding *finding)
{
    if (finding->stage == AQ_SWEEP_NONE) {
        return json_null();
    }
    json_t *json = json_object();
    for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        const aq_mean_ci *mean = &finding->figures[i];
        (void)json_object_set_new(json, aq_sweep_figure_name((enum aq_sweep_figure)i),
                                  json_pack("{s:o, s:o, s:o}", "mean", aq_json_number(mean->mean),
                                            "ci95", aq_json_number(mean->ci95), "seeds",
                                            aq_json_count(mean->count)));
    }
    (void)json_object_set_new(json, "seeds",
                              aq_json_count(study->stages[finding->stage].run_count));
    (void)json_object_set_new(json, "runs", runs_json(study, finding->stage));
    return json;
}

static json_t *winner_json(const aq_sweep_summary *summary)
{
    const aq_sweep_study *study = summary->study;
    if (summary->winner == AQ_SWEEP_NONE) {
        return json_null();
    }
    return json_pack("{s:i, s:o, s:o}", "trial", (int)study->stages[summary->winner].trial,
                     "settings", settings_json(study, summary->winner), "score",
                     aq_json_number(aq_sweep_stage_score(study, summary->winner)));
}

static json_t *spent_json(const aq_sweep_study *study)
{
    json_t *json = json_object();
    for (int i = AQ_SWEEP_SCORES; i < AQ_SWEEP_FIGURE_COUNT; i++) {
        const enum aq_sweep_figure figure = (enum aq_sweep_figure)i;
        (void)json_object_set_new(json, aq_sweep_figure_name(figure),
                                  aq_json_number(aq_sweep_study_spent(study, figure)));
    }
    return json;
}

json_t *aq_sweep_json(const aq_sweep_summary *summary)
{
    const aq_sweep_study *study = summary->study;
    json_t *trials = json_array(), *space = json_array();
    for (size_t i = 0; i < study->spec->space.count; i++) {
        aq_json_add(&space, json_string(study->spec->space.dims[i].key));
    }
    for (size_t i = 0; i < summary->count; i++) {
        aq_json_add(&trials, row_json(study, &summary->rows[i]));
    }
    return json_pack(
        "{s:o, s:s, s:s, s:o, s:s, s:b, s:i, s:i, s:i, s:i, s:f, s:o, s:o, s:o, s:o, s:o}",
        "folder", aq_json_text(summary->dir), "task", study->spec->task, "method",
        aq_sweep_method_name(study->spec->method), "space", space, "score",
        aq_sweep_figure_name(study->spec->score), "ended", study->is_ended, "wanted",
        (int)study->spec->trials, "done", (int)summary->done, "running", (int)summary->running,
        "rounds", (int)study->rounds, "wall_s", study->last_s - study->began_s, "spent",
        spent_json(study), "winner", winner_json(summary), "reported",
        finding_json(study, &summary->reported), "given", finding_json(study, &summary->given),
        "trials", trials);
}
