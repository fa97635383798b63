/*
 * Messages as JSON: how each kind of field looks.
 */
#include "common/net/rpc/reflect.h"
#include "proto/operations.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/everything.pb-c.h"

TEST_ENDING(release, json_decref);

static json_t *kept(json_t *json)
{
    assert_non_null(json);
    at_end(release, json);
    return json;
}

/* Until the test is over. */
static json_t *to_json(const ProtobufCMessage *message)
{
    return kept(aq_reflect_to_json(message));
}

static void expect_text(const json_t *json, const char *name, const char *expected)
{
    assert_string_equal(json_string_value(json_object_get(json, name)), expected);
}

static void expect_integer(const json_t *json, const char *name, json_int_t expected)
{
    assert_true(json_is_integer(json_object_get(json, name)));
    assert_int_equal(json_integer_value(json_object_get(json, name)), expected);
}

TEST(integers_keep_their_extremes)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    message.u32 = UINT32_MAX;
    message.u64 = INT64_MAX;
    json_t *json = to_json(&message.base);
    expect_integer(json, "u32", UINT32_MAX);
    expect_integer(json, "u64", INT64_MAX);
}

TEST(numbers_beyond_jansson_are_strings_of_digits)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    message.u64 = UINT64_MAX;
    message.f64 = UINT64_C(1) << 63;
    json_t *json = to_json(&message.base);
    expect_text(json, "u64", "18446744073709551615");
    expect_text(json, "f64", "9223372036854775808");
}

TEST(reals_that_json_lacks_are_strings)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    double reals[] = {NAN, INFINITY, -INFINITY, 0.5};
    message.n_many_real64 = 4;
    message.many_real64 = reals;
    message.real32 = (float)INFINITY;
    json_t *json = to_json(&message.base);
    json_t *array = json_object_get(json, "many_real64");
    assert_string_equal(json_string_value(json_array_get(array, 0)), "NaN");
    assert_string_equal(json_string_value(json_array_get(array, 1)), "Infinity");
    assert_string_equal(json_string_value(json_array_get(array, 2)), "-Infinity");
    assert_true(json_real_value(json_array_get(array, 3)) == 0.5);
    expect_text(json, "real32", "Infinity");
}

TEST(enums_are_names_and_unknown_ones_numbers)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    Actorq__Test__Color colors[] = {ACTORQ__TEST__COLOR__COLOR_CRIMSON, (Actorq__Test__Color)77};
    message.color = ACTORQ__TEST__COLOR__COLOR_RED;
    message.n_many_color = 2;
    message.many_color = colors;
    json_t *json = to_json(&message.base);
    expect_text(json, "color", "COLOR_RED");
    json_t *array = json_object_get(json, "many_color");
    assert_string_equal(json_string_value(json_array_get(array, 0)), "COLOR_CRIMSON");
    assert_int_equal(json_integer_value(json_array_get(array, 1)), 77);
}

TEST(bytes_are_base64)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    uint8_t bytes[] = {0, 255, 16};
    message.data = (ProtobufCBinaryData){.len = sizeof(bytes), .data = bytes};
    json_t *json = to_json(&message.base);
    expect_text(json, "data", "AP8Q");
}

TEST(absent_messages_are_left_out_and_scalars_are_not)
{
    Actorq__V1__StatusReply message = ACTORQ__V1__STATUS_REPLY__INIT;
    json_t *json = to_json(&message.base);
    assert_null(json_object_get(json, "learner"));
    assert_null(json_object_get(json, "replay"));
    expect_text(json, "role", "");
    expect_text(json, "state", "RUN_STATE_UNKNOWN");
    assert_int_equal(json_array_size(json_object_get(json, "members")), 0);
}

TEST(nested_and_repeated_messages_are_objects)
{
    Actorq__V1__StatusReply message = ACTORQ__V1__STATUS_REPLY__INIT;
    Actorq__V1__LearnerStatus learner = ACTORQ__V1__LEARNER_STATUS__INIT;
    Actorq__V1__MemberStatus member = ACTORQ__V1__MEMBER_STATUS__INIT;
    Actorq__V1__MemberStatus *members[] = {&member, &member};
    learner.learner_steps = 12345;
    member.slot = 9;
    message.learner = &learner;
    message.n_members = 2;
    message.members = members;
    json_t *json = to_json(&message.base);
    expect_integer(json_object_get(json, "learner"), "learner_steps", 12345);
    expect_integer(json_array_get(json_object_get(json, "members"), 1), "slot", 9);
}

TEST(text_that_is_not_utf8_is_shown_with_replacements)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    char text[] = "a\xff\xc3\xa4\xed\xa0\x80z";
    message.text = text;
    json_t *json = to_json(&message.base);
    expect_text(json, "text", "a\xEF\xBF\xBD\xc3\xa4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(a_template_shows_every_field)
{
    json_t *json = kept(aq_reflect_template(&actorq__test__everything__descriptor));
    assert_int_equal(json_object_size(json), actorq__test__everything__descriptor.n_fields);
    expect_integer(json, "u32", 0);
    expect_text(json, "color", "COLOR_NONE");
    expect_text(json, "data", "");
    const json_t *many = json_object_get(json, "many_inner");
    assert_int_equal(json_array_size(many), 1);
    expect_text(json_array_get(many, 0), "name", "");
    expect_text(json_object_get(json_array_get(many, 0), "next"), "name", "");
}

TEST(running_out_of_memory_gives_null)
{
    Actorq__Test__Everything message = ACTORQ__TEST__EVERYTHING__INIT;
    char text[] = "\xff";
    message.text = text;
    for (uint64_t nth = 1; nth <= 2; nth++) { /* the bytes' base64, the text's repair */
        aq_memory_fail_at(nth, 0);
        assert_null(aq_reflect_to_json(&message.base));
    }
    aq_memory_fail_at(0, 0);
}
