// Sends two messages to each of many runs, the second one a moment after the first: `mailing <file> <first> <count>`.
// They are not announced: no hints, no sweeps.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectTo } from '@pawl/core/storage'
import { sqliteStore } from '../../../../test/support/sqlite.ts'

const [, , file = '', first = '', count = ''] = process.argv
const store = connectTo(sqliteStore(file))
if (!store) throw new Error('no store')
await store.open()
let next = Number(first)
const end = next + Number(count)
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (next < end) {
      const id = `run ${next++}`
      await send(id)
      await sleep(Math.random() * 15)
      await send(id)
    }
  }),
)
await store.close()

async function send(id: string): Promise<void> {
  const [outcome] =
    (await store?.mail.send(
      [{ run: id, kind: 'signal', name: 'ping', key: null, by: null, payload: null }],
      null,
    )) ?? []
  if (outcome?.outcome !== 'stored') throw new Error(`sent: ${outcome?.outcome}`)
}
