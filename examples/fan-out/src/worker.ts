// A worker of the demo.
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { createAlbum } from './album.ts'
import { Ledger } from './ledger.ts'

const folder = process.env['FAN_OUT_FOLDER'] ?? ''
const ledger = new Ledger(join(folder, 'ledger.jsonl'))
const { thumbnail, album } = createAlbum(async (photo, key) => {
  await wait(Number(process.env['FAN_OUT_MS'] ?? 30))
  ledger.note({ photo, key, worker: process.pid })
  return photo.length * 100
})
await createEngine({
  ...{ store: sqlite(join(folder, 'fan-out.db')), procedures: [thumbnail, album] },
  ...{ lease: '1s', concurrency: 5 },
})
console.log('working')
process.on('disconnect', () => process.exit())
