/*
 * Settings, inside: a walk over the first two levels of a YAML file, by libyaml, key by key.
 */
#include "common/settings/settings_walk.h"

#include <string.h>
#include <yaml.h>

#include "common/base/parse.h"

/* A walk, and the problem that ended it, if one did. */
typedef struct file_walk {
    yaml_parser_t parser;
    yaml_event_t event; /* the one in hand */
    const char *text;
    size_t size;
    aq_settings_visit_fn visit;
    void *user;
    aq_settings_problem *problem;
} file_walk;

static int stop_with(file_walk *walk, size_t line, const char *problem)
{
    *walk->problem = (aq_settings_problem){.line = line, .text = problem};
    return AQ_E_INVALID;
}

static size_t line_of_event(const file_walk *walk)
{
    return walk->event.start_mark.line + 1;
}

static size_t line_of_offset(const file_walk *walk, size_t offset)
{
    size_t line = 1;

    for (size_t i = 0; i < offset && i < walk->size; i++) {
        line += walk->text[i] == '\n';
    }
    return line;
}

/* True when the blanks that the line begins with hold a tab. */
static bool is_indented_by_tab(const file_walk *walk, size_t line)
{
    size_t at = 0;

    for (size_t i = 1; i < line; i++) {
        const char *end = memchr(walk->text + at, '\n', walk->size - at);

        if (end == NULL) {
            return false;
        }
        at = (size_t)(end - walk->text) + 1;
    }
    while (at < walk->size && walk->text[at] == ' ') {
        at++;
    }
    return at < walk->size && walk->text[at] == '\t';
}

static int stop_with_syntax(file_walk *walk)
{
    const yaml_parser_t *parser = &walk->parser;
    size_t line = parser->problem_mark.line + 1;

    if (parser->error == YAML_MEMORY_ERROR) {
        return AQ_E_NOMEM;
    }
    if (parser->error == YAML_SCANNER_ERROR && parser->context != NULL) {
        line = parser->context_mark.line + 1; /* where the open quote is, not the file's end */
    }
    if (parser->error == YAML_READER_ERROR) { /* bytes that are no text have no mark */
        line = line_of_offset(walk, parser->problem_offset);
    } else if (is_indented_by_tab(walk, line)) {
        return stop_with(walk, line, "indented by a tab; YAML wants blanks");
    }
    return stop_with(walk, line, parser->problem == NULL ? "not valid YAML" : parser->problem);
}

static int next_event(file_walk *walk)
{
    yaml_event_delete(&walk->event);
    if (!yaml_parser_parse(&walk->parser, &walk->event)) {
        return stop_with_syntax(walk);
    }
    return 0;
}

static enum aq_settings_kind kind_of_event(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_MAPPING_START_EVENT:
        return AQ_SETTINGS_MAPPING;
    case YAML_SEQUENCE_START_EVENT:
        return AQ_SETTINGS_LIST;
    case YAML_ALIAS_EVENT:
        return AQ_SETTINGS_ALIAS;
    default:
        return event->data.scalar.length == 0 ? AQ_SETTINGS_EMPTY : AQ_SETTINGS_VALUE;
    }
}

/* Goes to the end of the mapping or list in hand. */
static int skip_collection(file_walk *walk)
{
    size_t depth = 1;

    while (depth > 0) {
        int rc = next_event(walk);

        if (rc != 0) {
            return rc;
        }
        if (walk->event.type == YAML_MAPPING_START_EVENT ||
            walk->event.type == YAML_SEQUENCE_START_EVENT) {
            depth++;
        } else if (walk->event.type == YAML_MAPPING_END_EVENT ||
                   walk->event.type == YAML_SEQUENCE_END_EVENT) {
            depth--;
        }
    }
    return 0;
}

/* Goes to the end of the list in hand and has its texts in `out`, "64,64". *ret_text is that, or
 * NULL: the list holds more than texts, or more than fits. */
