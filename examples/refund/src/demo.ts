// The refund in the browser: serves the inbox with a button that kills the worker.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '@pawl/core'
import { openStore } from '../../shared/src/store.ts'
import { seconds, tell } from '../../shared/src/tell.ts'
import { makePeople } from './browser/people.ts'
import { play } from './browser/play.ts'
import { openSite } from './browser/site.ts'
import { Story } from './browser/story.ts'
import { gatherEvidence } from './demo/evidence.ts'
import { judge } from './demo/verdict.ts'

const { values } = parseArgs({
  options: {
    yes: { type: 'boolean' },
    keep: { type: 'boolean' },
    port: { type: 'string', default: '0' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  tell.text(
    'npm run demo -- [--yes] [--keep] [--port <number>]',
    '  --yes   plays the visitor by script and checks what happened',
    '  --keep  leaves the files where they are',
    '  --port  where to listen on 127.0.0.1; default: a free port',
  )
  process.exit()
}

const prefix = 'pawl-refund-'
const folder = await mkdtemp(join(tmpdir(), prefix))
process.env['REFUND_FOLDER'] = folder
process.env['REFUND_BANK_MS'] ??= values.yes ? '1000' : '12000'
process.env['PAWL_STORE'] ||= join(folder, 'refund.db')

const startedAt = Date.now()
const client = createClient({ store: await openStore(process.env['PAWL_STORE']) })
const report = (line: string): void => (values.yes ? undefined : tell.text(`   ${line}`))
const story = new Story(client, basename(folder).slice(prefix.length), report)
const tokenFile = join(folder, 'tokens.json')
const { ana, bob } = await makePeople(tokenFile)
const site = await openSite({ story, tokenFile, port: Number(values.port), bob })

let left: Promise<never> | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const)
  process.once(signal, () => void leave(values.yes ? 130 : 0))

tell.title('A refund that survives kill -9')
tell.text(
  `   Open  ${site.urlOf(ana)}`,
  '',
  'The page is the inbox. The strip above it shows the worker, has the button that',
  'kills it with SIGKILL, and says what to try next.',
  '',
  `   written to  ${folder}`,
  '   no browser  npm run demo:terminal',
  ...(values.yes ? [] : ['   to stop     Ctrl-C', '']),
)

try {
  await story.open()
  if (values.yes) await leave((await playAndJudge()) ? 0 : 1)
} catch (error) {
  if (left !== undefined) await left
  tell.failed(error instanceof Error ? error.message : String(error))
  await leave(1)
}

async function playAndJudge(): Promise<boolean> {
  const { origin } = new URL(site.urlOf(ana))
  const seen = await play({ story, origin, ana, bob })
  const evidence = await gatherEvidence(
    { client, run: await story.begin() },
    { ...seen, kills: story.worker.kills },
  )
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
  await site.stop()
  await story.worker.stop()
  await client.stop()
  const tidy = code === 0 && !values.keep
  if (tidy) await rm(folder, { recursive: true, force: true })
  const passed = values.yes && code === 0 ? `Passed, in ${seconds(Date.now() - startedAt)}. ` : ''
  tell.text(
    '',
    tidy
      ? `${passed}Nothing is left behind; --keep leaves the files.`
      : `${passed}The files are in ${folder}`,
  )
  process.exit(code)
}
