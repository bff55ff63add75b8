import { createClient, createEngine, procedure } from '@pawl/core'
import { readEvents } from '@pawl/core/internal'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { meddleWith } from '../support/meddling-store.ts'
import { refusalOf } from './support.ts'

const long = procedure({ name: 'long' }, async (ctx) => {
  const approval = ctx.human.approve('go?')
  for (let n = 0; n < 400; n++) await ctx.step(`step ${n}`, () => n)
  await approval
  for (let n = 0; n < 50; n++) await ctx.step(`late ${n}`, () => n)
})

async function startLong() {
  const store = memory()
  const engine = await createEngine({ store, procedures: [long] })
  onTestFinished(() => engine.stop())
  const run = await engine.run(long, undefined, { id: 'long' })
  const ask = await engine.inbox.next({ run: run.id })
  return { store, engine, run, ask }
}

describe('a page of a log', () => {
  test('pages of a log contain the entries of the whole log, from both ends and from any position', async () => {
    const { engine, run, ask } = await startLong()
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await run.result()
    const { execution_log: whole } = await engine.log(run.id)
    expect(whole).toHaveLength(451)
    const read = async (page: Parameters<typeof engine.log>[1]) =>
      (await engine.log(run.id, page)).execution_log
    expect(await read({ limit: 7 })).toEqual(whole.slice(-7))
    expect(await read({ before: 100, limit: 20 })).toEqual(whole.slice(80, 100))
    // The approval, at position 0, was answered after 400 others.
    expect(await read({ before: 3 })).toEqual(whole.slice(0, 3))
    expect(await read({ after: -1, limit: 3 })).toEqual(whole.slice(0, 3))
    expect(await read({ after: 90, limit: 30 })).toEqual(whole.slice(91, 121))
    expect(await read({ after: 440 })).toEqual(whole.slice(441))
    expect(await read({ after: 450 })).toEqual([])
    expect(await read({ before: 0 })).toEqual([])
    expect((await engine.log(run.id, { limit: 7 })).replay_index).toBe(7)
  })

  test('a page of a log shows pending operations, recorded or not', async () => {
    const waits = procedure({ name: 'waits' }, async (ctx) => {
      await ctx.step('first', () => 1)
      await ctx.sleep('30d')
    })
    const engine = await createEngine({ store: memory(), procedures: [waits] })
    onTestFinished(() => engine.stop())
    const run = await engine.run(waits)
    await expect.poll(async () => (await run.status()).status, { interval: 5 }).toBe('waiting')
    expect((await engine.log(run.id, { limit: 1 })).execution_log).toMatchObject([
      { position: 1, type: 'timer', status: 'open' },
    ])
    expect((await engine.log(run.id, { before: 1, limit: 1 })).execution_log).toMatchObject([{ position: 0 }])
  })

  test('reading the end of a log loads the end only', async () => {
    const { store, engine, run, ask } = await startLong()
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await run.result()
    let events = 0
    const { store: counted, always } = meddleWith(store)
    always('log.load', async (go) => {
      const page = (await go()) as readonly unknown[]
      events += page.length
      return page
    })
    const client = createClient({ store: counted })
    onTestFinished(() => client.stop())
    await client.log(run.id, { limit: 10 })
    expect(events).toBeLessThan(200)
  })

  test('an invalid page of a log is refused', async () => {
    const { engine } = await startLong()
    for (const page of [
      { before: -1 },
      { after: 1.5 },
      { limit: 0 },
      { limit: 1_001 },
      { before: 1, after: 1 },
      { last: 3 },
    ])
      expect(await refusalOf(engine.log('long', page as never))).toMatchObject({ code: 'option-invalid' })
  })
})

test('events are read by number, from any number on', async () => {
  const { engine, run, ask } = await startLong()
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  await run.result()
  const { events } = await readEvents(engine, run.id, -1, 1_000)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
  expect(events.at(0)).toMatchObject({ type: 'started', entry: undefined })
  expect(events.find(({ type }) => type === 'asked')?.entry).toMatchObject({ position: 0, status: 'open' })
  expect(events.at(-1)).toMatchObject({ type: 'ended', entry: undefined })
  expect((await readEvents(engine, run.id, 99, 20)).events).toEqual(events.slice(100, 120))
  const last = await readEvents(engine, run.id, events.length - 1, 20)
  expect(last).toMatchObject({ events: [], run: { status: 'completed' } })
})
