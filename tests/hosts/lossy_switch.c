/*
 * A network switch with lines that misbehave: what tests of separate hosts run on. Linux's netem
 * does the same, but many kernels are built without it.
 *
 *     lossy_switch SEED PORTS
 *
 * makes so many TAP devices, named port-1, port-2 and so on, which is for the caller to move
 * into the host's network namespace, with the hardware address 02:41:51:00:00:NN. Frames go where
 * their address says; those to everybody go to everybody.
 *
 * It is told what to do in lines on standard input, and answers each with "ok", or with what was
 * wrong with it:
 *
 *     shape DELAY_US LOSS_PPM RATE_BPS   of what each host sends; a rate of 0 is unlimited
 *     cut NN, heal NN                    nothing passes from or to that port, and nobody is told
 *
 * A frame waits for its turn on its line, as long as its size takes at that rate; may then be lost;
 * and arrives after the delay. Of those that wait or travel there are FRAMES_MAX for each host, as
 * netem has by default; one that comes too many is lost. It ends when its input does.
 *
 * One thread.
 */
#define _GNU_SOURCE /* ppoll */

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/rng.h"

enum {
    PORTS_MAX = 16,
    FRAMES_MAX = 1000,
    FRAME_BYTES = 1536,
    BURST_FRAMES = 64, /* that one port may bring before the others have their turn */
    LINE_BYTES = 128,
    LOSS_ALL_PPM = 1000000,
    HARDWARE_BYTES = 6, /* of an address; the receiver's is what a frame begins with */
};

typedef struct frame {
    int64_t due_ns;
    size_t size;
    uint8_t bytes[FRAME_BYTES];
} frame;

typedef struct port {
    int device;
    bool is_cut;
    frame *frames; /* [FRAMES_MAX], a ring; in the order in which they are due */
    size_t first, count;
    int64_t line_free_ns; /* when the last of them has left the host */
} port;

typedef struct line_shape {
    int64_t delay_ns;
    uint64_t loss_ppm;
    uint64_t rate_bps; /* 0: unlimited */
} line_shape;

typedef struct network_switch {
    port ports[PORTS_MAX];
    size_t port_count;
    line_shape shape;
    aq_rng rng;
    char line[LINE_BYTES]; /* that standard input has begun */
    size_t line_size;
} network_switch;

/* ---- frames --------------------------------------------------------------------------------- */

static void write_frame(const port *to, const uint8_t *bytes, size_t size)
{
    if (!to->is_cut) {
        ssize_t written = write(to->device, bytes, size);
        (void)written; /* a full device loses it, as a network may */
    }
}

static void deliver(const network_switch *lan, const port *from, const uint8_t *bytes, size_t size)
{
    static const uint8_t ours[HARDWARE_BYTES - 1] = {0x02, 0x41, 0x51, 0, 0};
    const bool is_for_one = memcmp(bytes, ours, sizeof(ours)) == 0;
    const size_t number = bytes[HARDWARE_BYTES - 1];
    for (size_t i = 0; i < lan->port_count; i++) {
        const port *to = &lan->ports[i];
        if (to != from && (!is_for_one || number == i + 1)) {
            write_frame(to, bytes, size);
        }
    }
}

static void take_frame(network_switch *lan, port *from, const uint8_t *bytes, size_t size,
                       int64_t now_ns)
{
    const line_shape *shape = &lan->shape;
    if (from->is_cut || size < HARDWARE_BYTES || from->count == FRAMES_MAX) {
        return;
    }
    int64_t left_ns = from->line_free_ns > now_ns ? from->line_free_ns : now_ns;
    if (shape->rate_bps > 0) {
        left_ns += (int64_t)(8 * size * (uint64_t)AQ_NS_PER_S / shape->rate_bps);
        from->line_free_ns = left_ns;
    }
    if (aq_rng_below(&lan->rng, LOSS_ALL_PPM) < shape->loss_ppm) {
        return;
    }
    if (from->count == 0 && left_ns + shape->delay_ns <= now_ns) {
        deliver(lan, from, bytes, size);
        return;
    }
    frame *place = &from->frames[(from->first + from->count) % FRAMES_MAX];
    from->count++;
    place->due_ns = left_ns + shape->delay_ns;
    place->size = size;
    memcpy(place->bytes, bytes, size);
}

static void read_frames(network_switch *lan, port *from)
{
    uint8_t bytes[FRAME_BYTES];
    const int64_t now_ns = aq_clock_monotonic_ns();
    for (int i = 0; i < BURST_FRAMES; i++) {
        ssize_t size = read(from->device, bytes, sizeof(bytes));
        if (size <= 0) {
            return;
        }
        take_frame(lan, from, bytes, (size_t)size, now_ns);
    }
}

/* Delivers what is due; when the next is, or INT64_MAX. */
static int64_t deliver_due(network_switch *lan)
{
    const int64_t now_ns = aq_clock_monotonic_ns();
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < lan->port_count; i++) {
        port *from = &lan->ports[i];
        while (from->count > 0 && from->frames[from->first].due_ns <= now_ns) {
            const frame *due = &from->frames[from->first];
            if (!from->is_cut) {
                deliver(lan, from, due->bytes, due->size);
            }
            from->first = (from->first + 1) % FRAMES_MAX;
            from->count--;
        }
        if (from->count > 0 && from->frames[from->first].due_ns < next_ns) {
            next_ns = from->frames[from->first].due_ns;
        }
    }
    return next_ns;
}

