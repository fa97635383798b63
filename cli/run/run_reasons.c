/*
 * Run reasons: see run_reasons.h.
 */
#include "cli/run/run_reasons.h"

#include <stdio.h>

#include "cli/text/command.h"

static void add(aq_run_reasons *reasons, const char *words, const char *setting)
{
    if (words != NULL && setting != NULL && reasons->count < AQ_RUN_REASONS_MAX) {
        aq_run_reason *row = &reasons->rows[reasons->count++];
        (void)snprintf(row->words, sizeof(row->words), "%s", words);
        (void)snprintf(row->setting, sizeof(row->setting), "%s", setting);
    }
}

void aq_run_reasons_of_status(const Actorq__V1__LearnerStatus *learner, aq_run_reasons *ret_reasons)
{
    ret_reasons->count = 0;
    for (size_t i = 0; i < learner->n_findings; i++) {
        add(ret_reasons, learner->findings[i]->words, learner->findings[i]->setting);
    }
}

void aq_run_reasons_of_end(const json_t *end, aq_run_reasons *ret_reasons)
{
    const json_t *findings = json_object_get(end, "findings");
    ret_reasons->count = 0;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        add(ret_reasons, json_string_value(json_object_get(finding, "words")),
            json_string_value(json_object_get(finding, "setting")));
    }
}

json_t *aq_run_reasons_json(const aq_run_reasons *reasons)
{
    json_t *list = json_array();
    for (size_t i = 0; i < reasons->count; i++) {
        aq_json_add(&list, json_pack("{s:s, s:s}", "words", reasons->rows[i].words, "setting",
                                     reasons->rows[i].setting));
    }
    return list;
}

void aq_run_reasons_print(FILE *out, const aq_run_reasons *reasons)
{
    for (size_t i = 0; i < reasons->count; i++) {
        (void)fprintf(out, "  %-9s  %s\n             try %s\n", i == 0 ? "why" : "",
                      reasons->rows[i].words, reasons->rows[i].setting);
    }
}
