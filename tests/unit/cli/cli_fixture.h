/*
 * What the command-line tool reads: policies, checkpoints and run folders in a temporary folder. A
 * failure to make one fails the test.
 */
#ifndef AQ_TESTS_UNIT_CLI_CLI_FIXTURE_H
#define AQ_TESTS_UNIT_CLI_CLI_FIXTURE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/policy/snapshot.h"
#include "envs/env_open.h"

enum { CLI_PATH_MAX = 512 };

/* A cmocka setup and teardown: *state is the path of a new folder. */
int cli_fixture_setup(void **state);
int cli_fixture_teardown(void **state);

/* `name` in the folder, until the test is over. */
const char *cli_path(void **state, const char *name);

/* Asserts that the text is that of tests/golden/pages/NAME, in which "…" stands for anything. With
 * AQ_WRITE_GOLDEN=1 in the environment, another text is written there instead. */
void cli_assert_page(const char *name, const char *text);

/* Whether the text is that of the pattern. */
bool cli_fits(const char *pattern, const char *text);

/* A stream to print on, and what was printed, which stays valid until the next begins. */
FILE *cli_print_begin(void);
const char *cli_print_end(void);

/* A test in a folder of its own. */
#define TEST_IN_FOLDER(name) TEST_WITH(name, cli_fixture_setup, cli_fixture_teardown)

/* It is the test's, and there. */
json_t *cli_json(json_t *json);

/* The environment, of the test. */
aq_env *cli_env(const char *name);

/* ---- files ---------------------------------------------------------------------------------- */

void cli_make_folder(const char *path);

/* Cuts the file off after `size` bytes. */
void cli_truncate(const char *path, size_t size);

/* ---- ours ----------------------------------------------------------------------------------- */

#define CLI_RUN_ID UINT64_C(0x1122334455667788)

/* Version 31, learner step 3100, of a network 4-16r-8t-2 for CartPole with random parameters from
 * `seed`. int8 carries a measured error. The second is the test's. */
aq_snapshot *cli_make_policy(uint32_t format, uint64_t seed);
aq_snapshot *cli_policy(uint32_t format, uint64_t seed);
void cli_write_policy(const char *path, uint32_t format, uint64_t seed);

/* The same for another task, of which one choice is made. */
void cli_write_policy_of(const char *path, const char *task, uint32_t format, uint64_t seed);

/* Of the same network, after `step` learner steps; best return 187.5, confirmed, and its policy. */
void cli_write_checkpoint(const char *path, uint64_t step);

/* A whole run folder: run.json, config.yaml, metrics.jsonl, checkpoints of steps 1000, 2000 and
 * 3000, policy.aq in int8 and policy.fp32.aq of seed 7. */
void cli_write_run(const char *path);

#endif
