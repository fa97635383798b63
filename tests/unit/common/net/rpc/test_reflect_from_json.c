/*
 * JSON to messages: what is taken, and that hostile JSON is refused with the place it is wrong at.
 */
#include "common/net/rpc/reflect.h"
#include "proto/operations.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/everything.pb-c.h"

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
        "{\"u32\": 4, \"u64\": 9, \"f64\": 10, \"real32\": 0.5, \"real64\": -2,"
        " \"flag\": true, \"color\": \"COLOR_CRIMSON\", \"text\": \"t\", \"data\": \"AP8Q\"}");
    assert_int_equal(message->u32, 4);
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
    Actorq__Test__Everything *message =
        everything("{\"u64\": \"18446744073709551615\", \"u32\": \"7\"}");
    assert_true(message->u64 == UINT64_MAX);
    assert_int_equal(message->u32, 7);
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
        everything("{\"u32\": null, \"inner\": null, \"many_u32\": null}");
    assert_int_equal(message->u32, 0);
    assert_null(message->inner);
    assert_int_equal(message->n_many_u32, 0);
}

TEST(an_empty_object_is_all_defaults)
{
    Actorq__Test__Everything *message = everything("{}");
    uint8_t byte = 0;
    assert_int_equal(protobuf_c_message_get_packed_size(&message->base), 0);
    assert_int_equal(protobuf_c_message_pack(&message->base, &byte), 0);
}

static const struct {
    const char *json;
    const char *place;
    const char *word;
} refused[] = {
    {"{\"u32\": 4294967296}", "u32", "out of range"},
    {"{\"u32\": -1}", "u32", "not negative"},
    {"{\"u64\": -1}", "u64", "not negative"},
    {"{\"u64\": \"18446744073709551616\"}", "u64", "not negative"},
    {"{\"u32\": 1.0}", "u32", "integer"},
    {"{\"u32\": true}", "u32", "integer"},
    {"{\"u32\": \"\"}", "u32", "integer"},
    {"{\"u32\": {}}", "u32", "integer"},
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
    {"{\"many_u32\": 7}", "many_u32", "array"},
    {"{\"many_u32\": {}}", "many_u32", "array"},
    {"{\"many_u32\": [1, 2, null]}", "many_u32[2]", "integer"},
    {"{\"many_text\": [\"a\", \"b\", 3]}", "many_text[2]", "string"},
    {"{\"many_data\": [\"AAAA\", \"*\"]}", "many_data[1]", "base64"},
    {"{\"many_inner\": [{}, {\"name\": \"x\"}, {\"next\": 1}]}", "many_inner[2].next", "object"},
    {"{\"nothing_like_it\": 1}", "nothing_like_it", "no such field"},
    {"{\"u23\": 1}", "u23", "did you mean u32?"},
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
        " \"many_data\": [\"AAAA\"]}";
    ProtobufCMessage *message = NULL;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        rc = from_text(&actorq__test__everything__descriptor, text, &message, &refusal);
        assert_int_equal(refusal.code, rc);
    }
    release(message);
}
