/*
 * Compare arm: see compare_arm.h.
 */
#include "cli/compare/compare_arm.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/parse.h"
#include "common/config/run_rules.h"
#include "common/policy/format.h"
#include "common/sys/options.h"

/* From so many on, ranks of a hybrid split the networks of an algorithm that learns from items;
 * those of others have more actors each. */
enum { SPLIT_MIN = 4, HYBRID_ACTORS = 2 };

/* Without replay each step is learned from once: in small batches, by parameters that are fresh. */
#define WITHOUT_REPLAY                                                                             \
    " learner.batch_size=32 learner.n_step=5 learner.target_period=200 quantizer.publish_period=2"

static const char *const modes[] = {AQ_LEARNING_MODES(AQ_CHOICE_WORD) NULL};

const char *aq_compare_subject_name(enum aq_compare_subject subject)
{
    static const char *const names[] = {AQ_COMPARE_SUBJECTS(AQ_CHOICE_WORD)};
    return names[subject];
}

/* ---- what was asked for --------------------------------------------------------------------- */

/* It becomes part of a folder's name. */
static bool is_word(const char *text)
{
    for (const char *letter = text; *letter; letter++) {
        if (!isalnum((unsigned char)*letter) && *letter != '-') {
            return false;
        }
    }
    return text[0] != '\0' && text[0] != '-';
}

static int add_name(aq_compare_request *request, const char *text, aq_error *error)
{
    if (!is_word(text)) {
        return aq_fail(error, AQ_E_INVALID, "'%s' is no %s", text,
                       aq_compare_subject_name(request->subject));
    }
    if (request->subject == AQ_COMPARE_MODES && aq_choice_find(modes, text) < 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "there is no mode %s; those that there are: experience, sync, async, "
                       "model, hybrid",
                       text);
    }
    for (size_t i = 0; i < request->name_count; i++) {
        if (strcmp(request->names[i], text) == 0) {
            return aq_fail(error, AQ_E_INVALID, "%s is given twice", text);
        }
    }
    if (request->name_count == AQ_COMPARE_ARMS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "at most %d can be compared", (int)AQ_COMPARE_ARMS_MAX);
    }
    (void)snprintf(request->names[request->name_count++], AQ_COMPARE_WORD_MAX, "%s", text);
    return 0;
}

static int add_scale(aq_compare_request *request, const char *text, aq_error *error)
{
    uint64_t scale = 0;
    int rc = aq_option_number(text, 1, AQ_COMPARE_PARALLEL_MAX, &scale, error);
    if (rc != 0 || request->scale_count == AQ_COMPARE_SCALES_MAX) {
        return rc != 0 ? aq_fail_context(error, rc, "--scaling")
                       : aq_fail(error, AQ_E_INVALID, "--scaling: at most %d numbers",
                                 (int)AQ_COMPARE_SCALES_MAX);
    }
    request->scales[request->scale_count++] = scale;
    return 0;
}

typedef int (*word_taker)(aq_compare_request *request, const char *text, aq_error *error);

static int take_words(aq_compare_request *request, const char *text, word_taker take,
                      aq_error *error)
{
    char word[AQ_COMPARE_WORD_MAX];
    for (;;) {
        const size_t size = strcspn(text, ",");
        int rc = aq_text_format(word, sizeof(word), "%.*s", (int)(size < 256 ? size : 256), text);
        rc = rc != 0 ? aq_fail(error, AQ_E_INVALID, "'%.*s' is too long", (int)sizeof(word), text)
                     : take(request, word, error);
        if (rc != 0 || text[size] == '\0') {
            return rc;
        }
        text += size + 1;
    }
}

int aq_compare_request_names(aq_compare_request *request, const char *text, aq_error *error)
{
    request->name_count = 0;
    return take_words(request, text, add_name, error);
}

int aq_compare_request_scales(aq_compare_request *request, const char *text, aq_error *error)
{
    request->scale_count = 0;
    return take_words(request, text, add_scale, error);
}

/* ---- arms ----------------------------------------------------------------------------------- */

/* One of anything is a learner with an actor. */
static void set_mode(aq_compare_arm *arm, enum aq_learning_mode mode, uint64_t parallel,
                     uint32_t algorithm)
{
    const bool of_items =
        aq_algorithm_learns_from((enum aq_algorithm)algorithm) == AQ_LEARNS_FROM_ITEMS;
    const bool halves = parallel >= SPLIT_MIN && parallel % 2 == 0 && of_items;
    const uint64_t sharing = mode == AQ_MODE_MODEL              ? parallel
                             : mode == AQ_MODE_HYBRID && halves ? parallel / 2
                                                                : 1;
    const bool has_more = mode == AQ_MODE_HYBRID && sharing == 1 && parallel > 1;
    arm->mode = mode;
    arm->parallel = parallel;
    arm->learners = mode == AQ_MODE_EXPERIENCE || mode == AQ_MODE_ASYNC ? 1 : parallel;
    (void)snprintf(arm->settings, sizeof(arm->settings), "actor.count=%" PRIu64 "%s%s",
                   has_more ? HYBRID_ACTORS * parallel : parallel,
                   mode == AQ_MODE_ASYNC ? " actor.gradients=true" : "",
                   mode == AQ_MODE_ASYNC && of_items ? WITHOUT_REPLAY : "");
    if (sharing > 1) {
        aq_text_append(arm->settings, sizeof(arm->settings), " learner.model_ranks=%" PRIu64,
                       sharing);
    }
}

