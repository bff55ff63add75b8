import { procedure } from '@pawl/core'
import { z } from 'zod'

/** Lasts as many ms as it is told, by the clock of the store: what happens meanwhile took no longer. */
export const ruler = procedure({ name: 'ruler', input: z.number() }, (ctx, ms) => ctx.sleep(`${ms}ms`))
