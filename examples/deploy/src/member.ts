import { z } from 'zod'

export const member = z.object({ name: z.string() })

/** An effect on the outside, which the demo can see. */
export function act(what: string): void {
  console.log(`did ${what}`)
}
