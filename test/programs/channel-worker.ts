// Delivers asks through a channel until it is killed. Arguments: where runs are kept, the address that receives what is delivered,
// and a mode: `notices`, to deliver notices as well, `unrecorded`, to kill itself once it has delivered two asks and recorded neither, or,
// for the control, `careless`. support/kill/sabotage.ts says what else it can be told.
import { writeSync } from 'node:fs'
import { type Channel, channels } from '@pawl/channels'
import { type Ask, createEngine, type Notice } from '@pawl/core'
import { openStore } from '../support/kill/open-store.ts'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotagePostgres } from '../support/kill/sabotage-postgres.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'

// The process that started it is gone.
process.stdin.once('end', () => process.exit()).resume()
const sabotage = readSabotage()
sabotageSqlite(sabotage)
sabotagePostgres(sabotage)

const [, , location = '', receiver = '', mode] = process.argv
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

async function tell(what: 'delivered' | 'updated' | 'noticed', { run }: Ask | Notice): Promise<void> {
  const reply = await fetch(receiver, { method: 'POST', body: `${what} ${run}` })
  if (!reply.ok) throw new Error(`status ${reply.status}`)
}

let unrecorded = 0

const desk: Channel = {
  name: 'desk',
  can: { form: 'full', identity: 'none' },
  async deliver(ask) {
    await tell('delivered', ask)
    if (mode === 'unrecorded') {
      unrecorded += 1
      if (unrecorded === 2) process.kill(process.pid, 'SIGKILL')
      await new Promise(() => {})
    }
    return { ref: ask.id }
  },
  update: (_ref, ask) => tell('updated', ask),
  ...(mode === 'notices' ? { notices: { deliver: (notice) => tell('noticed', notice) } } : {}),
}
const engine = await createEngine({
  ...{ store: openStore(location), procedures: [], lease: '1s', logger: silent },
  plugins: mode === 'careless' ? [] : [channels([desk])],
})
writeSync(1, 'ready\n')
// What a channel would be without runs: it tells of what it sees, from now on.
if (mode === 'careless')
  for await (const { event, ask: id } of engine.inbox.watch()) {
    const ask = id === undefined ? null : await engine.inbox.get(id)
    if (ask !== null) await tell(event === 'ask.opened' ? 'delivered' : 'updated', ask).catch(() => {})
  }
