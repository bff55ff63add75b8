// Step bodies that leave something behind which fails.  Prints what each owner was told.
import { EventEmitter } from 'node:events'
import { createReadStream, readFile } from 'node:fs'
import { currentBody } from '../../../src/host/body.ts'
import { installShield } from '../../../src/host/shield.ts'
import { runToEnd } from '../run-to-end.ts'

const soon = () => new Promise((resolve) => setTimeout(resolve, 1))
const fail = (what: string): never => {
  throw new Error(what)
}

const bodies: { readonly [name: string]: () => void | Promise<void> } = {
  detached: async () => {
    void soon().then(() => fail('detached'))
  },
  rejection: async () => void Promise.reject(new Error('rejection')),
  late: async () => {
    void new Promise((_resolve, reject) => setTimeout(() => reject(new Error('late')), 1))
  },
  timer: async () => void setTimeout(() => fail('timer'), 1),
  timerAfterAwait: async () => {
    await soon()
    setTimeout(() => fail('timerAfterAwait'), 1)
  },
  tick: async () => process.nextTick(() => fail('tick')),
  emitter: async () => {
    const emitter = new EventEmitter()
    setImmediate(() => emitter.emit('error', new Error('emitter')))
  },
  stream: () => void createReadStream('/nonexistent'),
  callback: () => readFile(import.meta.filename, () => fail('callback')),
}

installShield()
const reported: { [name: string]: string[] } = {}
for (const [name, body] of Object.entries(bodies)) {
  const stray: string[] = []
  reported[name] = stray
  const owner = {
    describe: name,
    onUnhandled: (error: unknown, event: string) => {
      const inBody = currentBody() === undefined ? '' : ', told in the body'
      stray.push(`${event} ${(error as Error).message}${inBody}`)
    },
  }
  await runToEnd(owner, body as () => unknown)
}
process.on('exit', () => console.log(JSON.stringify(reported)))
