/*
 * Metrics pages: Prometheus's text format, to the letter.
 */
#include "common/base/metrics_page.h"
#include "tests/support/test.h"

typedef struct page_fixture {
    aq_buffer text;
    aq_metrics_page page;
} page_fixture;

static void page_fixture_setup(page_fixture *fixture)
{
    aq_buffer_init(&fixture->text, 65536);
    aq_metrics_page_begin(&fixture->page, &fixture->text);
}

static void page_fixture_teardown(page_fixture *fixture)
{
    aq_buffer_fini(&fixture->text);
}

#define TEST_OF_PAGE(name) TEST_IN(page_fixture, fixture, name)

static void assert_text(page_fixture *fixture, const char *text)
{
    assert_int_equal(aq_metrics_page_end(&fixture->page), 0);
    assert_int_equal(aq_buffer_append(&fixture->text, "", 1), 0);
    assert_string_equal((const char *)fixture->text.data, text);
}

TEST_OF_PAGE(a_counter_is_three_lines)
{
    fixture->page.prefix = "actorq_";
    aq_page_counter(&fixture->page, "steps_total", "Steps.", 3);
    assert_text(fixture, "# HELP actorq_steps_total Steps.\n# TYPE actorq_steps_total counter\n"
                         "actorq_steps_total 3\n");
}

TEST_OF_PAGE(numbers_are_written_as_prometheus_reads_them)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},           {-1, "-1"},          {9007199254740991.0, "9007199254740991"},
        {1e300, "1e+300"},  {0.1, "0.1"},        {-2.5e-7, "-2.5e-07"},
        {INFINITY, "+Inf"}, {-INFINITY, "-Inf"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char expected[128] = "# HELP a b\n# TYPE a gauge\na ";
        aq_buffer_clear(&fixture->text);
        aq_page_gauge(&fixture->page, "a", "b", rows[i].value);
        strcat(strcat(expected, rows[i].text), "\n");
        assert_text(fixture, expected);
    }
}

TEST_OF_PAGE(what_has_no_value_yet_has_a_name_already)
{
    aq_page_gauge(&fixture->page, "a", "b", NAN);
    aq_page_sample(&fixture->page, "c", "d", NAN);
    assert_text(fixture, "# HELP a b\n# TYPE a gauge\n");
}

TEST_OF_PAGE(labels_are_escaped)
{
    const aq_metric_label labels[] = {{"a", "\"\\\n\xc3\xa9"}, {"b", ""}};
    aq_page_family(&fixture->page, AQ_METRIC_GAUGE, "n", "h");
    aq_page_labelled(&fixture->page, labels, 2, 1);
    aq_page_sample(&fixture->page, "a", "c", 2);
    assert_text(fixture, "# HELP n h\n# TYPE n gauge\n"
                         "n{a=\"\\\"\\\\\\n\xc3\xa9\",b=\"\"} 1\nn{a=\"c\"} 2\n");
}

TEST_OF_PAGE(a_histogram_of_versions_is_bounded_by_the_last_of_each)
{
    const uint64_t counts[] = {5, 0, 2, 1};
    aq_page_histogram(&fixture->page, "n", "h", counts, 4, 1, true);
    assert_text(fixture, "# HELP n h\n# TYPE n histogram\nn_bucket{le=\"0\"} 5\n"
                         "n_bucket{le=\"1\"} 5\nn_bucket{le=\"3\"} 7\nn_bucket{le=\"+Inf\"} 8\n"
                         "n_count 8\n");
}

TEST_OF_PAGE(a_histogram_of_times_is_in_its_unit)
{
    const uint64_t counts[] = {1, 1, 1};
    aq_page_histogram(&fixture->page, "n", "h", counts, 3, 0.001, false);
    assert_text(fixture, "# HELP n h\n# TYPE n histogram\nn_bucket{le=\"0.001\"} 1\n"
                         "n_bucket{le=\"0.002\"} 2\nn_bucket{le=\"+Inf\"} 3\nn_count 3\n");
}

TEST_OF_PAGE(a_histogram_of_nothing_is_whole)
{
    aq_page_histogram(&fixture->page, "n", "h", NULL, 0, 1, true);
    assert_text(fixture, "# HELP n h\n# TYPE n histogram\nn_bucket{le=\"+Inf\"} 0\nn_count 0\n");
}

TEST(a_page_that_does_not_fit_is_told_at_the_end)
{
    aq_metrics_page page;
    aq_metrics_page_begin(&page, buffer_up_to(20));
    aq_page_gauge(&page, "a", "b", 1);
    aq_page_gauge(&page, "c", "d", 1);
    assert_int_equal(aq_metrics_page_end(&page), AQ_E_TOO_BIG);
}

TEST_OF_PAGE(without_memory_is_told_at_the_end)
{
    aq_memory_fail_at(1, 1);
    aq_page_gauge(&fixture->page, "a", "b", 1);
    aq_memory_fail_at(0, 0);
    assert_int_equal(aq_metrics_page_end(&fixture->page), AQ_E_NOMEM);
}
