/*
 * Every method is found by the names that people use, and no other.
 */
#include "cli/operate/rpc_catalog.h"
#include "common/net/rpc/reflect.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

static void assert_finds(const char *name, const char *service, const char *method)
{
    aq_caller_method found;
    assert_succeeds(aq_rpc_catalog_find(name, &found, &refusal));
    assert_string_equal(found.service->name, service);
    assert_string_equal(aq_rpc_catalog_method(found)->name, method);
}

static void assert_unknown(const char *name, const char *words)
{
    aq_caller_method found;
    assert_refused(aq_rpc_catalog_find(name, &found, &refusal), AQ_E_NOT_FOUND, words);
}

TEST(a_method_is_found_by_its_full_name)
{
    assert_finds("actorq.v1.Operations/Status", "actorq.v1.Operations", "Status");
}

TEST(a_method_is_found_by_its_short_name)
{
    assert_finds("Policy/Fetch", "actorq.v1.Policy", "Fetch");
    assert_finds("Flow/Credit", "actorq.v1.Flow", "Credit");
    assert_finds("Sampling/Sample", "actorq.v1.Sampling", "Sample");
    assert_finds("Membership/Heartbeat", "actorq.v1.Membership", "Heartbeat");
}

TEST(a_method_is_found_by_its_own_name_alone)
{
    assert_finds("Stop", "actorq.v1.Operations", "Stop");
}

TEST(a_slip_of_the_fingers_is_answered_with_the_nearest)
{
    assert_unknown("Operations/Statsu", "Operations/Status");
    assert_unknown("operations/status", "Operations/Status");
    assert_unknown("actorq.v1.Policy/Fech", "Policy/Fetch");
    assert_unknown("Statsu", "Status");
}

TEST(what_is_nothing_like_a_method_points_to_the_list)
{
    assert_unknown("Teleport/Now", "--list");
    assert_unknown("", "--list");
    assert_unknown("/", "--list");
}

/* A type within itself would come to no end. */
static void assert_is_plain(const ProtobufCMessageDescriptor *message, unsigned depth)
{
    assert_in_range(depth, 0, 8);
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        assert_int_equal(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF, 0);
        assert_true(field->label == PROTOBUF_C_LABEL_REPEATED ||
                    field->label == PROTOBUF_C_LABEL_NONE);
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            assert_is_plain(field->descriptor, depth + 1);
        }
    }
}

static void assert_reflects(const ProtobufCMessageDescriptor *descriptor)
{
    ProtobufCMessage *message;
    assert_is_plain(descriptor, 0);
    json_t *json = cli_json(aq_reflect_template(descriptor)); /* has each kind of value */
    assert_succeeds(aq_reflect_from_json(descriptor, json, &message, &refusal));
    protobuf_c_message_free_unpacked(message, NULL);
}

TEST(every_method_of_the_list_is_found_and_has_no_field_that_reflection_lacks)
{
    size_t i;
    const json_t *row;
    const json_t *methods = json_object_get(cli_json(aq_rpc_catalog_json()), "methods");
    assert_true(json_array_size(methods) > 10);
    json_array_foreach(methods, i, row)
    {
        aq_caller_method found;
        const char *name = json_string_value(json_object_get(row, "method"));
        assert_int_equal(aq_rpc_catalog_find(name, &found, NULL), 0);
        assert_true(json_is_object(json_object_get(row, "request")));
        assert_true(json_is_object(json_object_get(row, "reply")));
        assert_reflects(aq_rpc_catalog_method(found)->input);
        assert_reflects(aq_rpc_catalog_method(found)->output);
    }
}

TEST(a_template_names_the_fields_of_the_request)
{
    json_t *catalog = cli_json(aq_rpc_catalog_json());
    char *text = json_dumps(catalog, JSON_COMPACT);
    assert_says(text, "{\"method\":\"Operations/Stop\",\"request\":{\"reason\":\"\"}");
    free(text);
}
