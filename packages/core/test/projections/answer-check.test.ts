import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { checkAnswer } from '../../src/projections/answer-check.ts'

test('schemas of long ago are forgotten, and are compiled anew when they are needed', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const answer = (n: number) => {
    const schema = { type: 'object', properties: { amount: { maximum: n } } }
    const ask = { kind: 'input', message: 'How much?', silence: { do: 'keep-waiting' }, schema } as const
    expect(checkAnswer(ask, { value: { amount: n } }).ok).toBe(true)
    expect(checkAnswer(ask, { value: { amount: n + 1 } }).ok).toBe(false)
    return new WeakRef(schema)
  }
  const first = answer(0)
  for (let n = 1; n <= 250; n++) answer(n)
  // What a weak reference was made to lives until the turn is over.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  expect(first.deref()).toBeUndefined()
  answer(0)
})
