/*
 * Items reach the loop in order, none is lost, and closing is safe at any moment.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "common/sys/mailbox.h"
#include "tests/support/test.h"

#define CAPACITY 1000

typedef struct mail_desk {
    uv_loop_t loop;
    uv_idle_t idle;
    aq_mailbox *mailbox;
    size_t handled;
    size_t dropped;
    size_t close_after; /* the handler closes the mailbox after this many; 0: never */
    size_t handled_at_idle[16];
    size_t idle_count;
    void *last;
    int post_in_handler;
    int numbers[CAPACITY];
} mail_desk;

static void handle(void *user, void *item)
{
    mail_desk *desk = user;
    desk->handled++;
    desk->last = item;
    if (desk->post_in_handler > 0) {
        desk->post_in_handler--;
        assert_int_equal(aq_mailbox_post(desk->mailbox, item), 0);
    }
    if (desk->handled == desk->close_after) {
        aq_mailbox_close(desk->mailbox);
    }
}

static void drop(void *user, void *item)
{
    mail_desk *desk = user;
    assert_non_null(item);
    desk->dropped++;
}

static mail_desk *open_desk(void)
{
    mail_desk *desk = aq_alloc(1, sizeof(*desk));
    assert_non_null(desk);
    assert_int_equal(uv_loop_init(&desk->loop), 0);
    assert_int_equal(aq_mailbox_create(&desk->loop, CAPACITY, handle, drop, desk, &desk->mailbox),
                     0);
    return desk;
}

/* The loop ends by itself once every handle is closed. */
static void close_desk(mail_desk *desk)
{
    assert_int_equal(uv_run(&desk->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    aq_free(desk);
}

#define TEST_OF_DESK(name) TEST_OF(name, mail_desk *desk, open_desk(), close_desk)

static void post_numbers(mail_desk *desk, int count)
{
    for (int i = 0; i < count; i++) {
        assert_int_equal(aq_mailbox_post(desk->mailbox, &desk->numbers[i]), 0);
    }
}

TEST_OF_DESK(items_are_handled_in_order)
{
    post_numbers(desk, 3);
    assert_int_equal(desk->handled, 0); /* only the loop's thread handles */
    uv_run(&desk->loop, UV_RUN_NOWAIT);
    assert_int_equal(desk->handled, 3); /* one wake for all */
    assert_ptr_equal(desk->last, &desk->numbers[2]);
    aq_mailbox_close(desk->mailbox);
}

TEST_OF_DESK(a_post_to_a_full_mailbox_is_refused)
{
    post_numbers(desk, CAPACITY);
    assert_int_equal(aq_mailbox_post(desk->mailbox, desk), AQ_E_FULL);
    aq_mailbox_close(desk->mailbox);
    assert_int_equal(desk->dropped, CAPACITY);
}

static void count_at_idle(uv_idle_t *idle)
{
    mail_desk *desk = idle->data;
    if (desk->idle_count < sizeof(desk->handled_at_idle) / sizeof(desk->handled_at_idle[0])) {
        desk->handled_at_idle[desk->idle_count++] = desk->handled;
    }
    if (desk->handled == CAPACITY) {
        uv_close((uv_handle_t *)idle, NULL);
        aq_mailbox_close(desk->mailbox);
    }
}

TEST_OF_DESK(other_handles_get_their_turn_under_load)
{
    uv_idle_init(&desk->loop, &desk->idle);
    desk->idle.data = desk;
    uv_idle_start(&desk->idle, count_at_idle);
    post_numbers(desk, CAPACITY);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_int_equal(desk->handled, CAPACITY);
    assert_true(desk->idle_count >= 4);
    for (size_t i = 1; i < desk->idle_count; i++) {
        assert_true(desk->handled_at_idle[i] - desk->handled_at_idle[i - 1] <= 256);
    }
}

TEST_OF_DESK(a_handler_may_post)
{
    desk->post_in_handler = 600; /* more than one wake's worth */
    desk->close_after = 601;
    assert_int_equal(aq_mailbox_post(desk->mailbox, desk), 0);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_int_equal(desk->handled, 601);
}

TEST_OF_DESK(a_handler_may_close_and_the_rest_is_dropped)
{
    desk->close_after = 2;
    post_numbers(desk, 5);
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    assert_int_equal(desk->handled, 2);
    assert_int_equal(desk->dropped, 3);
}

TEST_OF_DESK(a_closed_mailbox_refuses_posts)
{
    aq_mailbox_close(desk->mailbox);
    assert_int_equal(aq_mailbox_post(desk->mailbox, desk), AQ_E_CLOSED);
}

TEST(nothing_to_drop_with_is_fine)
{
    uv_loop_t loop;
    aq_mailbox *mailbox = NULL;
    int item = 0;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(aq_mailbox_create(&loop, 1, handle, NULL, NULL, &mailbox), 0);
    assert_int_equal(aq_mailbox_post(mailbox, &item), 0);
    aq_mailbox_close(mailbox);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

TEST(create_survives_every_failed_allocation_and_close_takes_null)
{
    uv_loop_t loop;
    aq_mailbox *mailbox = NULL;
    aq_mailbox_close(NULL);
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_made_despite_failures(mailbox,
                                 aq_mailbox_create(&loop, 4, handle, drop, NULL, &mailbox));
    aq_mailbox_close(mailbox);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
}

#define POSTERS          3
#define POSTS_PER_THREAD 3000

typedef struct post_job {
    mail_desk *desk;
    atomic_size_t *posted;
    int until_closed;
} post_job;

static void *post_many(void *argument)
{
    const post_job *job = argument;
    int posted = 0;
    while (job->until_closed || posted < POSTS_PER_THREAD) {
        int rc = aq_mailbox_post(job->desk->mailbox, job->desk);
        if (rc == AQ_E_CLOSED) {
            break;
        }
        if (rc == 0) {
            posted++;
            atomic_fetch_add(job->posted, 1);
        }
    }
    return NULL;
}

static void start_posters(pthread_t *threads, post_job *job)
{
    for (int i = 0; i < POSTERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, job), 0);
    }
}

TEST_OF_DESK(no_item_of_many_threads_is_lost)
{
    atomic_size_t posted = 0;
    post_job job = {desk, &posted, 0};
    pthread_t threads[POSTERS];
    desk->close_after = (size_t)POSTERS * POSTS_PER_THREAD;
    start_posters(threads, &job);
    /* Ends with the close callback, which the last item brings about: nobody posts any more. */
    uv_run(&desk->loop, UV_RUN_DEFAULT);
    for (int i = 0; i < POSTERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(desk->handled, desk->close_after);
    assert_int_equal(desk->dropped, 0);
}

TEST_OF_DESK(closing_under_fire_handles_or_drops_each_item)
{
    atomic_size_t posted = 0;
    post_job job = {desk, &posted, 1};
    pthread_t threads[POSTERS];
    start_posters(threads, &job);
    while (desk->handled < 2000) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    aq_mailbox_close(desk->mailbox);
    for (int i = 0; i < POSTERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(desk->handled + desk->dropped, atomic_load(&posted));
}
