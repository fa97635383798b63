/*
 * Named arrays: found by name, judged, compared and copied.
 */
#include "common/nn/named_arrays.h"

#include "tests/support/test.h"

typedef struct pair {
    float weights[3];
    double sums[2];
    uint64_t steps;
    aq_named_arrays arrays;
} pair;

static void make(pair *all)
{
    *all = (pair){.weights = {1, -2, 3}, .sums = {0.5, 4}, .steps = 7};
    aq_named_arrays_add(&all->arrays, "weights", AQ_ARRAY_F32, 3, all->weights);
    aq_named_arrays_add_nonnegative(&all->arrays, "sums", AQ_ARRAY_F64, 2, all->sums);
    aq_named_arrays_add(&all->arrays, "steps", AQ_ARRAY_U64, 1, &all->steps);
}

TEST(an_array_is_found_by_its_whole_name)
{
    pair all;
    make(&all);
    assert_ptr_equal(aq_named_arrays_find(&all.arrays, "sums")->values, all.sums);
    assert_null(aq_named_arrays_find(&all.arrays, "sum"));
    assert_int_equal(aq_array_bytes(aq_named_arrays_find(&all.arrays, "weights")), 12);
    assert_int_equal(aq_array_bytes(aq_named_arrays_find(&all.arrays, "sums")), 16);
    assert_int_equal(aq_array_value_bytes(99), 0);
}

TEST(numbers_that_can_not_be_are_named)
{
    pair all;
    make(&all);
    for (size_t i = 0; i < all.arrays.count; i++) {
        assert_int_equal(aq_array_check(&all.arrays.arrays[i], NULL), 0);
    }
    all.weights[2] = INFINITY;
    assert_refused(aq_array_check(&all.arrays.arrays[0], &refusal), AQ_E_CORRUPT,
                   "weights: number 2 is NaN or infinite");
    all.sums[1] = -1;
    assert_refused(aq_array_check(&all.arrays.arrays[1], &refusal), AQ_E_CORRUPT,
                   "sums: number 1 is -1, less than 0");
    all.sums[0] = (double)NAN;
    assert_refused(aq_array_check(&all.arrays.arrays[1], &refusal), AQ_E_CORRUPT,
                   "sums: number 0 is NaN");
}

TEST(lists_are_the_same_by_names_types_and_counts_in_any_order)
{
    float weights[3];
    double sums[2];
    uint64_t steps[2];
    aq_named_arrays other = {0};
    pair all;
    make(&all);
    aq_named_arrays_add(&other, "sums", AQ_ARRAY_F64, 2, sums);
    aq_named_arrays_add(&other, "weights", AQ_ARRAY_F32, 3, weights);
    assert_refused(aq_named_arrays_check_same(&all.arrays, &other, &refusal), AQ_E_INVALID,
                   "there is no array steps in it");
    assert_refused(aq_named_arrays_check_same(&other, &all.arrays, &refusal), AQ_E_INVALID,
                   "there is an array steps in it, which is not wanted");
    aq_named_arrays_add(&other, "steps", AQ_ARRAY_U64, 2, steps);
    assert_refused(aq_named_arrays_check_same(&all.arrays, &other, &refusal), AQ_E_INVALID,
                   "its array steps has 2 numbers, not 1");
    other.arrays[2].count = 1;
    assert_int_equal(aq_named_arrays_check_same(&all.arrays, &other, NULL), 0);
    other.arrays[2].type = AQ_ARRAY_F64;
    assert_int_equal(aq_named_arrays_check_same(&all.arrays, &other, NULL), AQ_E_INVALID);
}

TEST(a_copy_goes_by_name)
{
    uint64_t steps = 0;
    double sums[2] = {0};
    float weights[3] = {0};
    aq_named_arrays other = {0};
    pair all;
    make(&all);
    aq_named_arrays_add(&other, "steps", AQ_ARRAY_U64, 1, &steps);
    aq_named_arrays_add(&other, "sums", AQ_ARRAY_F64, 2, sums);
    aq_named_arrays_add(&other, "weights", AQ_ARRAY_F32, 3, weights);
    aq_named_arrays_copy(&all.arrays, &other);
    assert_int_equal(steps, 7);
    assert_memory_equal(sums, all.sums, sizeof(sums));
    assert_memory_equal(weights, all.weights, sizeof(weights));
}

TEST(arrays_like_others_are_zeroed_and_apart)
{
    const double zeros[2] = {0};
    aq_named_arrays like = {0};
    pair all;
    int rc;
    make(&all);
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_named_arrays_like(&all.arrays, &like);
    }
    assert_int_equal(aq_named_arrays_check_same(&all.arrays, &like, NULL), 0);
    assert_memory_equal(aq_named_arrays_find(&like, "sums")->values, zeros, sizeof(zeros));
    aq_named_arrays_copy(&all.arrays, &like);
    assert_int_equal(*(uint64_t *)aq_named_arrays_find(&like, "steps")->values, 7);
    assert_memory_equal(aq_named_arrays_find(&like, "weights")->values, all.weights, 12);
    aq_named_arrays_fini(&like);
    aq_named_arrays_fini(&like);
}
