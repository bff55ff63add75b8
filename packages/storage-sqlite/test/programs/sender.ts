// Sends a signal to a run whenever it is told to: `sender <file> <run id>`. Ends with its input.
import { createInterface } from 'node:readline'
import { connectTo } from '@pawl/core/storage'
import { sqliteStore } from '../../../../test/support/sqlite.ts'

const [, , file = '', id = ''] = process.argv
const store = connectTo(sqliteStore(file))
if (!store) throw new Error('no store')
await store.open()
for await (const name of createInterface(process.stdin))
  await store.mail.send([{ run: id, kind: 'signal', name, key: null, by: null, payload: null }], null)
await store.close()
