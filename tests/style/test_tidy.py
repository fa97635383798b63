"""tools/tidy.py finds a fault of every kind that it looks for."""

import unittest

from planted_tree import CLEAN, PlantedTree


class Tidy(PlantedTree):
    tool = "tidy.py"

    def plant_function(self, path, *lines):
        """A source with one function; its first line of code is line 4."""
        body = "".join(f"    {line}\n" for line in lines)
        self.plant(path, f"/* A file. */\nvoid aq_function(int a)\n{{\n{body}}}\n")

    def test_a_clean_tree_has_no_finding(self):
        self.assertEqual(self.found(), [])

    def test_a_long_file_is_found_and_one_at_the_limit_is_not(self):
        self.plant("cli/long.c", "/* A file. */\n" + "int x;\n" * 500)
        self.plant("cli/fits.c", "/* A file. */\n" + "int x;\n" * 499)
        self.assertEqual(self.found(), ["cli/long.c:500 file-lines"])

    def test_a_long_function_is_found_and_one_at_the_limit_is_not(self):
        self.plant_function("cli/long.c", *["a++;"] * 68)
        self.plant_function("cli/fits.c", *["a++;"] * 67)
        self.assertEqual(self.found(), ["cli/long.c:2 function-lines"])

    def test_a_signature_of_several_lines_counts(self):
        self.plant("cli/long.c", "/* A file. */\n\nstatic int f(int a,\n             int b)\n{\n"
                   + "    a++;\n" * 67 + "}\n")
        self.assertEqual(self.found(), ["cli/long.c:3 function-lines"])

    def test_return_codes_that_are_not_compared_are_found(self):
        self.plant("cli/a.h", "/* A file. */\n#ifndef AQ_CLI_A_H\n#define AQ_CLI_A_H\n"
                   "int aq_a(int a) AQ_MUST_USE;\nbool aq_b(int a);\n#endif\n")
        self.plant_function("cli/a.c", "if (rc) {", "} else if (!rc && a) {", "}",
                            "a = rc ? 1 : 2;", "if (a && aq_a(1)) {", "} else if (!aq_a(2)) {", "}",
                            "return a ? a : aq_a(3);", "if (rc != 0 && aq_a(4) == 0) {", "}",
                            "aq_b(rc);", "if (aq_b(rc) || a == rc) {", "}", "a = aq_a(5);")
        self.assertEqual(self.found(), [f"cli/a.c:{line} code" for line in (4, 5, 7, 8, 9)])

    def test_a_local_that_is_declared_before_it_gets_its_value_is_found(self):
        self.plant_function("cli/a.c", "int b;", "const char *c;", "int d;", "if (a > 0) {",
                            "    d = 1;", "}", "b = 2;", "a = d + b;", "c = text(&a);",
                            "return c;")
        self.assertEqual(self.found(), [f"cli/a.c:{line} declaration" for line in (4, 5)])

    def test_a_line_comment_is_found_and_an_address_in_a_text_is_not(self):
        self.plant_function("cli/a.c", 'a += "tcp://x"[a];', "a++; // more", "/* http://y */")
        self.assertEqual(self.found(), ["cli/a.c:5 line-comment"])

    def test_a_file_without_a_top_comment_is_found(self):
        self.plant("cli/a.c", "int x;\n")
        self.assertEqual(self.found(), ["cli/a.c:1 top-comment"])

    def test_a_wrong_header_guard_is_found(self):
        self.insert("replay/shard/replay_core.h", "#define AQ_REPLAY_", "#define AQ_")
        self.assertEqual(self.found(), ["replay/shard/replay_core.h:1 guard"])

    def test_white_space_faults_are_found(self):
        self.plant("docs/a.md", "a \nb\tc\n")
        self.plant("docs/b.md", "no end")
        self.plant("docs/c.md", "blank lines\n\n\n")
        self.assertEqual(self.found(), ["docs/a.md:1 trailing-blank", "docs/a.md:2 tab",
                                        "docs/b.md:1 final-newline", "docs/c.md:3 final-newline"])

    def test_invisible_characters_are_found_and_visible_ones_are_fine(self):
        self.plant("docs/a.md", "fine: ε → ²\nnot\u200b\nnor\u00a0this\n\u202eleft\n\a\n")
        self.assertEqual(self.found(), [f"docs/a.md:{line} invisible" for line in (2, 3, 4, 5)])

    def test_a_long_line_of_code_is_found_and_one_of_a_document_is_not(self):
        self.plant("tools/a.py", "#" * 101 + "\n")
        self.plant("tools/b.py", "#" * 99 + "é\n")
        self.plant("docs/a.md", "x" * 200 + "\n")
        self.assertEqual(self.found(), ["tools/a.py:1 columns"])

    def test_a_promise_is_found_unless_it_names_its_issue(self):
        self.plant("docs/a.md", "TO" "DO later\nTO" "DO(#12) later\nFIX" "ME\nmastodon\n")
        self.assertEqual(self.found(), ["docs/a.md:1 promise", "docs/a.md:3 promise"])

    def test_a_body_without_braces_is_found(self):
        self.plant_function("cli/a.c", "if (a)", "    a++;", "for (;;) a++;", "while (a--);",
                            "if (a) {", "} else", "    a++;")
        self.assertEqual(self.found(), [f"cli/a.c:{line} braces" for line in (4, 6, 7, 9)])

    def test_banned_calls_are_found_in_the_product(self):
        calls = ["strcpy(a, b)", "atoi(a)", "strtol(a, b, 10)", "sscanf(a, b)", "malloc(a)",
                 "free(a)", "assert(a)", "exit(a)", "fork()", "time(0)"]
        self.plant_function("cli/a.c", *[call + ";" for call in calls])
        self.plant_function("tests/unit/cli/test_a.c", *[call + ";" for call in calls])
        self.assertEqual(self.found(), [f"cli/a.c:{4 + i} banned" for i in range(len(calls))])

    def test_banned_calls_are_found_in_the_tests(self):
        calls = ["rand()", "usleep(a)", "alloca(a)", "gmtime(a)"]
        self.plant_function("tests/unit/cli/test_a.c", *[call + ";" for call in calls])
        self.assertEqual(len(self.found()), len(calls))

    def test_a_banned_name_is_fine_in_its_place_in_a_text_and_in_a_longer_name(self):
        self.plant_function("common/base/parse.c", "strtol(a, b, 10);")
        self.plant_function("cli/cli_main.c", "exit(a);")
        self.plant_function("cli/a.c", 'puts("exit(1)");', "aq_free(a);", "a->free(b);",
                            "strtok_r(a, b, c);", "/* rand() */")
        self.assertEqual(self.found(), [])

    def test_free_is_fine_for_the_text_of_a_library(self):
        self.plant_function("cli/a.c", "text = json_dumps(json, 0);", "free(text);")
        self.assertEqual(self.found(), [])

    def test_a_link_that_leads_nowhere_is_found(self):
        self.plant("docs/a.md", "[b](operations.md), [c](https://x.y)\n"
                   "[up](../common/), [e](gone.md)\n")
        self.assertEqual(self.found(), ["docs/a.md:2 link"])

    def test_a_link_to_a_heading_that_is_not_there_is_found(self):
        self.plant("docs/a.md", "# `a` [page](b.md), 1.0\n```\n# code\n```\n[me](#a-page-10)\n"
                   "[b](b.md#ready), [c](https://x.y#z), [code](b.yaml#L3)\n"
                   "[d](#here)\n[e](b.md#gone)\n[f](#code)\n")
        self.plant("docs/b.md", "## Ready\n")
        self.plant("docs/b.yaml", "a: 1\n")
        self.assertEqual(self.found(), [f"docs/a.md:{line} link" for line in (7, 8, 9)])

    def test_a_table_with_other_cells_than_its_head_is_found(self):
        self.plant("docs/a.md", "| | |\n|---|---|\n| c | d \\| e |\n\n```\n| f |\n|---|---|\n"
                   "```\n| a | b |\n|---|---|--:|\n\n| a | b |\n|:--|---|\n| c |\n| d | e |\n")
        self.assertEqual(self.found(), ["docs/a.md:10 table", "docs/a.md:14 table"])

    def test_an_ignorable_code_is_found(self):
        self.insert("common/base/error.h", ") AQ_MUST_USE", ")")
        self.assertEqual(self.found(), ["common/base/error.h:7 must-use"])

    def test_a_declaration_of_two_lines_holds_its_attribute_in_the_second(self):
        self.insert("common/base/error.h", "(const char *name)", "(const char *name,\n    int b)")
        self.assertEqual(self.found(), [])

    def test_a_library_that_logs_is_found_and_debug_lines_are_fine(self):
        self.plant_function("common/net/sockets/push.c", 'aq_log(AQ_LOG_WARN, "ready", "", "");',
                            'aq_log(AQ_LOG_DEBUG, "ready", "", "");')
        self.assertEqual(self.found(), ["common/net/sockets/push.c:4 log-level"])

    def test_an_event_that_the_operator_cannot_look_up_is_found(self):
        self.plant_function("actor/a.c", 'aq_log(AQ_LOG_INFO, "ready", "", "");',
                            'aq_log(AQ_LOG_INFO,', '       "unheard_of", "", "");')
        self.assertEqual(self.found(), ["actor/a.c:5 log-event"])

    def test_a_line_whose_level_or_event_depends_is_looked_at_likewise(self):
        self.plant_function("common/net/sockets/push.c",
                            'aq_log(a ? AQ_LOG_WARN : AQ_LOG_DEBUG, "ready", "", "");')
        self.plant_function("actor/a.c",
                            'aq_log(AQ_LOG_INFO, a ? "ready" : "unheard_of", "", "port=%d", 3);')
        self.assertEqual(sorted(self.found()), ["actor/a.c:4 log-event", "actor/a.c:4 log-field",
                                                "common/net/sockets/push.c:4 log-level"])

    def test_a_field_that_the_operator_cannot_look_up_is_found(self):
        self.plant_function("actor/a.c",
                            'aq_log(AQ_LOG_INFO, "ready", "so=it, (is)", "url=%s", f(1));',
                            'aq_log(AQ_LOG_INFO, "ready", "", "url=%s "', ' "port=%d", "", 3);')
        self.assertEqual(self.found(), ["actor/a.c:5 log-field"])

    def test_a_limited_line_is_looked_at_likewise(self):
        self.plant_function("actor/a.c",
                            'aq_log_limited(&l, f(), AQ_LOG_INFO, "unheard_of", "", "");',
                            'aq_log_limited(&l, f(), AQ_LOG_INFO, "ready", "", "");')
        self.assertEqual(self.found(), ["actor/a.c:4 log-event", "actor/a.c:5 log-field"])

    def test_a_field_of_the_name_of_one_that_every_line_has_is_found(self):
        self.plant_function("actor/a.c", 'aq_log(AQ_LOG_INFO, "ready", "", "id=%d", 3);')
        self.assertEqual(self.found(), ["actor/a.c:4 log-field"])

    def test_a_second_file_of_one_name_is_found(self):
        self.plant("cli/error.h", CLEAN["common/base/error.h"].replace("COMMON_BASE", "CLI"))
        self.plant("cli/meson.build", "# one\n")
        self.plant("actor/meson.build", "# two\n")
        self.assertEqual(self.found(), ["common/base/error.h:1 unique-name"])

    def test_macro_soup_is_found_and_lists_are_fine(self):
        self.plant("cli/lists.c", "/* A file. */\n" + "#define LIST(X) X(1)\n" * 9)
        self.plant("cli/soup.c", "/* A file. */\n" + "#define SOUP(a) a\n" * 4)
        self.assertEqual(self.found(), [f"cli/soup.c:{line} macros" for line in (2, 3, 4, 5)])

    def test_build_folders_and_hidden_files_are_not_read(self):
        self.plant("build/a.c", "int x; // one")
        self.plant("build-asan/a.c", "int x; // one")
        self.plant(".git/a.c", "int x; // one")
        self.plant(".ci/run", "blank \n")
        self.assertEqual(self.found(), [".ci/run:1 trailing-blank"])


if __name__ == "__main__":
    unittest.main()
