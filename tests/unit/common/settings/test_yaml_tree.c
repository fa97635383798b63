/*
 * Trees of YAML: what is where, and what is no tree.
 */
#include "common/settings/yaml_tree.h"

#include "common/base/parse.h"
#include "tests/support/test.h"

static aq_yaml_tree *tree_of(const char *yaml)
{
    aq_yaml_tree *tree;
    assert_succeeds(aq_yaml_tree_read("t.yaml", yaml, strlen(yaml), &tree, &refusal));
    return tree;
}

TEST(nodes_are_found_with_their_lines)
{
    aq_yaml_tree *tree = tree_of("a: 1\nb:\n  c: [x, {d: y}]\n  e: \"z\"\n");
    const aq_yaml_node top = aq_yaml_top(tree), b = aq_yaml_find(top, "b");
    assert_int_equal(aq_yaml_count(top), 2);
    assert_string_equal(aq_yaml_text(aq_yaml_find(top, "a")), "1");
    assert_string_equal(aq_yaml_key_at(top, 1), "b");
    const aq_yaml_node list = aq_yaml_find(b, "c");
    assert_int_equal(aq_yaml_kind(list), AQ_YAML_LIST);
    assert_int_equal(aq_yaml_line(list), 3);
    assert_string_equal(aq_yaml_text(aq_yaml_find(aq_yaml_at(list, 1), "d")), "y");
    assert_int_equal(aq_yaml_line(aq_yaml_find(b, "e")), 4);
    aq_yaml_tree_free(tree);
}

TEST(what_is_not_there_is_nothing)
{
    aq_yaml_tree *tree = tree_of("a: 1\n");
    const aq_yaml_node none = aq_yaml_find(aq_yaml_top(tree), "b");
    assert_int_equal(aq_yaml_kind(none), AQ_YAML_NOTHING);
    assert_int_equal(aq_yaml_count(none), 0);
    assert_null(aq_yaml_text(none));
    assert_null(aq_yaml_key_at(none, 0));
    assert_int_equal(aq_yaml_kind(aq_yaml_at(aq_yaml_top(tree), 1)), AQ_YAML_NOTHING);
    aq_yaml_tree_free(tree);
    tree = tree_of("");
    assert_int_equal(aq_yaml_kind(aq_yaml_top(tree)), AQ_YAML_NOTHING);
    aq_yaml_tree_free(tree);
}

TEST(what_is_no_tree_is_said_with_its_line)
{
    static const struct {
        const char *yaml, *words;
    } rows[] = {
        {"a: [1\nb: 2\n", "t.yaml:"},
        {"- a\n", "t.yaml:1: lines of the form 'key: value' are expected"},
        {"a: 1\na: 2\n", "t.yaml:2: a: given twice, first in line 1"},
        {"a:\n  b:\n    c: 1\n    c: 2\n", "t.yaml:4: c: given twice, first in line 3"},
        {"a:\n  b: {[x]: 1}\n", "a key must be a plain name"},
        {"a: *b\n", "t.yaml:1: "},
        {"a: &x 1\nb: &x 2\n", "t.yaml:2: found duplicate anchor"},
        {"a: 1\nb: \"5\\0 junk\"\n", "t.yaml:2: a text holds a zero byte"},
        {"\"a\\0b\": 1\n", "t.yaml:1: a text holds a zero byte"},
        {"a: 1\n---\nb: 1\n", "t.yaml:2: a second document begins"},
    };
    EACH_ROW(i, rows) {
        aq_yaml_tree *tree;
        assert_refused(
            aq_yaml_tree_read("t.yaml", rows[i].yaml, strlen(rows[i].yaml), &tree, &refusal),
            AQ_E_INVALID, rows[i].words);
    }
}

TEST(so_many_brackets_are_open_at_once_and_no_more)
{
    char yaml[2 * AQ_YAML_DEPTH_MAX + 16] = "a: ";
    aq_yaml_tree *tree;
    memset(yaml + 3, '[', AQ_YAML_DEPTH_MAX);
    memset(yaml + 3 + AQ_YAML_DEPTH_MAX, ']', AQ_YAML_DEPTH_MAX);
    aq_yaml_tree_free(tree_of(yaml));
    memset(yaml + 3, '{', AQ_YAML_DEPTH_MAX + 1);
    assert_refused(aq_yaml_tree_read("t.yaml", yaml, strlen(yaml), &tree, &refusal), AQ_E_INVALID,
                   "t.yaml:1: more open brackets than any setting has");
}

TEST(a_mapping_has_so_many_keys_and_no_more)
{
    char yaml[16 * (AQ_YAML_KEYS_MAX + 1)] = "";
    aq_yaml_tree *tree;
    for (int i = 0; i < AQ_YAML_KEYS_MAX; i++) {
        aq_text_append(yaml, sizeof(yaml), "k%d: 1\n", i);
    }
    aq_yaml_tree_free(tree_of(yaml));
    aq_text_append(yaml, sizeof(yaml), "more: 1\n");
    assert_refused(aq_yaml_tree_read("t.yaml", yaml, strlen(yaml), &tree, &refusal), AQ_E_INVALID,
                   "t.yaml:1001: more keys than any setting has");
}