static int read_list(file_walk *walk, char out[AQ_SETTING_LIST_MAX], const char **ret_text)
{
    size_t used = 0;
    bool is_first = true;

    *ret_text = out;
    for (out[0] = '\0';; is_first = false) {
        int rc = next_event(walk);

        if (rc != 0 || walk->event.type == YAML_SEQUENCE_END_EVENT) {
            return rc;
        }
        if (walk->event.type == YAML_SCALAR_EVENT) {
            if (aq_text_format(out + used, AQ_SETTING_LIST_MAX - used, "%s%s", is_first ? "" : ",",
                               (const char *)walk->event.data.scalar.value) != 0) {
                *ret_text = NULL;
            }
            used += strlen(out + used);
            continue;
        }
        *ret_text = NULL;
        rc = kind_of_event(&walk->event) == AQ_SETTINGS_ALIAS ? 0 : skip_collection(walk);
        if (rc != 0) {
            return rc;
        }
    }
}

/* Names the node after the key in hand, on one line whatever the file holds. */
static void name_node(aq_settings_node *node, const char *section, const char *key)
{
    int rc = aq_text_format(node->key, sizeof(node->key), "%s%s%s", section == NULL ? "" : section,
                            section == NULL ? "" : ".", key);

    (void)rc; /* a key too long for a name is no setting of ours; what fits is enough to say so */
    for (char *at = node->key; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *at = '?';
        }
    }
}

/* Visits the keys of the mapping in hand; `section` is NULL at the top. */
static int walk_mapping(file_walk *walk, const char *section)
{
    for (;;) {
        aq_settings_node node = {.in_section = section != NULL};
        char list[AQ_SETTING_LIST_MAX];
        int rc = next_event(walk);

        if (rc != 0 || walk->event.type == YAML_MAPPING_END_EVENT) {
            return rc;
        }
        node.line = line_of_event(walk);
        if (walk->event.type != YAML_SCALAR_EVENT) {
            return stop_with(walk, node.line, "a key must be a plain name");
        }
        name_node(&node, section, (const char *)walk->event.data.scalar.value);
        rc = next_event(walk);
        if (rc != 0) {
            return rc;
        }
        node.kind = kind_of_event(&walk->event);
        if (walk->event.type == YAML_SCALAR_EVENT) {
            node.value = (const char *)walk->event.data.scalar.value;
        } else if (node.kind == AQ_SETTINGS_LIST) {
            rc = read_list(walk, list, &node.value);
        }
        rc = rc != 0 ? rc : walk->visit(walk->user, &node);
        if (rc == 0 && node.kind == AQ_SETTINGS_MAPPING && section == NULL) {
            rc = walk_mapping(walk, node.key);
        } else if (rc == 0 && node.kind == AQ_SETTINGS_MAPPING) {
            rc = skip_collection(walk);
        }
        if (rc != 0) {
            return rc;
        }
    }
}

/* The document whose start is in hand. */
static int walk_document(file_walk *walk)
{
    int rc = next_event(walk);

    if (rc != 0) {
        return rc;
    }
    switch (kind_of_event(&walk->event)) {
    case AQ_SETTINGS_EMPTY:
        break;
    case AQ_SETTINGS_MAPPING:
        rc = walk_mapping(walk, NULL);
        break;
    default:
        return stop_with(walk, line_of_event(walk), "lines of the form 'key: value' are expected");
    }
    return rc != 0 ? rc : next_event(walk); /* the document's end */
}

static int walk_stream(file_walk *walk)
{
    size_t document_count = 0;

    for (;;) {
        int rc = next_event(walk);

        if (rc != 0 || walk->event.type == YAML_STREAM_END_EVENT) {
            return rc;
        }
        if (walk->event.type == YAML_STREAM_START_EVENT) {
            continue;
        }
        document_count++;
        if (document_count > 1) {
            return stop_with(walk, line_of_event(walk),
                             "a second document begins; one is expected");
        }
        rc = walk_document(walk);
        if (rc != 0) {
            return rc;
        }
    }
}

int aq_settings_walk(const char *text, size_t size, aq_settings_visit_fn visit, void *user,
                     aq_settings_problem *problem)
{
    file_walk walk = {.text = text, .size = size, .visit = visit, .user = user, .problem = problem};

    if (!yaml_parser_initialize(&walk.parser)) {
        return AQ_E_NOMEM;
    }
    yaml_parser_set_input_string(&walk.parser, (const unsigned char *)text, size);
    int rc = walk_stream(&walk);
    yaml_event_delete(&walk.event);
    yaml_parser_delete(&walk.parser);
    return rc;
}
