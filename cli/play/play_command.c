/*
 * actorq play: what a policy does, to be looked at.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/play/film.h"
#include "cli/play/play_screen.h"
#include "cli/play/player.h"
#include "cli/text/command.h"
#include "cli/text/output_file.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "envs/env_code.h"
#include "envs/env_picture.h"
#include "library/source/policy_source.h"

enum {
    EPISODES_MAX = 1000,
    RATE_DEFAULT = 30,
    SIDE_DEFAULT = 256,
    CAPTION_BYTES = 96,
    FIGURE_MAX = 32,
};

/* In the place of a run or a policy. */
static const char random_play[] = "random";

typedef struct play_arguments {
    const char *source;
    const char *env;    /* NULL: the policy's */
    uint32_t precision; /* a format, or AQ_PRECISION_AS_STORED */
    uint64_t episodes;
    uint64_t seed;
    uint64_t rate; /* steps a second */
    aq_command_size size;
    aq_json_form json;
    aq_film_options film;
} play_arguments;

/* What is played, and what it is shown on. */
typedef struct play {
    char path[PATH_MAX]; /* of the policy; "random" */
    aq_env *env;
    aq_snapshot *policy; /* NULL: at random */
    aq_player *player;
    aq_film *film; /* NULL: it is shown on the screen, unless that is not wanted either */
    aq_play_screen screen;
    aq_canvas canvas; /* of the screen; no pixels: nothing is shown there */
    aq_player_episode *episodes;
} play;

static const aq_option option_rows[] = {
    {"env", 0, "TASK", "the task; needed for random, else the one that the policy is for",
     AQ_TO_TEXT(play_arguments, env)},
    {"episodes", 'n', "N", "how many episodes, 1 to 1000 (default 1)",
     AQ_TO_NUMBER(play_arguments, episodes, 1, EPISODES_MAX)},
    {"seed", 0, "S",
     "which episodes; the same seed plays the same (default: one from the system, which is "
     "printed)",
     AQ_TO_NUMBER(play_arguments, seed, 0, AQ_JSON_SEED_MAX)},
    {"precision", 0, "FORMAT", AQ_PRECISION_HELP,
     AQ_TO(aq_precision_take, play_arguments, precision)},
    {"gif", 0, "FILE", "write an animation instead of showing it here",
     AQ_TO_TEXT(play_arguments, film.gif_path)},
    {"png", 0, "FILE", "write a sheet of up to 24 pictures instead, evenly spaced over the run",
     AQ_TO_TEXT(play_arguments, film.png_path)},
    {"fps", 0, "N", "steps a second, 1 to 50 (default 30)",
     AQ_TO_NUMBER(play_arguments, rate, 1, AQ_FILM_RATE_MAX)},
    {"size", 0, "WxH", "pixels of a picture (default: 256x256 in files, else what fits)",
     AQ_TO(aq_command_take_size, play_arguments, size)},
    AQ_ALLOW_CODE_OPTION,
    AQ_JSON_OPTION_ROW(play_arguments, json, "the result"),
};

static const aq_options options_page = {
    .program = "actorq play",
    .usage = "RUN|POLICY|random [options]",
    .summary = "Shows episodes, a picture a step: of a policy, which always takes the action that "
               "it values most, or of random actions. RUN is a run folder, POLICY a policy file "
               "(.aq) or a checkpoint (.aqc).",
    .details =
        "Examples:\n"
        "  actorq play random --env game:seaquest\n"
        "  actorq play runs/first --episodes 3 --seed 7\n"
        "  actorq play runs/first --gif run.gif --png sheet.png --size 320x320\n\n"
        "On a terminal the picture is in 24-bit colours where COLORTERM=truecolor or a TERM with\n"
        "-direct says so, else in 256; NO_COLOR=1, or a TERM of dumb or vt..., gives plain\n"
        "characters.\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPERAND("RUN, POLICY or random", play_arguments, source)},
};

/* ---- what is played ------------------------------------------------------------------------- */

