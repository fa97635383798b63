/*
 * actorq inspect: what is in a policy, a checkpoint or a run folder.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/policy/checkpoint_view.h"
#include "cli/policy/policy_view.h"
#include "cli/policy/run_view.h"
#include "cli/text/command.h"
#include "common/net/rpc/frame.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "library/source/policy_source.h"

typedef struct inspect_arguments {
    const char *path;
    aq_json_form json;
} inspect_arguments;

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(inspect_arguments, json, "the facts"),
};

static const aq_options options_page = {
    .program = "actorq inspect",
    .usage = "PATH [options]",
    .summary =
        "Shows what is in a policy file (.aq), a checkpoint (.aqc) or a run folder: versions, "
        "sizes, the network and the range of its numbers, how far int8 is from fp32. Every "
        "checksum and every number is checked on the way; what is damaged is named.",
    .details = "Examples:\n"
               "  actorq inspect runs/first\n"
               "  actorq inspect runs/first/policy.aq\n"
               "  actorq inspect runs/first/checkpoints/step-000000003000.aqc --json\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("PATH", inspect_arguments, path)},
};

/* Each shows one kind of thing, as people's text, or as an object in *ret_json. */

static int show_policy(const char *path, aq_buffer *bytes, bool json, json_t **ret_json,
                       aq_error *error)
{
    const size_t size = bytes->size;
    aq_snapshot *snapshot;
    int rc = aq_wire_policy_unpack(bytes->data, size, &snapshot, error);
    aq_buffer_fini(bytes); /* all of it is in the snapshot */
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", path);
    }
    if (json) {
        *ret_json = aq_policy_view_json(snapshot, size);
    } else {
        rc = aq_policy_view_print(stdout, path, snapshot, size);
        rc = rc != 0 ? aq_fail(error, rc, "%s: %s", path, aq_error_text(rc)) : 0;
    }
    aq_snapshot_unref(snapshot);
    return rc;
}

static int show_checkpoint(const char *path, aq_buffer *bytes, bool json, json_t **ret_json,
                           aq_error *error)
{
    aq_checkpoint checkpoint;
    int rc = aq_wire_checkpoint_unpack(bytes->data, bytes->size, &checkpoint, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", path);
    }
    if (json) {
        *ret_json = aq_checkpoint_view_json(&checkpoint, bytes->size);
    } else {
        rc = aq_checkpoint_view_print(stdout, path, &checkpoint, bytes->size);
        rc = rc != 0 ? aq_fail(error, rc, "%s: %s", path, aq_error_text(rc)) : 0;
    }
    aq_checkpoint_fini(&checkpoint);
    return rc;
}

static int show_bytes(const char *path, aq_buffer *bytes, bool json, json_t **ret_json,
                      aq_error *error)
{
    const uint8_t *payload;
    size_t payload_size;
    int rc = aq_policy_source_check(path, bytes->data, bytes->size, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_frame_check(bytes->data, bytes->size, 0, &payload, &payload_size, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", path);
    }
    return aq_frame_kind(bytes->data) == AQ_FRAME_POLICY
               ? show_policy(path, bytes, json, ret_json, error)
               : show_checkpoint(path, bytes, json, ret_json, error);
}

static int show_file(const char *path, bool json, json_t **ret_json, aq_error *error)
{
    aq_buffer bytes;
    aq_buffer_init(&bytes, AQ_CHECKPOINT_BYTES_MAX);
    int rc = aq_file_read(path, &bytes, error);
    if (rc == 0) {
        rc = show_bytes(path, &bytes, json, ret_json, error);
    }
    aq_buffer_fini(&bytes);
    return rc;
}

static int show_run(const char *path, bool json, json_t **ret_json, aq_error *error)
{
    aq_run_record *record;
    int rc = aq_run_record_read(path, &record, error);
    if (rc != 0) {
        return rc;
    }
    aq_run_record_read_policies(path, record);
    if (json) {
        *ret_json = aq_run_view_json(path, record);
    } else {
        aq_run_view_print(stdout, path, record);
    }
    aq_run_record_free(record);
    return 0;
}

static int show(const inspect_arguments *arguments, json_t **ret_json, aq_error *error)
{
    struct stat status;
    const char *path = arguments->path;
    if (stat(path, &status) != 0) {
        return aq_fail(error, aq_error_from_errno(errno), "%s: %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return show_run(path, arguments->json, ret_json, error);
    }
    if (!S_ISREG(status.st_mode)) {
        return aq_fail(error, AQ_E_INVALID, "%s is neither a file nor a folder", path);
    }
    return show_file(path, arguments->json, ret_json, error);
}

static const inspect_arguments defaults = {0};

static int inspect(void *given, aq_error *error)
{
    const inspect_arguments *arguments = given;
    json_t *json = NULL;
    int rc = show(arguments, &json, error);
    return rc == 0 && arguments->json ? aq_print_json(json, arguments->json, error) : rc;
}

const aq_command aq_command_inspect = {
    .name = "inspect",
    .summary = "show what is in a policy, a checkpoint or a run",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = inspect,
};
