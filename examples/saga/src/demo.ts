// An order that is cancelled half way: what was done is undone, although the worker is killed in the middle of it. --yes cancels
// without asking.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient, PawlError, ref } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { startChild } from '../../shared/src/child.ts'
import { tell } from '../../shared/src/tell.ts'
import { hasTerminal } from '../../shared/src/terminal.ts'
import { Ledger } from './ledger.ts'
import type { createOrder } from './order.ts'

const folder = await mkdtemp(join(tmpdir(), 'pawl-saga-'))
const env = { SAGA_FOLDER: folder }
const client = createClient({ store: sqlite(join(folder, 'saga.db')) })
const ledger = new Ledger(join(folder, 'ledger.jsonl'))

tell.title('An order that is undone')
tell.text('Hold the money, reserve the goods, ship them when the carrier comes. The customer cancels first.')

tell.act(1, 'The order waits for the carrier')
const run = await client.run(
  ref<ReturnType<typeof createOrder>>('order'),
  { id: 'A-1', cents: 4500 },
  { id: 'order:A-1' },
)
const first = startChild('./worker', import.meta.url, { env: { ...env, SAGA_HANG: 'return the goods' } })
await first.line(/working/)
while ((await run.status()).status !== 'waiting') await wait(20)
for (const { what } of ledger.entries()) tell.line('did', what)

tell.act(2, 'It is cancelled, and its rollback begins')
if (!process.argv.includes('--yes') && hasTerminal()) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  await terminal.question('   Press Enter to cancel the order ')
  terminal.close()
}
const before = ledger.entries().length
await run.cancel('the customer changed her mind', { by: 'user:ana' })
await first.line(/undoing: return the goods/)
for (const { what } of ledger.entries().slice(before)) tell.line('did', what)
await first.kill()
tell.died('the worker, after it returned the goods and before that was recorded')

tell.act(3, 'Another worker continues the rollback')
const second = startChild('./worker', import.meta.url, { env })
const failure = await run.result().catch((error: unknown) => error)
await second.kill()

const { rollback, status, cancelReason } = await run.status()
const { execution_log: log } = await client.log(run.id)
for (const { position, type, name, status: how } of log)
  tell.line(String(position), `${type.padEnd(5)} ${name} (${how})`)

tell.title('Verdict')
const did = ledger.entries().map(({ what }) => what)
const undone = ['write to the customer', 'return the goods', 'release the money']
const checks: readonly (readonly [string, boolean])[] = [
  [
    'the run is cancelled, and says why',
    status === 'cancelled' &&
      cancelReason === 'the customer changed her mind' &&
      PawlError.is(failure, 'run-cancelled'),
  ],
  ['everything was undone in reverse order', did.slice(2).join() === undone.join()],
  ['each effect happened once', new Set(did).size === did.length && did.length === 5],
  [
    'the log lists each undo once',
    log
      .filter(({ type }) => type === 'undo')
      .map(({ name }) => name)
      .join() === 'tell the customer,reserve,hold',
  ],
  ['the run says what was undone', rollback?.undone.join() === 'tell the customer,reserve,hold'],
]
for (const [what, holds] of checks) (holds ? tell.passed : tell.failed)(what)
await client.stop()
await rm(folder, { recursive: true, force: true })
process.exitCode = checks.every(([, holds]) => holds) ? 0 : 1
