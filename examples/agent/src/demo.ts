// An agent whose worker is killed twice in its loop, and whose dangerous tool waits for a person in the inbox.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, ref } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { startChild } from '../../shared/src/child.ts'
import { readLines } from '../../shared/src/json-lines.ts'
import { tell } from '../../shared/src/tell.ts'
import type { createDesk } from './desk.ts'
import { openInbox } from './person.ts'
import { Services } from './services.ts'

const isScripted = process.argv.includes('--yes')
const folder = await mkdtemp(join(tmpdir(), 'pawl-agent-'))
const env = { AGENT_FOLDER: folder }
const client = createClient({ store: sqlite(join(folder, 'agent.db')) })
const services = new Services(join(folder, 'services.jsonl'))
const inbox = await openInbox(client, join(folder, 'tokens.json'))

tell.title('An agent that survives kill -9')
tell.text('A model with three tools. One moves money: a person decides, and may change the amount.')

tell.act(1, 'The agent looks the order up and writes a note')
const run = await client.run(
  ref<ReturnType<typeof createDesk>>('desk'),
  { question: 'Order A-1 arrived broken.' },
  { id: 'desk:A-1' },
)
const first = startChild('./worker', import.meta.url, { env: { ...env, AGENT_HANG: 'writeNote' } })
await first.line(/did: writeNote/)
await first.kill()
tell.died('the worker, after it wrote the note and before that was recorded')

tell.act(2, 'Another worker continues, and the dangerous tool asks')
const second = startChild('./worker', import.meta.url, { env })
const ask = await client.inbox.next({ run: run.id })
tell.line('asks', ask.message)
await second.kill()
tell.died('that worker too: a question needs none')
if (isScripted) {
  await inbox.approve(ask, { order: 'A-1', cents: 4_000 })
  tell.line('ana', 'approves 4000 cents instead of 4500, in the inbox')
} else tell.text('', `   Answer it in the inbox:  ${inbox.url}`, '')

while ((await client.inbox.get(ask.id))?.status === 'open')
  await new Promise((resolve) => setTimeout(resolve, 200))

tell.act(3, 'A third worker runs the tool with what was approved')
const third = startChild('./worker', import.meta.url, { env })
const said = await run.result()
await third.kill()
const { execution_log: log } = await client.log(run.id)
for (const { position, type, name } of log) tell.line(String(position), `${type.padEnd(13)} ${name}`)
tell.line('says', said)

tell.title('Verdict')
const effects = await services.effects()
const calls = await readLines<{ turn: number }>(join(folder, 'calls.jsonl'))
const settled = await client.inbox.get(ask.id)
const { approved, params, by } = (settled?.answer ?? {}) as {
  by?: string
  approved?: boolean
  params?: { cents?: number }
}
const refunds = effects.filter(({ what }) => what.startsWith('refund'))
const isModelScripted = !process.env['AGENT_MODEL']
const checks: readonly (readonly [string, boolean])[] = [
  [
    'each call to the model was made once',
    !isModelScripted || calls.map(({ turn }) => turn).join() === '0,1,2,3',
  ],
  ['the note was written once, although its step ran twice', effects.length - refunds.length === 1],
  [
    'the tool ran with what was approved, once',
    approved
      ? refunds.map(({ what }) => what).join() === `refund of ${params?.cents} cents for A-1`
      : refunds.length === 0,
  ],
  ['the run says who decided', by === 'user:ana'],
]
for (const [what, holds] of checks) (holds ? tell.passed : tell.failed)(what)
await inbox.stop()
await client.stop()
await rm(folder, { recursive: true, force: true })
process.exitCode = checks.every(([, holds]) => holds) ? 0 : 1
