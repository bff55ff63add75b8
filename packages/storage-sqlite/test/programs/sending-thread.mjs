// Sends one signal from a thread, on a connection of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

register()
const { connectTo } = await import('@pawl/core/storage')
const { sqlite } = await import('@pawl/storage-sqlite')
const store = connectTo(sqlite(workerData.file, { driver: workerData.driver }))
await store.open()
const message = { run: 'a', kind: 'signal', name: 'paid', key: null, payload: null }
parentPort.postMessage(await store.mail.send([message], null))
await store.close()
