import { createEngine, procedure, type Store } from '@pawl/core'
import { Bell, createConnectedClient, systemPorts } from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'

/** Nothing makes a client look that has this clock but the bell. */
const clock = { ...systemPorts.clock, after: () => () => {} }

/** A client of a store on which nobody is asked, with the runs whose asks it looked for. */
function watchLooks(store: Store) {
  const looks: (string | null)[] = []
  const port = connectTo(store) as StorePort
  const asks: StorePort['asks'] = async ({ run }) => {
    looks.push(run)
    return []
  }
  const watched = Object.assign(port, { asks })
  const bell = new Bell()
  const client = createConnectedClient({ ...systemPorts, clock, store: watched, bell, home: undefined })
  return { client, bell, looks }
}

test('who waits for a question of one run looks when that run asks, not whenever anybody is asked', async () => {
  const { client, bell, looks } = watchLooks(memory())
  const waits = [client.inbox.next({ run: 'a' }), client.inbox.next({ run: 'b' }), client.inbox.next()]
  await expect.poll(() => looks).toEqual(['a', 'b', null])
  for (const [topic, seen] of [
    ['asks of a', ['a']],
    ['asks', [null]],
  ] as const) {
    looks.length = 0
    bell.ring(topic)
    await expect.poll(() => looks).toEqual(seen)
  }
  await client.stop()
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'engine-stopped' })
})

test('a client beside no worker looks when the store hints that another process wrote', async () => {
  const store = memory()
  const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?'))
  const port = connectTo(store) as StorePort
  const client = createConnectedClient({
    ...systemPorts,
    clock,
    store: port,
    bell: new Bell(),
    home: undefined,
  })
  const asked = client.inbox.next()
  const engine = await createEngine({ store, procedures: [asking] })
  const run = await engine.run(asking)
  const { id } = await asked
  const ended = client.get(asking, run.id).result()
  await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  expect(await ended).toMatchObject({ approved: true })
  await client.stop()
  await engine.stop()
})
