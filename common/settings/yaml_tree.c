/*
 * YAML tree: see yaml_tree.h.
 */
#include "common/settings/yaml_tree.h"

#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "common/base/memory.h"
#include "common/base/plain_text.h"

struct aq_yaml_tree {
    yaml_document_t document;
};

static const yaml_node_t *node_of(aq_yaml_node node)
{
    /* libyaml's own function changes nothing, either. */
    yaml_document_t *document = (yaml_document_t *)(uintptr_t)&node.tree->document;
    return node.number > 0 ? yaml_document_get_node(document, node.number) : NULL;
}

/* ---- what is wrong with a file as such ------------------------------------------------------ */

/* A text, and the reader that goes through it. */
typedef struct reading {
    yaml_parser_t parser;
    const char *name, *text;
    size_t size;
    aq_error *error;
} reading;

static int stop_with(const reading *r, size_t line, const char *problem)
{
    return aq_fail(r->error, AQ_E_INVALID, "%s:%zu: %s", r->name, line, problem);
}

static size_t line_of_offset(const reading *r, size_t offset)
{
    size_t line = 1;

    for (size_t i = 0; i < offset && i < r->size; i++) {
        line += r->text[i] == '\n';
    }
    return line;
}

/* True when the blanks that the line begins with hold a tab. */
static bool is_indented_by_tab(const reading *r, size_t line)
{
    size_t at = 0;

    for (size_t i = 1; i < line; i++) {
        const char *end = memchr(r->text + at, '\n', r->size - at);

        if (end == NULL) {
            return false;
        }
        at = (size_t)(end - r->text) + 1;
    }
    while (at < r->size && r->text[at] == ' ') {
        at++;
    }
    return at < r->size && r->text[at] == '\t';
}

static int stop_with_syntax(const reading *r)
{
    const yaml_parser_t *parser = &r->parser;
    size_t line = parser->problem_mark.line + 1;

    if (parser->error == YAML_MEMORY_ERROR) {
        return AQ_E_NOMEM;
    }
    if (parser->error == YAML_SCANNER_ERROR && parser->context != NULL) {
        line = parser->context_mark.line + 1; /* where the open quote is, not the file's end */
    }
    if (parser->error == YAML_COMPOSER_ERROR && parser->context != NULL) {
        return stop_with(r, line, parser->context); /* an anchor that is there twice */
    }
    if (parser->error == YAML_READER_ERROR) { /* bytes that are no text have no mark */
        line = line_of_offset(r, parser->problem_offset);
    } else if (is_indented_by_tab(r, line)) {
        return stop_with(r, line, "indented by a tab; YAML wants blanks");
    }
    return stop_with(r, line, parser->problem == NULL ? "not valid YAML" : parser->problem);
}

/* Of brackets within brackets libyaml takes a time that grows with their square. */
static int check_depth(const reading *r)
{
    size_t depth = 0;

    for (size_t i = 0; i < r->size; i++) {
        depth += r->text[i] == '[' || r->text[i] == '{';
        depth -= depth > 0 && (r->text[i] == ']' || r->text[i] == '}');
        if (depth > AQ_YAML_DEPTH_MAX) {
            return stop_with(r, line_of_offset(r, i), "more open brackets than any setting has");
        }
    }
    return 0;
}

static int check_mapping(const reading *r, aq_yaml_node node)
{
    const size_t count = aq_yaml_count(node);
    for (size_t i = 0; i < count; i++) {
        const char *key = aq_yaml_key_at(node, i);
        const size_t line = aq_yaml_key_line(node, i);
        if (key == NULL) {
            return stop_with(r, line, "a key must be a plain name");
        }
        if (i == AQ_YAML_KEYS_MAX) {
            return stop_with(r, line, "more keys than any setting has");
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(aq_yaml_key_at(node, k), key) == 0) {
                char shown[64];
                return aq_fail(r->error, AQ_E_INVALID, "%s:%zu: %s: given twice, first in line %zu",
                               r->name, line, aq_plain_text(shown, sizeof(shown), key),
                               aq_yaml_key_line(node, k));
            }
        }
    }
    return 0;
}

static int check_nodes(const reading *r, const aq_yaml_tree *tree)
{
    const int count = (int)(tree->document.nodes.top - tree->document.nodes.start);
    const aq_yaml_node top = aq_yaml_top(tree);
    int rc = 0;
    if (aq_yaml_kind(top) != AQ_YAML_MAPPING && aq_yaml_kind(top) != AQ_YAML_NOTHING) {
        return stop_with(r, aq_yaml_line(top), "lines of the form 'key: value' are expected");
    }
    for (int number = 1; rc == 0 && number <= count; number++) {
        const aq_yaml_node node = {tree, number};
        const char *text = aq_yaml_text(node);
        if (text != NULL && strlen(text) != node_of(node)->data.scalar.length) {
            return stop_with(r, aq_yaml_line(node), "a text holds a zero byte");
        }
        rc = aq_yaml_kind(node) == AQ_YAML_MAPPING ? check_mapping(r, node) : 0;
    }
    return rc;
}

