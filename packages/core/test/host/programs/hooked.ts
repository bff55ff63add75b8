// What a check leaves in the process. Prints whether promises are followed before any, after a plain one, and after
// one that runs code of its author's.
import { z } from 'zod'
import { validate } from '../../../src/host/run-schema.ts'

/** Node keeps an id on each promise that it follows, as it does for AsyncLocalStorage up to Node 22. */
const isFollowed = () => Object.getOwnPropertySymbols(Promise.resolve()).length > 0

const told = [isFollowed()]
for (const schema of [z.object({ amount: z.number().positive() }), z.object({}).refine(() => true)]) {
  void validate(schema, { amount: 45 })
  told.push(isFollowed())
}
console.log(JSON.stringify(told))