static int open_play(const play_arguments *arguments, play *p, aq_error *error)
{
    const char *task = arguments->env;
    int rc = 0;
    if (strcmp(arguments->source, random_play) == 0) {
        memcpy(p->path, random_play, sizeof(random_play));
        if (!task) {
            return aq_fail(error, AQ_E_INVALID, "random play needs a task: --env TASK");
        }
        if (arguments->precision != AQ_PRECISION_AS_STORED) {
            return aq_fail(error, AQ_E_INVALID, "--precision is for policies, not for random play");
        }
    } else {
        rc = aq_policy_source_read(arguments->source, arguments->precision, &p->policy, p->path,
                                   NULL, error);
        task = rc != 0 || task ? task : p->policy->task;
    }
    if (rc != 0) {
        return rc;
    }
    if (arguments->env) {
        aq_env_allow_code(arguments->env);
    }
    rc = aq_env_open_to_act(task, &p->env, error);
    return rc != 0 ? rc : aq_env_picture_check(p->env, error);
}

static int open_screen(const play_arguments *arguments, play *p, aq_error *error)
{
    uint32_t rows, columns;
    aq_play_screen_init(&p->screen, arguments->film.pictures_per_second);
    p->canvas.width = arguments->film.width;
    p->canvas.height = arguments->film.height;
    if (!arguments->size.is_given) {
        aq_env_picture_cells(p->env, &rows, &columns);
        aq_play_screen_size(rows, columns, &p->canvas.width, &p->canvas.height);
    }
    p->canvas.pixels = aq_alloc((size_t)p->canvas.width * p->canvas.height, 3);
    return p->canvas.pixels ? 0 : aq_fail(error, AQ_E_NOMEM, "no memory for a picture");
}

/* Neither file is the policy that is played, or the other. */
static int check_files(const aq_film_options *film, const play *p, aq_error *error)
{
    const char *source = p->policy != NULL ? p->path : NULL;
    int rc = aq_output_check(source, film->gif_path, error);
    rc = rc != 0 ? rc : aq_output_check(source, film->png_path, error);
    return rc != 0 ? rc : aq_output_check_both(film->gif_path, film->png_path, error);
}

static int prepare(const play_arguments *arguments, play *p, aq_error *error)
{
    int rc = open_play(arguments, p, error);
    rc = rc != 0 ? rc : check_files(&arguments->film, p, error);
    rc = rc != 0 ? rc : aq_player_create(p->env, p->policy, arguments->seed, &p->player, error);
    if (rc != 0) {
        return rc;
    }
    p->episodes = aq_alloc(arguments->episodes, sizeof(*p->episodes));
    if (!p->episodes) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %" PRIu64 " episodes",
                       arguments->episodes);
    }
    if (arguments->film.gif_path || arguments->film.png_path) {
        return aq_film_create(&arguments->film, &p->film, error);
    }
    return arguments->json ? 0 : open_screen(arguments, p, error);
}

static void close_play(play *p)
{
    aq_play_screen_fini(&p->screen);
    aq_free(p->canvas.pixels);
    aq_free(p->episodes);
    aq_film_destroy(p->film);
    aq_player_destroy(p->player);
    aq_snapshot_unref(p->policy);
    aq_env_unref(p->env);
}

/* ---- playing -------------------------------------------------------------------------------- */

static const char *end_text(enum aq_step_end end)
{
    return end == AQ_STEP_TERMINATED ? "ended" : "cut by the limit";
}

static int show(play *p, uint32_t number, aq_error *error)
{
    char caption[CAPTION_BYTES], figure[FIGURE_MAX];
    const aq_player_episode now = aq_player_look(p->player);
    if (p->film == NULL && p->canvas.pixels == NULL) {
        return 0;
    }
    const char *text;
    int rc =
        aq_player_draw(p->player, p->film ? aq_film_canvas(p->film) : &p->canvas, &text, error);
    if (rc == 0 && p->film && text != NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s draws itself as text, which is shown here and not in a file of pictures",
                       p->env->name);
    }
    if (rc == 0 && p->film) {
        rc = aq_film_take(p->film, error);
        if (rc == 0 && now.end != AQ_STEP_GOES_ON) {
            aq_film_hold(p->film);
        }
    }
    if (rc != 0 || p->film) {
        return rc;
    }
    rc = aq_text_format(caption, sizeof(caption),
                        "episode %" PRIu32 ", step %" PRIu32 ", return %s", number + 1, now.steps,
                        aq_text_return(figure, sizeof(figure), now.episode_return, 2));
    if (rc != 0) {
        return aq_fail(error, rc, "the line below the picture does not fit");
    }
    return aq_play_screen_show(&p->screen, &p->canvas, text, caption, error);
}

