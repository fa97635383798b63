/*
 * One call at a time; a shard that is away or has nothing yet fails it, which is no fault.
 */
#include "tests/chaos/chaos_sampler.h"

#include "tests/chaos/chaos_cartpole.h"
#include "tests/support/test.h"

enum { ROWS = 32, TIMEOUT_MS = 500, REPLY_BYTES_MAX = 1 << 20 };

void chaos_sampler_open(chaos_sampler *sampler, uv_loop_t *loop, const char *url,
                        const aq_run_plan *plan)
{
    const aq_net_limits limits = {
        .message_bytes_max = REPLY_BYTES_MAX,
        .reconnect_min_ms = 5,
        .reconnect_max_ms = 50,
    };
    *sampler = (chaos_sampler){.plan = plan};
    assert_int_equal(aq_rpc_client_create(loop, url, &limits, 1, &sampler->client, NULL), 0);
    aq_rpc_stub_init(&sampler->stub, aq_rpc_client_channel(sampler->client),
                     &actorq__v1__sampling__descriptor, TIMEOUT_MS);
}

void chaos_sampler_close(chaos_sampler *sampler)
{
    aq_rpc_client_close(sampler->client);
}

static float float_at(const ProtobufCBinaryData *column, size_t row)
{
    float number;
    memcpy(&number, column->data + row * sizeof(number), sizeof(number));
    return number;
}

static bool is_genuine(const chaos_sampler *sampler, const Actorq__V1__SampleReply *reply,
                       size_t row)
{
    const aq_layout *layout = &sampler->plan->layout;
    const uint8_t *next = reply->next_obs.data + row * layout->columns[AQ_COLUMN_OBS].bytes;
    int32_t action = 0;
    memcpy(&action, reply->action.data + row * layout->columns[AQ_COLUMN_ACTION].bytes,
           layout->columns[AQ_COLUMN_ACTION].bytes);
    const float bootstrap = float_at(&reply->bootstrap, row);
    const bool ends = bootstrap == 0.0f;
    return chaos_cartpole_follows(reply->obs.data + row * layout->columns[AQ_COLUMN_OBS].bytes,
                                  action, next) &&
           float_at(&reply->reward, row) == 1.0f &&
           (ends || bootstrap == (float)sampler->plan->config.learner.discount) &&
           (ends ? chaos_cartpole_is_out(next, -1e-5) : !chaos_cartpole_is_out(next, 1e-5));
}

static bool is_whole(const chaos_sampler *sampler, const Actorq__V1__SampleReply *reply)
{
    const aq_layout *layout = &sampler->plan->layout;
    const size_t rows = reply->rows;
    return rows == ROWS && reply->obs.len == rows * layout->columns[AQ_COLUMN_OBS].bytes &&
           reply->next_obs.len == rows * layout->columns[AQ_COLUMN_OBS].bytes &&
           reply->action.len == rows * layout->columns[AQ_COLUMN_ACTION].bytes &&
           reply->reward.len == rows * sizeof(float) &&
           reply->bootstrap.len == rows * sizeof(float);
}

static void on_sample(const Actorq__V1__SampleReply *reply, void *user)
{
    chaos_sampler *sampler = user;
    sampler->is_calling = false;
    if (reply == NULL) {
        return;
    }
    assert_true(is_whole(sampler, reply));
    for (size_t row = 0; row < reply->rows; row++) {
        sampler->corrupt += !is_genuine(sampler, reply, row);
    }
    sampler->rows += reply->rows;
}

void chaos_sampler_ask(chaos_sampler *sampler, uint64_t run_id)
{
    Actorq__V1__SampleRequest request = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    if (sampler->is_calling) {
        return;
    }
    request.run_id = run_id;
    request.schema_hash = sampler->plan->settings.schema_hash;
    request.batch_rows = ROWS;
    request.batch_count = 1;
    request.discount = (float)sampler->plan->config.learner.discount;
    request.wait_ms = 100;
    sampler->is_calling = true;
    actorq__v1__sampling__sample(&sampler->stub.base, &request, on_sample, sampler);
}