/* Most formats have no bits to choose, whatever the others have; layers of their own may have. */
static void set_precision(aq_compare_arm *arm, const aq_run_config *config)
{
    uint32_t format;
    (void)snprintf(arm->settings, sizeof(arm->settings), "quantizer.format=%s", arm->name);
    if (aq_format_parse(arm->name, &format, NULL) != 0) {
        return; /* it is refused when it is applied */
    }
    if (!aq_run_rules_hold_bits(config, format)) {
        aq_text_append(arm->settings, sizeof(arm->settings), " quantizer.bits=8");
    }
    if (!aq_format_is_integer(format)) {
        aq_text_append(arm->settings, sizeof(arm->settings), " learner.qat_bits=0");
    }
}

size_t aq_compare_arms_find(const aq_compare_arm *arms, size_t count, enum aq_learning_mode mode,
                            uint64_t parallel)
{
    for (size_t i = 0; i < count; i++) {
        const bool is_alike =
            parallel == 1 && (arms[i].mode == AQ_MODE_ASYNC) == (mode == AQ_MODE_ASYNC);
        if (arms[i].parallel == parallel && (arms[i].mode == mode || is_alike)) {
            return i;
        }
    }
    return count;
}

/* By its name among the modes, at another number than all. */
static int add_scaled(aq_compare_arm *arms, size_t *count, enum aq_learning_mode mode,
                      uint64_t parallel, uint32_t algorithm, aq_error *error)
{
    if (aq_compare_arms_find(arms, *count, mode, parallel) < *count) {
        return 0;
    }
    if (*count == AQ_COMPARE_ARMS_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "these are more than %d kinds of runs; fewer modes or scales",
                       (int)AQ_COMPARE_ARMS_MAX);
    }
    aq_compare_arm *arm = &arms[(*count)++];
    mode = parallel == 1 && mode != AQ_MODE_ASYNC ? AQ_MODE_EXPERIENCE : mode;
    *arm = (aq_compare_arm){.learners = 1};
    (void)snprintf(arm->name, sizeof(arm->name), "%s-%" PRIu64, modes[mode], parallel);
    set_mode(arm, mode, parallel, algorithm);
    return 0;
}

int aq_compare_arms_make(const aq_compare_request *request, const aq_run_config *config,
                         aq_compare_arm *ret_arms, size_t *ret_count, aq_error *error)
{
    const uint32_t algorithm = config->learner.algorithm;
    size_t count = 0;
    for (; count < request->name_count; count++) {
        aq_compare_arm *arm = &ret_arms[count];
        *arm = (aq_compare_arm){.learners = 1};
        (void)snprintf(arm->name, sizeof(arm->name), "%s", request->names[count]);
        if (request->subject == AQ_COMPARE_MODES) {
            set_mode(arm, (enum aq_learning_mode)aq_choice_find(modes, arm->name),
                     request->parallel, algorithm);
        } else {
            set_precision(arm, config);
        }
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < request->name_count * request->scale_count; i++) {
        rc = add_scaled(ret_arms, &count, ret_arms[i % request->name_count].mode,
                        request->scales[i / request->name_count], algorithm, error);
    }
    *ret_count = count;
    return rc;
}

int aq_compare_arm_apply(const aq_compare_arm *arm, aq_run_config *config, aq_error *error)
{
    char settings[AQ_COMPARE_SETTINGS_MAX];
    char *rest = NULL;
    int rc = 0;
    memcpy(settings, arm->settings, sizeof(settings));
    for (char *word = strtok_r(settings, " ", &rest); rc == 0 && word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        rc = aq_settings_assign(aq_run_config_table(), word, config, error);
    }
    return rc;
}

const char *aq_compare_arm_flags(const aq_compare_arm *arm, char *out, size_t size)
{
    char settings[AQ_COMPARE_SETTINGS_MAX];
    char *rest = NULL;
    out[0] = '\0';
    memcpy(settings, arm->settings, sizeof(settings));
    for (char *word = strtok_r(settings, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        aq_text_append(out, size, " --set %s", word);
    }
    if (arm->learners > 1) {
        aq_text_append(out, size, " --learners %" PRIu64, arm->learners);
    }
    return out;
}
