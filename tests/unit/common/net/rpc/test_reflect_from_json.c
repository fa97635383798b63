/*
 * JSON to messages: what is taken, and that hostile JSON is refused with the place it is wrong at.
 */
#include "common/net/rpc/reflect.h"
#include "proto/operations.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/everything.pb-c.h"
#include "tests/unit/common/presence.pb-c.h"

static json_t *parse(const char *text)
{
    json_t *json = json_loads(text, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    return json;
}

static int from_text(const ProtobufCMessageDescriptor *descriptor, const char *text,
                     ProtobufCMessage **ret_message, aq_error *error)
{
    json_t *json = parse(text);
    int rc = aq_reflect_from_json(descriptor, json, ret_message, error);
    json_decref(json);
    return rc;
}

static void release(void *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

/* Until the test is over. */
static Actorq__Test__Everything *everything(const char *text)
{
    ProtobufCMessage *message = NULL;
    assert_int_equal(from_text(&actorq__test__everything__descriptor, text, &message, NULL), 0);
    at_end(release, message);
    return (Actorq__Test__Everything *)message;
}

TEST(every_scalar_is_taken)
{
    Actorq__Test__Everything *message = everything(
        "{\"i32\": -1, \"s32\": -2, \"sf32\": -3, \"u32\": 4, \"f32\": 5, \"i64\": -6,"
        " \"s64\": -7, \"sf64\": -8, \"u64\": 9, \"f64\": 10, \"real32\": 0.5, \"real64\": -2,"
        " \"flag\": true, \"color\": \"COLOR_CRIMSON\", \"text\": \"t\", \"data\": \"AP8Q\"}");
    assert_int_equal(message->i32, -1);
    assert_int_equal(message->s32, -2);
    assert_int_equal(message->sf32, -3);
    assert_int_equal(message->u32, 4);
    assert_int_equal(message->f32, 5);
    assert_int_equal(message->i64, -6);
    assert_int_equal(message->s64, -7);
    assert_int_equal(message->sf64, -8);
    assert_int_equal(message->u64, 9);
    assert_int_equal(message->f64, 10);
    assert_true(message->real32 == 0.5F);
    assert_true(message->real64 == -2);
    assert_int_equal(message->flag, 1);
    assert_int_equal(message->color, -5);
    assert_string_equal(message->text, "t");
    assert_int_equal(message->data.len, 3);
    assert_memory_equal(message->data.data, "\x00\xff\x10", 3);
}

TEST(integers_may_be_strings_of_digits)
{
    Actorq__Test__Everything *message = everything(
        "{\"u64\": \"18446744073709551615\", \"i64\": \"-9223372036854775808\", \"i32\": \"-7\"}");
    assert_true(message->u64 == UINT64_MAX);
    assert_true(message->i64 == INT64_MIN);
    assert_int_equal(message->i32, -7);
}

TEST(the_names_of_special_reals_are_taken)
{
    Actorq__Test__Everything *message =
        everything("{\"many_real64\": [\"NaN\", \"Infinity\", \"-Infinity\", 1]}");
    assert_true(isnan(message->many_real64[0]));
    assert_true(message->many_real64[1] == INFINITY);
    assert_true(message->many_real64[2] == -INFINITY);
    assert_true(message->many_real64[3] == 1);
}

TEST(enums_may_be_numbers)
{
    Actorq__Test__Everything *message = everything("{\"color\": 1, \"many_color\": [0, 77]}");
    assert_int_equal(message->color, 1);
    assert_int_equal(message->many_color[1], 77);
}

TEST(null_stands_for_an_absent_field)
{
    Actorq__Test__Everything *message =
        everything("{\"i32\": null, \"inner\": null, \"many_i32\": null, \"choice_u32\": null}");
    assert_int_equal(message->i32, 0);
    assert_null(message->inner);
    assert_int_equal(message->n_many_i32, 0);
    assert_int_equal(message->choice_case, 0);
}

TEST(an_empty_object_is_all_defaults)
{
    Actorq__Test__Everything *message = everything("{}");
    uint8_t byte = 0;
    assert_int_equal(protobuf_c_message_get_packed_size(&message->base), 0);
    assert_int_equal(protobuf_c_message_pack(&message->base, &byte), 0);
}

TEST(a_oneof_takes_one_field)
{
    Actorq__Test__Everything *message = everything("{\"choice_inner\": {\"name\": \"x\"}}");
    assert_int_equal(message->choice_case, ACTORQ__TEST__EVERYTHING__CHOICE_CHOICE_INNER);
    assert_string_equal(message->choice_inner->name, "x");
}

TEST(optional_fields_become_present)
{
    ProtobufCMessage *message = NULL;
    assert_int_equal(from_text(&actorq__test__presence__descriptor,
                               "{\"maybe_i32\": 0, \"maybe_text\": \"\", \"maybe_data\": \"\"}",
                               &message, NULL),
                     0);
    Actorq__Test__Presence *presence = (Actorq__Test__Presence *)message;
    assert_true(presence->has_maybe_i32);
    assert_true(presence->has_maybe_data);
    assert_false(presence->has_maybe_flag);
    assert_string_equal(presence->maybe_text, "");
    assert_int_equal(presence->seven, 7);
    assert_string_equal(presence->greeting, "hello");
    release(message);
}

static const struct {
    const char *json;
    const char *place;
    const char *word;
} refused[] = {
    {"{\"i32\": 2147483648}", "i32", "out of range"},
    {"{\"i32\": -2147483649}", "i32", "out of range"},
    {"{\"u32\": 4294967296}", "u32", "out of range"},
    {"{\"u32\": -1}", "u32", "not negative"},
    {"{\"u64\": -1}", "u64", "not negative"},
    {"{\"u64\": \"18446744073709551616\"}", "u64", "not negative"},
    {"{\"i64\": \"9223372036854775808\"}", "i64", "integer"},
    {"{\"i32\": 1.0}", "i32", "integer"},
    {"{\"i32\": true}", "i32", "integer"},
    {"{\"i32\": \"\"}", "i32", "integer"},
    {"{\"i32\": {}}", "i32", "integer"},
    {"{\"u32\": [1]}", "u32", "integer"},
    {"{\"real32\": 1e39}", "real32", "float"},
    {"{\"real64\": \"1.5\"}", "real64", "number"},
    {"{\"real64\": \"nan\"}", "real64", "number"},
    {"{\"flag\": 1}", "flag", "true or false"},
    {"{\"flag\": \"true\"}", "flag", "true or false"},
    {"{\"color\": \"COLOR_BLUE_GREEN\"}", "color", "no such name"},
    {"{\"color\": \"COLOR_REDD\"}", "color", "did you mean COLOR_RED?"},
    {"{\"color\": 4294967296}", "color", "out of range"},
    {"{\"color\": 1.5}", "color", "integer"},
    {"{\"text\": 1}", "text", "string"},
    {"{\"text\": \"a\\u0000b\"}", "text", "zero"},
    {"{\"data\": \"***\"}", "data", "base64"},
    {"{\"data\": 7}", "data", "base64"},
    {"{\"inner\": 7}", "inner", "object"},
    {"{\"inner\": []}", "inner", "object"},
    {"{\"inner\": {\"nam\": 1}}", "inner.nam", "did you mean name?"},
    {"{\"inner\": {\"next\": {\"name\": 4}}}", "inner.next.name", "string"},
    {"{\"many_i32\": 7}", "many_i32", "array"},
    {"{\"many_i32\": {}}", "many_i32", "array"},
    {"{\"many_i32\": [1, 2, null]}", "many_i32[2]", "integer"},
    {"{\"many_text\": [\"a\", \"b\", 3]}", "many_text[2]", "string"},
    {"{\"many_data\": [\"AAAA\", \"*\"]}", "many_data[1]", "base64"},
    {"{\"many_inner\": [{}, {\"name\": \"x\"}, {\"next\": 1}]}", "many_inner[2].next", "object"},
    {"{\"choice_u32\": 1, \"choice_text\": \"x\"}", "choice", "oneof"},
    {"{\"choice_inner\": {\"name\": 1}}", "choice_inner.name", "string"},
    {"{\"nothing_like_it\": 1}", "nothing_like_it", "no such field"},
    {"{\"i23\": 1}", "i23", "did you mean i32?"},
    {"{\"\": 1}", "", "no such field"},
    {"[]", "", "object"},
    {"7", "", "object"},
    {"null", "", "object"},
};

TEST(what_does_not_fit_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        ProtobufCMessage *message = NULL;
        assert_int_equal(
            from_text(&actorq__test__everything__descriptor, refused[i].json, &message, &refusal),
            AQ_E_INVALID);
        assert_null(message);
        assert_ptr_equal(strstr(refusal.text, refused[i].place), refusal.text);
        assert_says(refusal.text, refused[i].word);
    }
}

/* {"inner": {"next": {"next": ... }}} */
static char *nested_text(char *text, size_t size, int depth)
{
    size_t used = (size_t)snprintf(text, size, "{\"inner\": ");
    for (int i = 0; i < depth; i++) {
        used += (size_t)snprintf(text + used, size - used, "{\"next\": ");
    }
    used += (size_t)snprintf(text + used, size - used, "{}");
    for (int i = 0; i <= depth; i++) {
        used += (size_t)snprintf(text + used, size - used, "}");
    }
    assert_true(used < size);
    return text;
}

TEST(nesting_has_a_limit)
{
    ProtobufCMessage *message = NULL;
    char text[20000];
    (void)everything(nested_text(text, sizeof(text), 31));
    assert_refused(from_text(&actorq__test__everything__descriptor,
                             nested_text(text, sizeof(text), 32), &message, &refusal),
                   AQ_E_INVALID, "nested too deeply");
    assert_int_equal(from_text(&actorq__test__everything__descriptor,
                               nested_text(text, sizeof(text), 1000), &message, &refusal),
                     AQ_E_INVALID);
}

TEST(a_place_too_long_to_name_is_cut)
{
    ProtobufCMessage *message = NULL;
    char text[2000];
    snprintf(text, sizeof(text), "{\"inner\": {\"%0*d\": 1}}", 1500, 0);
    assert_refused(from_text(&actorq__test__everything__descriptor, text, &message, &refusal),
                   AQ_E_INVALID, "inner.000");
}

TEST(running_out_of_memory_leaves_nothing_behind)
{
    static const char text[] =
        "{\"many_text\": [\"a\", \"b\"], \"many_inner\": [{\"name\": \"n\"}],"
        " \"many_data\": [\"AAAA\"], \"choice_inner\": {\"name\": \"x\"}}";
    ProtobufCMessage *message = NULL;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        rc = from_text(&actorq__test__everything__descriptor, text, &message, &refusal);
        assert_int_equal(refusal.code, rc);
    }
    release(message);
}
