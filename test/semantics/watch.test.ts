import { createClient, createEngine, type InboxEvent, procedure } from '@pawl/core'
import { readFeed } from '@pawl/core/internal'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const asking = procedure({ name: 'asking', input: z.number() }, (ctx, n) =>
  ctx.human.approve('{n}?', { data: { n }, to: n % 2 === 0 ? 'user:ana' : 'user:bob' }),
)

async function start() {
  const store = memory()
  const engine = await createEngine({ store, procedures: [asking] })
  const client = createClient({ store })
  onTestFinished(async () => {
    await client.stop()
    await engine.stop()
  })
  const ask = async (n: number): Promise<string> => {
    const run = await engine.run(asking, n, { id: `run ${n}` })
    return (await engine.inbox.next({ run: run.id })).id
  }
  const answer = (id: string) => engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  return { engine, client, ask, answer }
}

async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = []
  for await (const item of items) if (taken.push(item) === count) return taken
  return taken
}

test('a watch yields each ask that is opened or closed, from any number on', async () => {
  const { engine, client, ask, answer } = await start()
  const ids = [await ask(0), await ask(1)]
  await answer(ids[0] as string)
  await engine.get('run 0').result()
  const events = await take(client.inbox.watch({ after: 0 }), 3)
  expect(events.map(({ event, ask }) => `${event} ${ask}`)).toEqual([
    `ask.opened ${ids[0]}`,
    `ask.opened ${ids[1]}`,
    `ask.closed ${ids[0]}`,
  ])
  expect(events.map(({ n }) => n)).toEqual([1, 2, 3])
  expect(await take(client.inbox.watch({ after: 2 }), 1)).toEqual(events.slice(2))
  expect((await take(client.inbox.watch({ after: 0, to: 'user:bob' }), 1))[0]?.ask).toBe(ids[1])
  expect(await take(readFeed(client, { after: 3, signal: undefined }), 1)).toMatchObject([
    { event: 'run.ended', run: 'run 0', n: 4 },
  ])
})

test('without a number a watch starts with what happens from now on, and ends with its signal', async () => {
  const { engine, client, ask } = await start()
  await ask(0)
  for (const inbox of [engine.inbox, client.inbox]) {
    const over = new AbortController()
    const seen: InboxEvent[] = []
    let noteEvent = (): void => {}
    const watching = (async () => {
      for await (const event of inbox.watch({ signal: over.signal })) {
        seen.push(event)
        noteEvent()
      }
    })()
    // It has looked once when a later reader of the same store has.
    await take(inbox.watch({ after: 0 }), 1)
    const noted = new Promise<void>((resolve) => {
      noteEvent = resolve
    })
    const id = await ask(inbox === engine.inbox ? 2 : 4)
    await noted
    expect(seen).toMatchObject([{ event: 'ask.opened', ask: id }])
    over.abort()
    await watching
  }
})

test('a number that is not of this store yields a reset with the newest number', async () => {
  const { client, ask } = await start()
  await ask(0)
  expect(await take(client.inbox.watch({ after: 99 }), 1)).toMatchObject([
    { event: 'reset', n: 1, ask: undefined },
  ])
})

test('a stopped client ends its watch with an error, and wrong options are refused', async () => {
  const { client, ask } = await start()
  await ask(0)
  const watching = take(client.inbox.watch({ after: 1 }), 1)
  await take(client.inbox.watch({ after: 0 }), 1)
  await client.stop()
  expect(await refusalOf(watching)).toMatchObject({ code: 'engine-stopped' })
  for (const options of [{ after: -1 }, { to: 'nobody' }, { signal: {} }, { since: 1 }])
    expect(() => client.inbox.watch(options as never)).toThrow(
      expect.objectContaining({ code: 'option-invalid' }),
    )
})