/* A second document is no file of ours. */
static int check_end(reading *r)
{
    yaml_document_t next;
    if (!yaml_parser_load(&r->parser, &next)) {
        return stop_with_syntax(r);
    }
    const bool is_there = yaml_document_get_root_node(&next) != NULL;
    const size_t line = next.start_mark.line + 1;
    yaml_document_delete(&next);
    return is_there ? stop_with(r, line, "a second document begins; one is expected") : 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Into a tree without a document, which has one after success. */
static int load(reading *r, aq_yaml_tree *tree)
{
    if (!yaml_parser_initialize(&r->parser)) {
        return AQ_E_NOMEM;
    }
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text, r->size);
    const bool is_loaded = yaml_parser_load(&r->parser, &tree->document) != 0;
    int rc = is_loaded ? check_nodes(r, tree) : stop_with_syntax(r);
    rc = rc != 0 ? rc : check_end(r);
    if (rc != 0 && is_loaded) {
        yaml_document_delete(&tree->document);
    }
    yaml_parser_delete(&r->parser);
    return rc;
}

int aq_yaml_tree_read(const char *name, const char *text, size_t size, aq_yaml_tree **ret_tree,
                      aq_error *error)
{
    reading r = {.name = name, .text = text, .size = size, .error = error};
    aq_yaml_tree *tree = aq_alloc(1, sizeof(*tree));
    int rc = tree != NULL ? check_depth(&r) : AQ_E_NOMEM;
    rc = rc == 0 ? load(&r, tree) : rc;
    if (rc != 0) {
        aq_free(tree);
        return rc == AQ_E_NOMEM ? aq_fail(error, rc, "%s: %s", name, aq_error_text(rc)) : rc;
    }
    *ret_tree = tree;
    return 0;
}

void aq_yaml_tree_free(aq_yaml_tree *tree)
{
    if (tree != NULL) {
        yaml_document_delete(&tree->document);
        aq_free(tree);
    }
}

aq_yaml_node aq_yaml_top(const aq_yaml_tree *tree)
{
    const bool is_empty = tree->document.nodes.top == tree->document.nodes.start;
    const aq_yaml_node top = {tree, is_empty ? 0 : 1};
    const char *text = aq_yaml_text(top);
    return text != NULL && text[0] == '\0' ? (aq_yaml_node){tree, 0} : top; /* "---" alone */
}

enum aq_yaml_kind aq_yaml_kind(aq_yaml_node node)
{
    const yaml_node_t *found = node_of(node);
    return found == NULL                       ? AQ_YAML_NOTHING
           : found->type == YAML_SCALAR_NODE   ? AQ_YAML_TEXT
           : found->type == YAML_SEQUENCE_NODE ? AQ_YAML_LIST
                                               : AQ_YAML_MAPPING;
}

size_t aq_yaml_line(aq_yaml_node node)
{
    const yaml_node_t *found = node_of(node);
    return found != NULL ? found->start_mark.line + 1 : 1;
}

const char *aq_yaml_text(aq_yaml_node node)
{
    const yaml_node_t *found = node_of(node);
    return found != NULL && found->type == YAML_SCALAR_NODE ? (const char *)found->data.scalar.value
                                                            : NULL;
}

size_t aq_yaml_count(aq_yaml_node node)
{
    const yaml_node_t *found = node_of(node);
    switch (aq_yaml_kind(node)) {
    case AQ_YAML_LIST:
        return (size_t)(found->data.sequence.items.top - found->data.sequence.items.start);
    case AQ_YAML_MAPPING:
        return (size_t)(found->data.mapping.pairs.top - found->data.mapping.pairs.start);
    default:
        return 0;
    }
}

aq_yaml_node aq_yaml_at(aq_yaml_node node, size_t index)
{
    const yaml_node_t *found = node_of(node);
    if (index >= aq_yaml_count(node)) {
        return (aq_yaml_node){node.tree, 0};
    }
    return (aq_yaml_node){node.tree, found->type == YAML_SEQUENCE_NODE
                                         ? found->data.sequence.items.start[index]
                                         : found->data.mapping.pairs.start[index].value};
}

static aq_yaml_node key_at(aq_yaml_node node, size_t index)
{
    const bool is_there = aq_yaml_kind(node) == AQ_YAML_MAPPING && index < aq_yaml_count(node);
    return (aq_yaml_node){node.tree,
                          is_there ? node_of(node)->data.mapping.pairs.start[index].key : 0};
}

const char *aq_yaml_key_at(aq_yaml_node node, size_t index)
{
    return aq_yaml_text(key_at(node, index));
}

size_t aq_yaml_key_line(aq_yaml_node node, size_t index)
{
    return aq_yaml_line(key_at(node, index));
}

aq_yaml_node aq_yaml_find(aq_yaml_node node, const char *key)
{
    for (size_t i = 0; i < aq_yaml_count(node); i++) {
        const char *its = aq_yaml_key_at(node, i);
        if (its != NULL && strcmp(its, key) == 0) {
            return aq_yaml_at(node, i);
        }
    }
    return (aq_yaml_node){node.tree, 0};
}
