/*
 * Env picture: what a state looks like. Environments draw themselves; of those that do not but are
 * seen as images of bytes, the observation is shown, a colour per channel.
 */
#ifndef AQ_ENVS_ENV_PICTURE_H
#define AQ_ENVS_ENV_PICTURE_H

#include <stdint.h>

#include "common/base/error.h"
#include "envs/canvas.h"
#include "envs/env_open.h"

/* AQ_E_UNSUPPORTED, naming whose pictures there are, when there is nothing to be seen. */
int aq_env_picture_check(const aq_env *env, aq_error *error) AQ_MUST_USE;

/* Rows and columns of the cells that the picture is made of, 0 where it is made of shapes: a canvas
 * of a multiple of them shows all cells at the same size. */
void aq_env_picture_cells(const aq_env *env, uint32_t *ret_rows, uint32_t *ret_columns);

/* Draws over the whole canvas; `obs` is the state's observation row. Of an environment that draws
 * itself in text the canvas stays, and that is in *ret_text, else NULL; it is valid until the next
 * call. AQ_E_PEER: it failed. */
int aq_env_picture_draw(const aq_env *env, void *state, const void *obs, aq_canvas *canvas,
                        const char **ret_text) AQ_MUST_USE;

#endif
