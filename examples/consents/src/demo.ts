// A migration whose production database fails its check: it is rolled back by itself. --yes agrees without asking.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { createEngine } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import { tell } from '../../shared/src/tell.ts'
import { hasTerminal } from '../../shared/src/terminal.ts'
import { Databases } from './databases.ts'
import { createMigration } from './migration.ts'

const folder = await mkdtemp(join(tmpdir(), 'pawl-migration-'))
const db = new Databases(['production'])
const migration = createMigration(db)
const engine = await createEngine({ store: sqlite(join(folder, 'pawl.db')), procedures: [migration] })

tell.title('A migration that is rolled back by itself')
tell.text('Version 42 works on staging. On production it will not.')
const run = await engine.run(migration, { version: 42 })

tell.act(1, 'A person is asked')
const ask = await engine.inbox.next({ run: run.id, timeout: '30s' })
tell.line('asked', ask.message)
for (const { title, body } of ask.details) tell.line(title, JSON.stringify(body))
let isApproved = true
if (!process.argv.includes('--yes') && hasTerminal()) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  isApproved = (await terminal.question('   Migrate? [y/n] ')).trim().toLowerCase() === 'y'
  terminal.close()
}
await engine.inbox.answer(ask.id, isApproved ? { approved: true } : { approved: false }, { as: 'user:ana' })

tell.act(2, 'The procedure continues by itself')
const outcome = await run.result({ timeout: '30s' })
for (const what of db.did) tell.line('did', what)
for (const { position, type, name, status } of (await engine.log(run.id)).execution_log)
  tell.line(String(position), `${type} ${name} (${status})`)

tell.title('Verdict')
const checks: readonly (readonly [string, boolean])[] = isApproved
  ? [
      ['production failed its check, and the run says so', outcome === 'rolled back'],
      ['production has its old version again', db.version('production') === 41],
      ['each effect happened once', new Set(db.did).size === db.did.length && db.did.length === 4],
    ]
  : [['production was not touched', !db.did.some((what) => what.includes('production to'))]]
for (const [what, holds] of checks) (holds ? tell.passed : tell.failed)(what)
await engine.stop()
await rm(folder, { recursive: true, force: true })
process.exitCode = checks.every(([, holds]) => holds) ? 0 : 1
