import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'

const effect = { approve: 'The letter is sent', reject: 'Nothing is sent' }

const effectsOf = async (asking: ReturnType<typeof procedure>) => {
  await using engine = await testEngine({ procedures: [asking] })
  await engine.run(asking as never)
  const { decisions } = await engine.inbox.next()
  return decisions.map(({ value, effect }) => [value, effect])
}

test('an approval says what follows from a yes and from a no', async () => {
  const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Send it?', { effect }))
  expect(await effectsOf(asking as never)).toEqual([
    ['approve', 'The letter is sent'],
    ['reject', 'Nothing is sent'],
  ])
})

test('so does the question of a gate', async () => {
  const asking = procedure({ name: 'asking' }, (ctx) =>
    ctx.gate('send', { params: {}, human: { effect: { approve: 'It is sent' } }, run: () => 'sent' }),
  )
  expect(await effectsOf(asking as never)).toEqual([
    ['approve', 'It is sent'],
    ['reject', undefined],
  ])
})

test('a no that cancels the run says so, unless the author says it in other words', async () => {
  const asking = (own?: typeof effect) =>
    procedure({ name: 'asking' }, (ctx) =>
      ctx.human.approve('Go on?', { onReject: 'cancel-run', ...(own === undefined ? {} : { effect: own }) }),
    )
  expect(await effectsOf(asking() as never)).toEqual([
    ['approve', undefined],
    ['reject', 'The run is cancelled'],
  ])
  expect(await effectsOf(asking(effect) as never)).toContainEqual(['reject', 'Nothing is sent'])
})

test('an effect of anything else is refused', async () => {
  const asking = procedure({ name: 'asking' }, (ctx) =>
    ctx.human.approve('Send it?', { effect: { maybe: 'no' } as never }),
  )
  await using engine = await testEngine({ procedures: [asking] })
  await engine.run(asking)
  await engine.advance('1s')
  expect((await engine.list({ status: 'stuck' })).items).toHaveLength(1)
})
