// Opens a store, and stands still or dies at a point of its first start: `first-start <file> <point> <signal>`. Then
// writes "open".
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { connectTo } from '@pawl/core/storage'
import { rawConnections, sqliteStore } from '../../../../test/support/sqlite.ts'

const [, , file = '', point = '', signal = ''] = process.argv
let isReached = false

function reach(): void {
  if (isReached) return
  isReached = true
  fs.writeSync(1, 'there\n')
  process.kill(process.pid, signal as NodeJS.Signals)
}

const { link, copyFile } = fs.promises
const { close } = rawConnections
const points: { readonly [point: string]: () => void } = {
  // The schema is written, and the -wal and -shm are beside it.
  'in make': () => {
    rawConnections.close = function () {
      reach()
      return close.call(this)
    }
  },
  'before link': () => {
    fs.promises.link = async (...args) => {
      reach()
      await link(...args)
    }
  },
  'after link': () => {
    fs.promises.link = async (...args) => {
      await link(...args)
      reach()
    }
  },
  'after copy': () => {
    fs.promises.link = async () => {
      throw Object.assign(new Error('no links'), { code: 'EPERM' })
    }
    fs.promises.copyFile = async (...args) => {
      await copyFile(...args)
      reach()
    }
  },
}
points[point]?.()
syncBuiltinESMExports()

const store = connectTo(sqliteStore(file))
if (!store) throw new Error('no store')
await store.open()
console.log('open')
await store.workers.register({ name: 'w', leaseMs: 60_000 })
await store.close()
