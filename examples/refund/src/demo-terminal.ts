// A refund that survives kill -9: kills a worker twice, starts it again, and checks that nothing was done twice.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient, ref } from '@pawl/core'
import { openStore } from '../../shared/src/store.ts'
import { seconds, tell } from '../../shared/src/tell.ts'
import { hasTerminal } from '../../shared/src/terminal.ts'
import { bookFile } from './book.ts'
import { actOne, actThree, actTwo, LeftOpen } from './demo/acts.ts'
import { gatherEvidence } from './demo/evidence.ts'
import { Stage } from './demo/stage.ts'
import { drawLedger, drawLog } from './demo/tables.ts'
import { judge } from './demo/verdict.ts'
import type { refundOrders } from './refund.ts'

const { values } = parseArgs({
  options: { yes: { type: 'boolean' }, keep: { type: 'boolean' }, help: { type: 'boolean' } },
})
if (values.help) {
  tell.text('npm run demo:terminal -- [--yes] [--keep]')
  tell.text('  --yes   another process answers', '  --keep  leaves the files where they are')
  process.exit()
}
const scripted = values.yes === true || !hasTerminal()

const folder = await mkdtemp(join(tmpdir(), 'pawl-refund-'))
process.env['REFUND_FOLDER'] = folder
process.env['PAWL_STORE'] ||= join(folder, 'refund.db')

tell.title('A refund that survives kill -9')
tell.text(
  'A worker process pays back the orders of a book: small sums by itself, a large',
  'one only after a person said yes. It is killed twice with SIGKILL, which no',
  'program can catch, and started again. Whatever its log holds is not done again.',
  '',
  `   procedure   ${relative('', join(bookFile, '../../src/refund.ts'))}`,
  `   order book  ${relative('', bookFile)}`,
  `   written to  ${folder}`,
  '   replayed    is what the log held; ran is what the steps noted in a diary',
)

const startedAt = Date.now()
const client = createClient({ store: await openStore(process.env['PAWL_STORE']) })
const run = await client.run(
  ref<typeof refundOrders>('refund-orders'),
  { book: bookFile },
  { id: basename(folder) },
)
const stage = new Stage(client, run)
let interrupted = false
let left: Promise<never> | undefined
process.once('SIGINT', () => {
  interrupted = true
  void leave(130)
})

let passed = false
try {
  const first = await actOne(stage)
  const second = await actTwo(stage, first.killedAt)
  const consent = await actThree(stage, second.ask, scripted)
  passed = await sumUp({ askBefore: second.ask, consent, kills: [first.ending, second.ending] })
} catch (error) {
  if (interrupted || error instanceof LeftOpen) await leave(130)
  tell.failed(error instanceof Error ? error.message : String(error))
}
await leave(passed ? 0 : 1)

/** The log, the ledger, and whether both are as promised. */
async function sumUp(seen: Parameters<typeof gatherEvidence>[1]): Promise<boolean> {
  const evidence = await gatherEvidence(stage, seen)
  const workers = stage.workers.map(({ pid }) => pid)
  tell.title('The execution log, and which of the three workers ran what')
  tell.text(drawLog(evidence.log.execution_log, evidence.diary, workers))
  tell.title('The payments ledger')
  tell.text(drawLedger(evidence.payments))
  tell.title('Verdict')
  const findings = judge(evidence)
  for (const { promise, faults } of findings) {
    if (faults.length === 0) tell.passed(promise)
    for (const fault of faults) tell.failed(`${promise}: ${fault}`)
  }
  return findings.every(({ faults }) => faults.length === 0)
}

function leave(code: number): Promise<never> {
  left ??= clearUp(code)
  return left
}

async function clearUp(code: number): Promise<never> {
  await stage.clear()
  await client.stop()
  const tidy = code === 0 && !values.keep
  if (tidy) await rm(folder, { recursive: true })
  const passed = `Passed, in ${seconds(Date.now() - startedAt)}.`
  if (tidy) tell.text('', `${passed} Nothing is left behind; --keep leaves the files.`)
  else tell.text('', ...(code === 0 ? [passed] : []), `The files are in ${folder}`)
  if (code === 130)
    tell.text(
      'The run is where it was. A worker resumes it:',
      `  REFUND_FOLDER=${folder} npx tsx examples/refund/src/worker.ts`,
    )
  process.exit(code)
}
