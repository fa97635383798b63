/*
 * What a schema can be, what its values take, and that its hash sees every meaningful field and
 * nothing else.
 */
#include "common/experience/schema.h"
#include "tests/support/test.h"

static aq_schema cartpole(void)
{
    const float high[] = {4.8f, INFINITY, 0.42f, INFINITY};
    const float low[] = {-4.8f, -INFINITY, -0.42f, -INFINITY};
    aq_schema schema;
    aq_space_init_box(&schema.obs, 4, low, high);
    aq_space_init_discrete(&schema.action, 2);
    return schema;
}

static aq_space image(void)
{
    return (aq_space){
        .kind = AQ_SPACE_BOX,
        .dtype = AQ_DTYPE_U8,
        .rank = 3,
        .shape = {84, 84, 4},
        .bound_count = 1,
        .low = {0.0f},
        .high = {255.0f},
    };
}

TEST(sizes_follow_kind_and_dtype)
{
    aq_schema schema = cartpole();
    aq_space pixels = image();
    assert_int_equal(aq_space_elements(&schema.obs), 4);
    assert_int_equal(aq_space_bytes(&schema.obs), 16);
    assert_int_equal(aq_space_elements(&schema.action), 1);
    assert_int_equal(aq_space_bytes(&schema.action), 4);
    assert_int_equal(aq_space_elements(&pixels), 84 * 84 * 4);
    assert_int_equal(aq_space_bytes(&pixels), 84 * 84 * 4);
}

TEST(sizes_of_a_wild_shape_do_not_wrap)
{
    aq_space space = image();
    space.rank = 4;
    space.dtype = AQ_DTYPE_F32;
    for (int i = 0; i < 4; i++) {
        space.shape[i] = UINT32_MAX;
    }
    assert_true(aq_space_elements(&space) == SIZE_MAX);
    assert_true(aq_space_bytes(&space) == SIZE_MAX);
}

TEST(usual_schemas_are_valid)
{
    aq_schema schema = cartpole();
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
    schema.obs = image();
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
}

static void refuse_space(const aq_space *space, const char *words)
{
    assert_refused(aq_space_validate(space, "observation", &refusal), AQ_E_SCHEMA, words);
    assert_says(refusal.text, "observation");
}

TEST(unknown_kinds_and_dtypes_are_refused)
{
    aq_space space = image();
    space.dtype = 3;
    refuse_space(&space, "unknown element type 3");
    space.kind = 0;
    refuse_space(&space, "unknown kind of space 0");
}

TEST(impossible_shapes_are_refused)
{
    aq_space space = image();
    space.rank = 0;
    refuse_space(&space, "0 dimensions");
    space.rank = 5;
    refuse_space(&space, "5 dimensions");
    space.rank = UINT32_MAX;
    refuse_space(&space, "dimensions");
    space = image();
    space.shape[1] = 0;
    refuse_space(&space, "dimension 1 is empty");
    space = image();
    space.shape[0] = 4096;
    space.shape[1] = 4096;
    space.shape[2] = 1;
    assert_int_equal(aq_space_validate(&space, "observation", NULL), 0); /* the limit itself */
    space.shape[2] = 2;
    refuse_space(&space, "more than 16777216 elements");
    space.shape[0] = space.shape[1] = space.shape[2] = UINT32_MAX; /* wraps if multiplied naively */
    refuse_space(&space, "more than 16777216 elements");
}

TEST(impossible_stacks_are_refused)
{
    static const struct {
        uint32_t channels, frames;
        const char *words;
    } rows[] = {{4, 1, "no stack of 1"}, {6, 4, "no stack of 4"}, {34, 17, "no stack of 17"}};
    aq_space space = image();
    EACH_ROW(i, rows) {
        space.shape[2] = rows[i].channels;
        space.frames = rows[i].frames;
        refuse_space(&space, rows[i].words);
    }
    aq_schema schema = cartpole();
    schema.obs.frames = 2;
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
    const aq_schema plain = cartpole();
    assert_true(aq_schema_hash(&schema) != aq_schema_hash(&plain));
    schema.action = schema.obs;
    assert_refused(aq_schema_validate(&schema, &refusal), AQ_E_SCHEMA, "observations alone");
}

