// Sends signals to a run, one every so many ms, each with the instant just before: `sender <file> <run id> <count> <pause in ms>`.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectTo } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'

const [, , file = '', id = '', count = '', pauseMs = ''] = process.argv
const store = connectTo(sqlite(file))
if (!store) throw new Error('no store')
await store.open()
for (let index = 0; index < Number(count); index++) {
  await sleep(Number(pauseMs))
  // The same clock in every process of the machine.
  const name = String(process.hrtime.bigint())
  await store.send([{ run: id, kind: 'signal', name, key: null, payload: null }], null)
}
await store.close()
