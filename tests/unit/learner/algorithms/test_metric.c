/*
 * Metrics: what stands for many updates, and that each algorithm's rows are fit for every place
 * that they go to.
 */
#include "learner/algorithms/metric.h"

#include <ctype.h>

#include "learner/algorithms/algorithm.h"
#include "tests/support/test.h"

static const aq_metric rows[] = {
    {"mean", "mean", "", "The mean.", AQ_METRIC_MEAN, false},
    {"last", "last", "", "The last.", AQ_METRIC_LAST, false},
    {"most", "most", "", "The most.", AQ_METRIC_MAX, false},
    {"least", "least", "", "The least.", AQ_METRIC_MIN, false},
};
static const aq_metric_list list = {rows, 4};

static void assert_folded(const aq_metric_sums *sums, double mean, double last, double most,
                          double least)
{
    assert_near(aq_metric_value(&list, sums, 0), mean, 1e-12);
    assert_near(aq_metric_value(&list, sums, 1), last, 1e-12);
    assert_near(aq_metric_value(&list, sums, 2), most, 1e-12);
    assert_near(aq_metric_value(&list, sums, 3), least, 1e-12);
}

TEST(each_row_folds_in_its_way)
{
    aq_metric_sums sums = {0};
    aq_metric_sums_add(&list, &sums, (const double[]){1, 1, -5, 3});
    assert_folded(&sums, 1, 1, -5, 3);
    aq_metric_sums_add(&list, &sums, (const double[]){2, 7, -9, 4});
    assert_folded(&sums, 1.5, 7, -5, 3);
}

TEST(an_update_without_a_number_leaves_the_row_as_it_was)
{
    aq_metric_sums sums = {0};
    aq_metric_sums_add(&list, &sums, (const double[]){NAN, NAN, NAN, NAN});
    for (size_t i = 0; i < list.count; i++) {
        assert_true(isnan(aq_metric_value(&list, &sums, i)));
    }
    aq_metric_sums_add(&list, &sums, (const double[]){2, 2, -2, 2});
    aq_metric_sums_add(&list, &sums, (const double[]){NAN, NAN, NAN, NAN});
    assert_folded(&sums, 2, 2, -2, 2);
}

TEST(sums_merge_as_if_added_one_by_one)
{
    const aq_metric_sums none = {0};
    aq_metric_sums first = {0}, second = {0};
    aq_metric_sums_add(&list, &first, (const double[]){3, 3, -3, 1});
    aq_metric_sums_add(&list, &second, (const double[]){5, 5, -8, 9});
    aq_metric_sums_add(&list, &second, (const double[]){10, 4, -6, 0});
    aq_metric_sums_merge(&list, &first, &none);
    assert_folded(&first, 3, 3, -3, 1);
    aq_metric_sums_merge(&list, &first, &second);
    assert_int_equal(first.updates[0], 3);
    assert_folded(&first, 6, 4, -3, 0);
}

TEST(before_the_first_update_there_is_no_value)
{
    const aq_metric_sums none = {0};
    for (size_t i = 0; i < list.count; i++) {
        assert_true(isnan(aq_metric_value(&list, &none, i)));
    }
}

static void check_row(const aq_metric_list *metrics, size_t at)
{
    const aq_metric *row = &metrics->rows[at];
    const size_t length = strlen(row->meaning);
    assert_true(strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(row->name));
    assert_true(islower((unsigned char)row->name[0]));
    assert_true(strlen(row->title) > 0 && strlen(row->title) <= 20);
    assert_non_null(row->unit);
    assert_true(length > 1 && row->meaning[length - 1] == '.');
    for (size_t other = 0; other < at; other++) {
        assert_string_not_equal(metrics->rows[other].name, row->name);
    }
}

TEST(the_rows_of_every_algorithm_are_fit_for_files_and_people)
{
    for (size_t i = 0; i < aq_algorithm_count(); i++) {
        const aq_metric_list *metrics = &aq_algorithm_at(i)->metrics;
        assert_in_range(metrics->count, 1, AQ_METRICS_MAX);
        for (size_t at = 0; at < metrics->count; at++) {
            check_row(metrics, at);
        }
    }
}
