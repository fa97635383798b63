/*
 * YAML tree: a file of settings, where each node knows its line. Texts, lists and
 * mappings; every value is a text, as settings.h has it; an alias is the node that it names,
 * and no anchor is there twice. One owner; nodes live as long as the tree.
 */
#ifndef AQ_COMMON_SETTINGS_YAML_TREE_H
#define AQ_COMMON_SETTINGS_YAML_TREE_H

#include <stddef.h>

#include "common/base/error.h"

typedef struct aq_yaml_tree aq_yaml_tree;

enum aq_yaml_kind { AQ_YAML_NOTHING, AQ_YAML_TEXT, AQ_YAML_LIST, AQ_YAML_MAPPING };

typedef struct aq_yaml_node {
    const aq_yaml_tree *tree;
    int number; /* 0: nothing */
} aq_yaml_node;

/* Keys of a mapping, and brackets that are open at once, those in texts and comments as well. */
enum { AQ_YAML_KEYS_MAX = 1000, AQ_YAML_DEPTH_MAX = 1000 };

/* One document with a mapping at the top, and no key twice in any. `name` stands for the file in
 * errors, as "s.yaml:3: a key must be a plain name". AQ_E_INVALID, AQ_E_NOMEM. */
int aq_yaml_tree_read(const char *name, const char *text, size_t size, aq_yaml_tree **ret_tree,
                      aq_error *error) AQ_MUST_USE;
void aq_yaml_tree_free(aq_yaml_tree *tree); /* NULL is fine */

/* Nothing, of a file that says nothing. */
aq_yaml_node aq_yaml_top(const aq_yaml_tree *tree);

enum aq_yaml_kind aq_yaml_kind(aq_yaml_node node);
size_t aq_yaml_line(aq_yaml_node node); /* from 1 */

/* NULL of what is no text. */
const char *aq_yaml_text(aq_yaml_node node);

/* What a list or a mapping holds; 0 of anything else. Nothing behind the last. */
size_t aq_yaml_count(aq_yaml_node node);
aq_yaml_node aq_yaml_at(aq_yaml_node node, size_t index);      /* of a mapping, the value */
const char *aq_yaml_key_at(aq_yaml_node node, size_t index);   /* of a mapping */
size_t aq_yaml_key_line(aq_yaml_node node, size_t index);      /* likewise */
aq_yaml_node aq_yaml_find(aq_yaml_node node, const char *key); /* or nothing */

#endif
