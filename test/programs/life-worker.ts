// A worker that takes its own runs through all of their lives, and is killed on the way. Started again, it goes on where it was, and
// ends once all is done. Arguments: where runs are kept, and a folder. support/kill/sabotage.ts says what else it can be told;
// SIGNALS=nameless sends signals without ids, again after each start, for the control of a test.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine, PawlError, procedure } from '@pawl/core'
import { z } from 'zod'
import { noteEffect } from '../support/kill/effects.ts'
import { lastGeneration, lives } from '../support/kill/life/lives.ts'
import { openStore } from '../support/kill/open-store.ts'
import { readSabotage } from '../support/kill/sabotage.ts'
import { sabotagePostgres } from '../support/kill/sabotage-postgres.ts'
import { sabotageSqlite } from '../support/kill/sabotage-sqlite.ts'

// Whoever started it is gone.
process.stdin.once('end', () => process.exit()).resume()

const [, , location = '', folder = ''] = process.argv
const isNameless = process.env['SIGNALS'] === 'nameless'
const sabotage = readSabotage()
sabotageSqlite(sabotage)
sabotagePostgres(sabotage)

const at = (name: string): string => join(folder, name)
const processAt = Date.now()
const note = (run: string, step: string, key: string): string => {
  noteEffect(at('ledger'), { run, step, key, pid: process.pid, processAt })
  return step
}
/** A file that is whole or not there. */
const keep = (name: string, content: string | Uint8Array): void => {
  writeFileSync(at(`${name}.draft`), content)
  renameSync(at(`${name}.draft`), at(name))
}

const life = procedure(
  {
    name: 'life',
    input: z.object({ round: z.number(), heard: z.array(z.string()) }),
    signals: { n: z.number() },
  },
  async (ctx, { round, heard }): Promise<readonly string[]> => {
    await ctx.step(`begin ${round}`, ({ idempotencyKey }) =>
      note(ctx.runId, `begin ${round}`, idempotencyKey),
    )
    if (round > lives.length) return heard
    await ctx.checkpoint(`round ${round}`, { heard })
    const { approved } = await ctx.human.approve('Go on?', { key: 'go' })
    const all = [...heard, `${await ctx.receive('n')} ${approved}`]
    return round === lives.length ? all : ctx.continueAs({ round: round + 1, heard: all })
  },
)
const flaky = procedure({ name: 'flaky' }, async (ctx) => {
  const step = (name: string) =>
    ctx.step(
      name,
      ({ idempotencyKey }) => {
        if (name === 'charge' && !existsSync(at('mended'))) throw new Error('card declined')
        return note(ctx.runId, name, idempotencyKey)
      },
      { retry: false },
    )
  await step('load')
  await ctx.checkpoint('loaded', {})
  await step('charge')
  return step('ship')
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const engine = await createEngine({
  ...{
    store: openStore(location),
    procedures: [life, flaky],
    lease: '1s',
    maxCrashes: 10_000,
    logger: silent,
  },
})

const ignoring =
  (...codes: readonly string[]) =>
  (error: unknown): void => {
    if (!PawlError.is(error) || !codes.includes(error.code)) throw error
  }
const generationOf = async (id: string): Promise<number> =>
  (await engine.get(id).status().catch(ignoring('run-not-found')))?.generation ?? 0

async function answerAll(): Promise<void> {
  for (;;) {
    const ask = await engine.inbox.next({ run: 'life' })
    await engine.inbox
      .answer(ask.id, { approved: true }, { as: 'user:ana' })
      .catch(ignoring('ask-closed', 'run-ended'))
  }
}

async function liveFirst(): Promise<void> {
  if (existsSync(at('heard'))) return
  const run = await engine.runOrGet(life, { round: 1, heard: [] }, { id: 'life' })
  for (const n of lives)
    await run.signal('n', n, isNameless ? {} : { id: `n${n}` }).catch(ignoring('run-ended'))
  answerAll().catch(ignoring('run-ended', 'engine-stopped'))
  keep('heard', JSON.stringify(await run.result()))
}

/** Begins the same run again, once. */
async function liveAgain(): Promise<void> {
  if (existsSync(at('life.pawl'))) return
  if ((await generationOf('life')) < lastGeneration)
    await engine.runOrGet(life, { round: 9, heard: ['again'] }, { id: 'life', ifEnded: 'again' })
  await engine.get('life').result()
}

async function retryAndFork(): Promise<void> {
  const run = await engine.runOrGet(flaky, undefined, { id: 'flaky' })
  await run.result().catch(async () => {
    keep('mended', '')
    await engine.retry('flaky')
    await run.result()
  })
  if ((await generationOf('fork')) === 0) await engine.fork('flaky', { position: 3 }, { id: 'fork' })
  await engine.get('fork').result()
}

/** Deletes the run, and brings it back from its file. */
async function deleteAndImport(): Promise<void> {
  if (!existsSync(at('life.pawl'))) keep('life.pawl', await engine.export('life'))
  if (existsSync(at('life again.pawl'))) return
  await engine.delete('life').catch(ignoring('run-not-found'))
  await engine.import(readFileSync(at('life.pawl')))
  keep('life again.pawl', await engine.export('life'))
}

await liveFirst()
await liveAgain()
await retryAndFork()
await deleteAndImport()
keep('done', '')
await engine.stop()
process.exit()
