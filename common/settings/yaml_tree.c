/*
 * YAML tree: see yaml_tree.h.
 *
 * What is wrong with a file as such is found and said by the walk that reads configurations
 * (settings_walk.h), so that the same mistake is told in the same words.
 */
#include "common/settings/yaml_tree.h"

#include <stdbool.h>
#include <string.h>
#include <yaml.h>

#include "common/base/memory.h"
#include "common/settings/settings_walk.h"

struct aq_yaml_tree {
    yaml_document_t document;
};

static const yaml_node_t *node_of(aq_yaml_node node)
{
    /* libyaml's own function changes nothing, either. */
    yaml_document_t *document = (yaml_document_t *)(uintptr_t)&node.tree->document;
    return node.number > 0 ? yaml_document_get_node(document, node.number) : NULL;
}

static int pass(void *user, const aq_settings_node *node)
{
    (void)user;
    (void)node;
    return 0;
}

static int check_syntax(const char *name, const char *text, size_t size, aq_error *error)
{
    aq_settings_problem problem = {0};
    int rc = aq_settings_walk(text, size, pass, NULL, &problem);
    return rc == 0 ? 0
           : problem.text == NULL
               ? aq_fail(error, rc, "%s: %s", name, aq_error_text(rc))
               : aq_fail(error, rc, "%s:%zu: %s", name, problem.line, problem.text);
}

static int check_mapping(const char *name, aq_yaml_node node, aq_error *error)
{
    for (size_t i = 0; i < aq_yaml_count(node); i++) {
        const char *key = aq_yaml_key_at(node, i);
        if (key == NULL) {
            return aq_fail(error, AQ_E_INVALID, "%s:%zu: a key must be a plain name", name,
                           aq_yaml_line(aq_yaml_at(node, i)));
        }
        if (aq_yaml_find(node, key).number != aq_yaml_at(node, i).number) {
            return aq_fail(error, AQ_E_INVALID, "%s:%zu: '%s' is given twice", name,
                           aq_yaml_line(aq_yaml_at(node, i)), key);
        }
    }
    return 0;
}

static int check_mappings(const char *name, const aq_yaml_tree *tree, aq_error *error)
{
    const int count = (int)(tree->document.nodes.top - tree->document.nodes.start);
    int rc = 0;
    for (int number = 1; rc == 0 && number <= count; number++) {
        const aq_yaml_node node = {tree, number};
        rc = aq_yaml_kind(node) == AQ_YAML_MAPPING ? check_mapping(name, node, error) : 0;
    }
    return rc;
}

int aq_yaml_tree_read(const char *name, const char *text, size_t size, aq_yaml_tree **ret_tree,
                      aq_error *error)
{
    yaml_parser_t parser;
    int rc = check_syntax(name, text, size, error);
    if (rc != 0) {
        return rc;
    }
    aq_yaml_tree *tree = aq_alloc(1, sizeof(*tree));
    if (tree == NULL || !yaml_parser_initialize(&parser)) {
        aq_free(tree);
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", name);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    const bool is_loaded = yaml_parser_load(&parser, &tree->document) != 0;
    if (!is_loaded) { /* the walk passed what names nothing: an alias */
        rc = aq_fail(error, AQ_E_INVALID, "%s:%zu: %s", name, parser.problem_mark.line + 1,
                     parser.problem != NULL ? parser.problem : "not valid YAML");
    }
    yaml_parser_delete(&parser);
    if (rc == 0) {
        rc = check_mappings(name, tree, error);
    }
    if (rc == 0) {
        *ret_tree = tree;
        return 0;
    }
    if (is_loaded) {
        yaml_document_delete(&tree->document);
    }
    aq_free(tree);
    return rc;
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
    return (aq_yaml_node){tree, tree->document.nodes.top > tree->document.nodes.start ? 1 : 0};
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

const char *aq_yaml_key_at(aq_yaml_node node, size_t index)
{
    const yaml_node_t *found = node_of(node);
    return aq_yaml_kind(node) == AQ_YAML_MAPPING && index < aq_yaml_count(node)
               ? aq_yaml_text((aq_yaml_node){node.tree, found->data.mapping.pairs.start[index].key})
               : NULL;
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
