/*
 * Macros, not an enumeration: arrays are as wide as they say, and so may be what #if leaves out.
 */
#include "quantizer/export/export_header.h"

#include <ctype.h>
#include <string.h>

#include "common/base/assert.h"
#include "quantizer/export/export_c.h"
#include "quantizer/export/export_head.h"

/* The task's name comes from elsewhere: nothing in it may end the comment or begin another. */
static void put_task(aq_export_text *text, const char *task)
{
    char plain[AQ_TASK_NAME_MAX];
    size_t i = 0;
    for (; task[i] != '\0'; i++) {
        plain[i] = task[i];
        if (!isalnum((unsigned char)task[i]) && strchr(" .,:;-_+=()[]", task[i]) == NULL) {
            plain[i] = '_';
        }
    }
    plain[i] = '\0';
    aq_export_put(text, plain);
}

void aq_export_put_title(aq_export_text *text, const aq_snapshot *snapshot)
{
    char net[256];
    aq_export_put(text, "/*\n * A policy for ");
    put_task(text, snapshot->task);
    aq_export_print(text, ", version %llu: %s.\n * Made by actorq " AQ_VERSION " export.\n",
                    (unsigned long long)snapshot->version,
                    aq_net_spec_text(&snapshot->spec, net, sizeof(net)));
}

void aq_export_put_prototypes(aq_export_text *text, const aq_snapshot *snapshot)
{
    const uint32_t state = aq_net_spec_state(&snapshot->spec);
    aq_export_put(text, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    aq_export_print(text,
                    "\n/* out[%u]: what the network makes of obs[%u]%s. They don't overlap. */\n"
                    "void @_forward(const float *obs, float *out);\n",
                    aq_net_spec_outputs(&snapshot->spec), aq_net_spec_inputs(&snapshot->spec),
                    snapshot->schema.obs.dtype == AQ_DTYPE_U8 ? ", bytes divided by 255" : "");
    if (state > 0) {
        aq_export_print(
            text,
            "/* state[%u] is what the policy keeps from step to step of an episode, at "
            "whose\n * beginning it is zeros; each of these functions makes a step. */\n",
            state);
    }
    aq_export_head_put_prototypes(text, snapshot);
    aq_export_put(text, "\n#ifdef __cplusplus\n}\n#endif\n");
}

/* ---- the header ----------------------------------------------------------------------------- */

typedef struct header {
    aq_export_text *text;
    char capitals[AQ_EXPORT_PREFIX_MAX + 1]; /* of the prefix */
} header;

static void capitalize(const char *prefix, char *out)
{
    AQ_ASSERT(strlen(prefix) <= AQ_EXPORT_PREFIX_MAX);
    while (*prefix != '\0') {
        *out++ = (char)toupper((unsigned char)*prefix++);
    }
    *out = '\0';
}

/* Whether an action is a number that PREFIX_act returns. */
static bool is_lone(const aq_space *action)
{
    return action->kind != AQ_SPACE_BOX && !aq_space_is_several(action);
}

/* None where there is nothing to be wide. */
static void put_width(const header *own, const char *name, size_t width, const char *words)
{
    if (width > 0) {
        aq_export_print(own->text, "#define %s_%s %zu /* %s */\n", own->capitals, name, width,
                        words);
    }
}

static void put_widths(const header *own, const aq_snapshot *snapshot)
{
    const aq_head_terms terms = aq_snapshot_terms(snapshot);
    const aq_head_drawing *drawing = terms.head->drawing;
    const aq_space *action = terms.action;
    const bool lone = is_lone(action);
    aq_export_put(own->text, "\n");
    put_width(own, "OBS", aq_net_spec_inputs(&snapshot->spec), "numbers of an observation");
    put_width(own, "OUTPUTS", aq_net_spec_outputs(&snapshot->spec),
              "numbers that the network gives");
    put_width(own, "STATE", aq_net_spec_state(&snapshot->spec), "numbers kept from step to step");
    put_width(own, "CHOICES", lone ? aq_space_choices(action, 0) : 0, "actions to choose from");
    put_width(own, "ACTION", lone ? 0 : aq_space_elements(action), "elements of an action");
    put_width(own, "NOISE", drawing != NULL ? drawing->noise_count(&terms) : 0,
              "random numbers of a draw");
}

/* What the elements of an action can be, in a comment. */
static void put_bounds(const header *own, const aq_space *action)
{
    aq_export_put(own->text, "\n/* What an action's elements can be:\n *\n");
    for (size_t i = 0; i < aq_space_elements(action); i++) {
        if (action->kind == AQ_SPACE_BOX) {
            const size_t bound = aq_space_bound(action, i);
            aq_export_print(own->text, " *   [%zu] from %.9g to %.9g\n", i,
                            (double)action->low[bound], (double)action->high[bound]);
        } else {
            aq_export_print(own->text, " *   [%zu] from 0 to %u\n", i,
                            aq_space_choices(action, i) - 1);
        }
    }
    aq_export_put(own->text, " */\n");
}

void aq_export_put_header(aq_export_text *text, const aq_snapshot *snapshot)
{
    header own = {.text = text};
    capitalize(text->prefix, own.capitals);
    aq_export_put_title(text, snapshot);
    aq_export_print(text, " */\n#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n", own.capitals,
                    own.capitals);
    put_widths(&own, snapshot);
    if (!is_lone(&snapshot->schema.action)) {
        put_bounds(&own, &snapshot->schema.action);
    }
    aq_export_put_prototypes(text, snapshot);
    aq_export_put(text, "\n#endif\n");
}
