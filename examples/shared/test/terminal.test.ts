import { PassThrough } from 'node:stream'
import { type Answer, createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { attend } from '../src/attend.ts'
import { settleInTerminal, type Terminal } from '../src/terminal.ts'

const keys = { down: '\u001b[B', enter: '\r', leave: '\u0003', back: '\u007f' }

const questions = procedure({ name: 'questions', input: z.string() }, async (ctx, kind): Promise<unknown> => {
  switch (kind) {
    case 'approve':
      return ctx.human.approve('Pay {amount}?', {
        params: { amount: 50, to: 'Ana' },
        editable: ['amount'],
        schema: z.object({ amount: z.number().max(50), to: z.string() }),
      })
    case 'input':
      return ctx.human.input(
        'Who?',
        z.object({ name: z.string(), age: z.number(), colour: z.enum(['red', 'blue']) }),
      )
    case 'select':
      return ctx.human.select('Where to?', ['north', 'south'])
    default:
      return ctx.human.review('Send it?', { title: 'Old', body: 'one\ntwo' }, { editable: true })
  }
})

/** A person at a terminal: waits until each text is on the screen, and presses the keys beside it. */
async function sit(kind: string, presses: readonly (readonly [shown: string, ...keys: string[]])[]) {
  const engine = await createEngine({ store: memory(), procedures: [questions] })
  onTestFinished(() => engine.stop())
  const input = new PassThrough()
  const output = new PassThrough()
  const terminal: Terminal = { input, output }
  let screen = ''
  const left = [...presses]
  output.on('data', (chunk: Buffer) => {
    screen += chunk.toString()
    const next = left[0]
    if (next === undefined || !screen.includes(next[0])) return
    left.shift()
    screen = ''
    for (const key of next.slice(1)) setImmediate(() => input.write(key))
  })
  const run = await engine.run(questions, kind)
  let answer: Answer | undefined
  const result = await attend(engine, run, async (ask) => {
    answer = await settleInTerminal(engine, ask, 'user:you', terminal)
    return answer !== undefined
  })
  return { engine, run, answer, result, unpressed: left.length }
}

test('a yes is a yes', async () => {
  const { result } = await sit('approve', [['Approve', keys.enter]])
  expect(result).toMatchObject({
    approved: true,
    params: { amount: 50, to: 'Ana' },
    modified: false,
    by: 'user:you',
  })
})

test('a no is a no', async () => {
  const { result } = await sit('approve', [['Approve', keys.down, keys.enter]])
  expect(result).toMatchObject({ approved: false, timedOut: false })
})

test('a change that is refused is explained, and asked for again', async () => {
  const { result, unpressed } = await sit('approve', [
    ['Approve', keys.down, keys.down, keys.enter],
    ['50', '1', keys.enter],
    ['params.amount must be <= 50'],
    ['Approve', keys.down, keys.down, keys.enter],
    ['50', keys.back, keys.back, '4', '0', keys.enter],
  ])
  expect(result).toMatchObject({ approved: true, params: { amount: 40, to: 'Ana' }, modified: true })
  expect(unpressed).toBe(0)
})

test('what is no number is not taken for one', async () => {
  const { result } = await sit('approve', [
    ['Approve', keys.down, keys.down, keys.enter],
    ['50', 'x', keys.enter],
    ['Please type a number', keys.back, keys.back, keys.back, '7', keys.enter],
  ])
  expect(result).toMatchObject({ params: { amount: 7 } })
})

test('a form asks for each field as what it is', async () => {
  const { result } = await sit('input', [
    ['name', 'A', 'd', 'a', keys.enter],
    ['age', '3', '6', keys.enter],
    ['colour', keys.down, keys.enter],
  ])
  expect(result).toEqual({ name: 'Ada', age: 36, colour: 'blue' })
})

test('a choice is picked', async () => {
  const { result } = await sit('select', [['south', keys.down, keys.enter]])
  expect(result).toBe('south')
})

test('an artifact is edited, line by line, before it is approved', async () => {
  const { result } = await sit('review', [
    ['Edit first', keys.down, keys.down, keys.enter],
    ['title', '!', keys.enter],
    ['Edit first', keys.enter],
  ])
  expect(result).toMatchObject({
    choice: 'approve',
    edited: true,
    artifact: { title: 'Old!', body: 'one\ntwo' },
  })
})

test('who does not approve is asked why', async () => {
  const { result } = await sit('review', [
    ['Edit first', keys.down, keys.enter],
    ['Why?', 'n', 'o', keys.enter],
  ])
  expect(result).toMatchObject({ choice: 'reject', comment: 'no', edited: false })
})

test('who leaves, leaves the question open', async () => {
  const { engine, run, answer, result } = await sit('select', [['south', keys.leave]])
  expect([answer, result]).toEqual([undefined, undefined])
  expect((await engine.inbox.list({ run: run.id })).items).toHaveLength(1)
})

test('a person who is slower than another is told so', async () => {
  const engine = await createEngine({ store: memory(), procedures: [questions] })
  onTestFinished(() => engine.stop())
  const run = await engine.run(questions, 'select')
  const ask = await engine.inbox.next({ run: run.id })
  await engine.inbox.answer(ask.id, { choice: 'north' }, { as: 'user:ana' })
  const input = new PassThrough()
  const output = new PassThrough()
  setImmediate(() => input.write(keys.enter))
  let screen = ''
  output.on('data', (chunk: Buffer) => {
    screen += chunk.toString()
  })
  expect(await settleInTerminal(engine, ask, 'user:you', { input, output })).toBeUndefined()
  expect(screen).toContain('user:ana was faster')
})
