// Leaves runs behind after every commit, in a file that newer versions of the SDK have to resume. Done once for a version:
// node --conditions=@pawl/source --import tsx packages/ai-sdk/test/golden/record.ts (for AI SDK 6 with --import ./packages/ai-sdk/test/golden/six.mjs)
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import Database from 'better-sqlite3'
import { meddleWith } from '../../../../test/support/meddling-store.ts'
import { approveAll } from '../support/approve-all.ts'
import { isSeven } from '../support/models.ts'
import { type Program, programs } from './programs.ts'

Error.stackTraceLimit = 0
const manifest = createRequire(import.meta.url).resolve(`${isSeven ? 'ai' : 'ai-6'}/package.json`)
const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
const file = new URL(`./logs/ai-${version}.db`, import.meta.url).pathname
if (existsSync(file)) throw new Error(`${file} exists, and recorded logs stay as they are.`)

for (const program of programs) for (let commits = 1; !(await leaveBehind(program, commits)); commits += 1);
const database = new Database(file)
database.exec('vacuum')
database.close()
for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
console.log(`recorded ${file}`)

/** Starts a run whose engine stops writing after so many commits. Returns whether the run had ended by then. */
async function leaveBehind({ procedure }: Program, commits: number): Promise<boolean> {
  const { store, always } = meddleWith(sqlite(file))
  let left = commits
  let stop: (value: false) => void
  const stopped = new Promise<false>((resolve) => {
    stop = resolve
  })
  always('claims.claim', async () => ({ runs: [], at: Date.now(), nextDueAt: null, leavesSuspects: false }))
  always('log.commit', (go) => {
    if (left-- > 0) return go()
    stop(false)
    return new Promise(() => {})
  })
  const engine = await createEngine({ store, procedures: [procedure] })
  const run = await engine.run(procedure, undefined, { id: `${procedure.name} after ${commits}` })
  approveAll(engine, run.id)
  const ended = run.result().then(() => true)
  const hasEnded = await Promise.race([ended, stopped])
  await engine.stop({ within: '0s' })
  return hasEnded
}