/* ---- commands ------------------------------------------------------------------------------- */

static bool set_shape(network_switch *lan, uint64_t delay_us, uint64_t loss_ppm, uint64_t rate_bps)
{
    if (delay_us > UINT64_C(10000000) || loss_ppm > LOSS_ALL_PPM) {
        return false;
    }
    lan->shape = (line_shape){
        .delay_ns = (int64_t)delay_us * AQ_NS_PER_US,
        .loss_ppm = loss_ppm,
        .rate_bps = rate_bps,
    };
    for (size_t i = 0; i < lan->port_count; i++) {
        lan->ports[i].line_free_ns = 0;
    }
    return true;
}

static bool obey(network_switch *lan, char *line)
{
    uint64_t numbers[3] = {0};
    size_t count = 0;
    char *rest;
    const char *verb = strtok_r(line, " ", &rest);
    for (char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count == 3 || aq_parse_u64(word, &numbers[count]) != 0) {
            return false;
        }
        count++;
    }
    if (verb == NULL) {
        return false;
    }
    if (strcmp(verb, "shape") == 0) {
        return count == 3 && set_shape(lan, numbers[0], numbers[1], numbers[2]);
    }
    if (count != 1 || numbers[0] < 1 || numbers[0] > lan->port_count) {
        return false;
    }
    lan->ports[numbers[0] - 1].is_cut = strcmp(verb, "cut") == 0;
    return strcmp(verb, "cut") == 0 || strcmp(verb, "heal") == 0;
}

/* False at the end of the input. */
static bool read_commands(network_switch *lan)
{
    ssize_t size = read(STDIN_FILENO, lan->line + lan->line_size, LINE_BYTES - lan->line_size);
    if (size <= 0 || lan->line_size + (size_t)size == LINE_BYTES) {
        return false;
    }
    lan->line_size += (size_t)size;
    for (char *end; (end = memchr(lan->line, '\n', lan->line_size)) != NULL;) {
        *end = '\0';
        const size_t used = (size_t)(end + 1 - lan->line);
        (void)puts(obey(lan, lan->line) ? "ok" : "not understood");
        (void)fflush(stdout);
        memmove(lan->line, end + 1, lan->line_size - used);
        lan->line_size -= used;
    }
    return true;
}

/* ---- life ----------------------------------------------------------------------------------- */

static bool open_port(port *opened, size_t number)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    if (aq_text_format(request.ifr_name, sizeof(request.ifr_name), "port-%zu", number) != 0) {
        return false;
    }
    opened->frames = aq_alloc(FRAMES_MAX, sizeof(frame));
    opened->device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (opened->frames == NULL || opened->device < 0 ||
        ioctl(opened->device, TUNSETIFF, &request) != 0) {
        (void)fprintf(stderr, "no TAP device: %s\n", strerror(errno));
        return false;
    }
    return true;
}

static int run_until_told(network_switch *lan)
{
    struct pollfd ready[PORTS_MAX + 1];
    for (size_t i = 0; i < lan->port_count; i++) {
        ready[i] = (struct pollfd){.fd = lan->ports[i].device, .events = POLLIN};
    }
    ready[lan->port_count] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        const int64_t next_ns = deliver_due(lan);
        const int64_t left_ns = next_ns - aq_clock_monotonic_ns();
        const struct timespec wait = {.tv_sec = left_ns > 0 ? left_ns / AQ_NS_PER_S : 0,
                                      .tv_nsec = left_ns > 0 ? left_ns % AQ_NS_PER_S : 0};
        if (ppoll(ready, lan->port_count + 1, next_ns == INT64_MAX ? NULL : &wait, NULL) < 0) {
            return errno == EINTR ? 0 : EXIT_FAILURE;
        }
        for (size_t i = 0; i < lan->port_count; i++) {
            if (ready[i].revents != 0) {
                read_frames(lan, &lan->ports[i]);
            }
        }
        if (ready[lan->port_count].revents != 0 && !read_commands(lan)) {
            return EXIT_SUCCESS;
        }
    }
}

int main(int argc, char **argv)
{
    network_switch *lan = aq_alloc(1, sizeof(*lan));
    uint64_t seed;
    uint64_t ports;
    if (lan == NULL || argc != 3 || aq_parse_u64(argv[1], &seed) != 0 ||
        aq_parse_u64(argv[2], &ports) != 0 || ports < 1 || ports > PORTS_MAX) {
        (void)fprintf(stderr, "lossy_switch SEED PORTS\n");
        return EXIT_FAILURE;
    }
    aq_rng_init(&lan->rng, seed, 0);
    for (; lan->port_count < ports; lan->port_count++) {
        if (!open_port(&lan->ports[lan->port_count], lan->port_count + 1)) {
            return EXIT_FAILURE;
        }
    }
    (void)puts("ok");
    (void)fflush(stdout);
    return run_until_told(lan);
}
