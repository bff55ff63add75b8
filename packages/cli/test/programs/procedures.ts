import { procedure } from '@pawl/core'
import { z } from 'zod'

export const greet = procedure(
  { name: 'greet', input: z.object({ name: z.string() }) },
  async (ctx, { name }) => {
    const answer = await ctx.human.approve('Greet {name}?', {
      params: { name },
      editable: ['name'],
      key: 'greet',
    })
    return answer.approved ? `Hello, ${answer.params.name}` : 'silence'
  },
)
export const add = procedure({ name: 'add' }, (ctx) => ctx.step('add', () => 1 + 1))
export const fail = procedure({ name: 'fail' }, (ctx) =>
  ctx.step(
    'fail',
    () => {
      throw new Error('no')
    },
    { retry: false },
  ),
)
export const enter = procedure({ name: 'enter' }, (ctx) => ctx.human.input('Your name?', z.string()))
export const pick = procedure({ name: 'pick' }, (ctx) => ctx.human.select('Where to?', ['north', 'south']))
export const review = procedure({ name: 'review' }, (ctx) =>
  ctx.human.review('Publish?', 'old', { editable: true }),
)
export const escalate = procedure({ name: 'escalate' }, (ctx) => ctx.human.escalate('It is broken'))
export const wait = procedure({ name: 'wait', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))
