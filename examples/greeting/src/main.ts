// Greets a person: writes the greeting, waits for a reviewer, prints what they agreed to.
import { parseArgs } from 'node:util'
import { channels, folder } from '@pawl/channels'
import { type Ask, createEngine } from '@pawl/core'
import { attend, untilClosed } from '../../shared/src/attend.ts'
import { openStore } from '../../shared/src/store.ts'
import { hasTerminal, settleInTerminal } from '../../shared/src/terminal.ts'
import { greet } from './greet.ts'
import { queues } from './queues.ts'

const { values, positionals } = parseArgs({ options: { yes: { type: 'boolean' } }, allowPositionals: true })
const name = positionals.join(' ')
if (name === '') {
  console.error('usage: npx tsx examples/greeting/src/main.ts <name> [--yes]')
  process.exit(2)
}

const engine = await createEngine({
  store: await openStore('.pawl/greeting.db'),
  procedures: [greet],
  // Puts each question to a queue into a folder, and reads the replies there.
  plugins: [channels([folder(queues)])],
  escalateTo: 'role:editor-in-chief',
})
// The same name is the same run, however often this program is started.
const run = await engine.run(greet, { name }, { id: `greet:${name}` })
const greeting = await attend(engine, run, answer)
console.log(
  greeting === undefined
    ? 'The question stays open. Start it again to continue.'
    : `${greeting.message} (${greeting.mood})`,
)
await engine.stop()

async function answer(ask: Ask): Promise<boolean> {
  if (values.yes) {
    await engine.inbox.answer(ask.id, { choice: 'approve' }, { as: 'user:script' })
    return true
  }
  if (hasTerminal()) return (await settleInTerminal(engine, ask, 'user:you')) !== undefined
  console.log(`Waiting for a reviewer: ${String(ask.artifact)}`)
  return untilClosed(engine, ask)
}