TEST(bounds_are_one_or_one_each)
{
    aq_schema schema = cartpole();
    for (uint32_t count = 0; count < 10; count++) {
        schema.obs.bound_count = count;
        int rc = aq_space_validate(&schema.obs, "observation", NULL);
        assert_int_equal(rc, count == 1 || count == 4 ? 0 : AQ_E_SCHEMA);
    }
    schema.obs.bound_count = UINT32_MAX;
    refuse_space(&schema.obs, "bounds");
    schema.obs.bound_count = schema.obs.shape[0] = AQ_BOUNDS_MAX + 1;
    refuse_space(&schema.obs, "129 bounds");
}

TEST(bounds_that_no_value_meets_are_refused)
{
    aq_schema schema = cartpole();
    schema.obs.low[2] = NAN;
    refuse_space(&schema.obs, "bound 2 is not a number");
    schema = cartpole();
    schema.obs.high[0] = -5.0f;
    refuse_space(&schema.obs, "bound 0");
    schema = cartpole();
    schema.obs.low[1] = INFINITY;
    refuse_space(&schema.obs, "bound 1");
    schema = cartpole();
    schema.obs.high[3] = -INFINITY;
    refuse_space(&schema.obs, "bound 3");
    schema = cartpole();
    schema.obs.low[0] = schema.obs.high[0]; /* one value is a value */
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
}

/* Of 3 and 4 choices at once. */
static aq_schema several(void)
{
    aq_schema schema = cartpole();
    aq_space_init_choices(&schema.action, 2, (uint32_t[]){3, 4});
    return schema;
}

TEST(several_choices_are_a_row_of_whole_numbers_from_zero)
{
    static const struct {
        uint32_t rank, shape, bounds;
        float low, high;
        const char *words;
    } broken[] = {
        {2, 2, 2, 0, 3, "a row of 1 to 128"},    {1, 3, 2, 0, 3, "a row of 1 to 128"},
        {1, 0, 0, 0, 3, "a row of 1 to 128"},    {1, 129, 129, 0, 3, "a row of 1 to 128"},
        {1, 2, 2, 1, 3, "choice 1 from 1 to 3"}, {1, 2, 2, 0, -1, "choice 1 from 0 to -1"},
        {1, 2, 2, 0, 2.5f, "choice 1 from 0"},   {1, 2, 2, 0, NAN, "choice 1 from 0"},
        {1, 2, 2, 0, INFINITY, "choice 1"},      {1, 2, 2, 0, 16777215.0f, "more than 16777216"},
    };
    aq_schema schema = several();
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
    assert_int_equal(aq_space_bytes(&schema.action), 2 * sizeof(int32_t));
    assert_int_equal(aq_space_choices_all(&schema.action), 7);
    assert_true(aq_space_has(&schema.action, (int32_t[]){2, 3}));
    assert_false(aq_space_has(&schema.action, (int32_t[]){3, 2}));
    assert_false(aq_space_has(&schema.action, (int32_t[]){0, -1}));
    schema.obs = schema.action;
    assert_refused(aq_schema_validate(&schema, &refusal), AQ_E_SCHEMA, "actions alone");
    EACH_ROW(i, broken) {
        schema = several();
        schema.action.rank = broken[i].rank;
        schema.action.shape[0] = broken[i].shape;
        schema.action.bound_count = broken[i].bounds;
        schema.action.low[1] = broken[i].low;
        schema.action.high[1] = broken[i].high;
        refuse_space(&schema.action, broken[i].words);
    }
}

TEST(a_discrete_space_has_a_choice)
{
    aq_schema schema = cartpole();
    schema.action.choice_count = 0;
    assert_refused(aq_schema_validate(&schema, &refusal), AQ_E_SCHEMA, "action: 0 choices");
    schema.action.choice_count = UINT32_MAX;
    assert_int_equal(aq_schema_validate(&schema, NULL), AQ_E_SCHEMA);
    schema.action.choice_count = 1;
    assert_int_equal(aq_schema_validate(&schema, NULL), 0);
}

TEST(the_hash_is_what_it_was)
{
    aq_schema schema = cartpole();
    /* Peers of different builds compare it: a change of this number is a change of protocol. */
    assert_true(aq_schema_hash(&schema) == UINT64_C(0x3909ed2ce07341fc));
}