static int play_episode(play *p, uint32_t number, aq_error *error)
{
    int rc = aq_player_start(p->player, number, error);
    rc = rc != 0 ? rc : show(p, number, error);
    while (rc == 0 && aq_player_look(p->player).end == AQ_STEP_GOES_ON) {
        rc = aq_player_step(p->player, error);
        rc = rc != 0 ? rc : show(p, number, error);
    }
    p->episodes[number] = aq_player_look(p->player);
    return rc;
}

static int play_all(const play_arguments *arguments, play *p, aq_error *error)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < arguments->episodes; i++) {
        rc = play_episode(p, i, error);
    }
    return rc == 0 && p->film ? aq_film_write(p->film, error) : rc;
}

/* ---- the result ----------------------------------------------------------------------------- */

static json_t *make_json(const play_arguments *arguments, const play *p)
{
    json_t *episodes = json_array();
    for (uint32_t i = 0; i < arguments->episodes; i++) {
        const aq_player_episode *episode = &p->episodes[i];
        json_t *row = json_pack(
            "{s:o, s:o, s:b}", "return", aq_json_number(episode->episode_return), "steps",
            aq_json_count(episode->steps), "terminated", episode->end == AQ_STEP_TERMINATED);
        aq_json_add(&episodes, row);
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "policy", aq_json_text(p->path), "task",
                     aq_json_text(p->env->name), "seed", aq_json_count(arguments->seed), "episodes",
                     episodes);
}

static void print(const play_arguments *arguments, const play *p)
{
    char path[PATH_MAX], task[AQ_TASK_NAME_MAX], figure[FIGURE_MAX];
    (void)printf("%s: %s, seed %" PRIu64 "\n", aq_plain_text(path, sizeof(path), p->path),
                 aq_plain_text(task, sizeof(task), p->env->name), arguments->seed);
    for (uint32_t i = 0; i < arguments->episodes; i++) {
        const aq_player_episode *episode = &p->episodes[i];
        (void)printf("  episode %-5" PRIu32 " return %s, %" PRIu32 " steps, %s\n", i + 1,
                     aq_text_return(figure, sizeof(figure), episode->episode_return, 2),
                     episode->steps, end_text(episode->end));
    }
    if (arguments->film.gif_path) {
        aq_print_fact(stdout, "animation", "%s", arguments->film.gif_path);
    }
    if (arguments->film.png_path) {
        aq_print_fact(stdout, "sheet", "%s", arguments->film.png_path);
    }
}

static const play_arguments defaults = {
    .episodes = 1,
    .precision = AQ_PRECISION_AS_STORED,
    .seed = AQ_JSON_SEED_DRAW,
    .rate = RATE_DEFAULT,
    .size = {SIDE_DEFAULT, SIDE_DEFAULT, AQ_FILM_SIDE_MIN, AQ_FILM_SIDE_MAX, false},
};

static int play_and_say(void *given, aq_error *error)
{
    play_arguments *arguments = given;
    play p = {0};
    aq_command_draw_seed(&arguments->seed);
    arguments->film.width = arguments->size.width;
    arguments->film.height = arguments->size.height;
    arguments->film.pictures_per_second = (uint32_t)arguments->rate;
    int rc = prepare(arguments, &p, error);
    if (rc == 0) {
        rc = play_all(arguments, &p, error);
    }
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(make_json(arguments, &p), arguments->json, error);
    } else if (rc == 0) {
        print(arguments, &p);
    }
    close_play(&p);
    return rc;
}

const aq_command aq_command_play = {
    .name = "play",
    .summary = "show episodes of a policy, here or as a GIF",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = play_and_say,
};