TEST(the_hash_sees_every_meaningful_field)
{
    enum { SCHEMAS = 14 }; /* the first is unchanged */
    aq_schema schemas[SCHEMAS];
    uint64_t seen[SCHEMAS];
    for (size_t i = 0; i < SCHEMAS; i++) {
        schemas[i] = cartpole();
    }
    schemas[1].obs.shape[0] = 3;
    schemas[2].obs.bound_count = 1;
    schemas[3].obs.low[3] = -1.0f;
    schemas[4].obs.high[2] = 0.43f;
    schemas[5].obs.dtype = AQ_DTYPE_U8;
    schemas[6].obs.rank = 2;
    schemas[6].obs.shape[1] = 1;
    schemas[7].action.choice_count = 3;
    schemas[8].action = schemas[8].obs;
    aq_space_init_discrete(&schemas[9].obs, 4);
    aq_space_init_choices(&schemas[10].action, 1, (uint32_t[]){2});
    aq_space_init_choices(&schemas[11].action, 2, (uint32_t[]){2, 3});
    aq_space_init_choices(&schemas[12].action, 2, (uint32_t[]){3, 2});
    schemas[13].action = schemas[12].action; /* a box of the same bounds */
    schemas[13].action.kind = AQ_SPACE_BOX;
    for (size_t i = 0; i < SCHEMAS; i++) {
        seen[i] = aq_schema_hash(&schemas[i]);
        assert_true(seen[i] != 0);
        for (size_t k = 0; k < i; k++) {
            assert_true(seen[i] != seen[k]);
        }
    }
}

TEST(the_hash_ignores_what_has_no_meaning)
{
    aq_schema schema = cartpole();
    uint64_t hash = aq_schema_hash(&schema);
    schema.obs.shape[1] = 99;      /* past the rank */
    schema.obs.low[4] = NAN;       /* past the bounds */
    schema.obs.choice_count = 5;   /* of a box */
    schema.action.dtype = 77;      /* of a choice */
    schema.action.bound_count = 3; /* of a lone one */
    assert_true(aq_schema_hash(&schema) == hash);
}

TEST(a_zero_bound_of_either_sign_hashes_the_same)
{
    aq_schema a = cartpole(), b = cartpole();
    a.obs.low[0] = 0.0f;
    b.obs.low[0] = -0.0f;
    assert_true(aq_schema_hash(&a) == aq_schema_hash(&b));
}

TEST(hash_and_text_of_unchecked_garbage_stay_inside)
{
    aq_schema schema;
    char text[200];
    memset(&schema, 0xff, sizeof(schema));
    schema.obs.kind = schema.action.kind = AQ_SPACE_BOX;
    assert_true(aq_schema_hash(&schema) != 0);
    assert_non_null(strstr(aq_schema_text(&schema, text, sizeof(text)), "4294967295"));
    assert_int_equal(aq_schema_validate(&schema, NULL), AQ_E_SCHEMA);
}

TEST(pictures_are_boxes_with_sides_and_perhaps_channels)
{
    aq_space space = image();
    aq_picture_shape shape = {0};
    assert_true(aq_space_is_picture(&space, &shape));
    assert_int_equal(shape.height * 1000000 + shape.width * 1000 + shape.channels, 84084004);
    space.rank = 2;
    assert_true(aq_space_is_picture(&space, &shape));
    assert_int_equal(shape.channels, 1);
    space.rank = 1;
    assert_false(aq_space_is_picture(&space, &shape));
    aq_space_init_discrete(&space, 5);
    assert_false(aq_space_is_picture(&space, &shape));
}

TEST(text_names_shapes_and_fits_its_buffer)
{
    aq_schema schema = cartpole();
    char text[64], tiny[5];
    assert_string_equal(aq_schema_text(&schema, text, sizeof(text)), "box f32[4] -> discrete 2");
    schema.obs = image();
    assert_string_equal(aq_schema_text(&schema, text, sizeof(text)),
                        "box u8[84,84,4] -> discrete 2");
    schema.action = several().action;
    assert_string_equal(aq_schema_text(&schema, text, sizeof(text)),
                        "box u8[84,84,4] -> discrete 3,4");
    aq_space_init_choices(&schema.action, 9, (uint32_t[]){2, 2, 2, 2, 2, 2, 2, 2, 2});
    assert_says(aq_schema_text(&schema, text, sizeof(text)), "discrete 2,2,2,2,2,2,2,...");
    assert_string_equal(aq_schema_text(&schema, tiny, sizeof(tiny)), "box ");
}
