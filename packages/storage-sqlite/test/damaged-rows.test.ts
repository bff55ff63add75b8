import { checkRuns, createEngine, procedure, type RunCheck } from '@pawl/core'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { connect, sqliteStore } from '../../../test/support/sqlite.ts'
import { tempFile } from './support/stores.ts'

const child = procedure({ name: 'child', signals: { go: z.void() } }, async (ctx) => {
  await ctx.checkpoint('half', { done: 50 })
  await ctx.receive('go')
})
const asking = procedure({ name: 'asking' }, async (ctx) => {
  await ctx.human.approve('Refund it?', { key: 'refund', to: 'user:ana' })
})
const calling = procedure({ name: 'calling' }, async (ctx) => {
  await ctx.call(child, undefined, { id: 'kid' })
})
const procedures = [child, asking, calling]

async function startEngine(file: string) {
  const warnings: string[] = []
  const logger = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line), error() {} }
  const engine = await createEngine({ store: sqliteStore(file), procedures, logger })
  onTestFinished(() => engine.stop())
  return { engine, warnings }
}

/** Changes one byte of a column: its last one, which leaves text and MessagePack readable. */
function flip(file: string, table: string, column: string, where = '1 = 1'): void {
  const database = connect(file)
  const value = database.prepare(`select ${column} from ${table} where ${where}`).pluck().get()
  const bytes = Buffer.from(value as Uint8Array | string)
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  const changed = typeof value === 'string' ? bytes.toString() : bytes
  database.prepare(`update ${table} set ${column} = ? where ${where}`).run(changed)
  database.close()
}

const checkFile = (file: string): Promise<readonly RunCheck[]> =>
  checkRuns({ store: sqliteStore(file), procedures })

/** A file with the decision of a run that was deleted. */
async function archive(): Promise<string> {
  const file = tempFile()
  const { engine } = await startEngine(file)
  const run = await engine.run(asking, undefined, { id: 'refund:1' })
  const { id } = await engine.inbox.next({ run: run.id })
  await engine.inbox.answer(id, { approved: true, comment: 'fine' }, { as: 'user:ana' })
  await run.result()
  await engine.delete(run.id)
  await engine.stop()
  return file
}

test.each(['payload', 'answer', 'answered_by', 'procedure', 'audience', 'key'])(
  'check names a decision of a deleted run with a flipped bit in %s, and the inbox leaves it out',
  async (column) => {
    const file = await archive()
    expect(await checkFile(file)).toEqual([])
    flip(file, 'decisions', column)
    expect(await checkFile(file)).toMatchObject([
      {
        run: 'refund:1',
        verdict: 'broken',
        code: 'run-quarantined',
        message: expect.stringContaining('its decision at position 0 is damaged'),
      },
    ])
    const { engine, warnings } = await startEngine(file)
    expect((await engine.inbox.list({ archived: true })).items).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('does not match its digest')])
  },
)

test('a decision of an earlier version, without a digest, is shown as it is', async () => {
  const file = await archive()
  const database = connect(file)
  database.prepare('update decisions set digest = null').run()
  database.close()
  flip(file, 'decisions', 'answered_by')
  expect(await checkFile(file)).toEqual([])
  const { engine } = await startEngine(file)
  expect((await engine.inbox.list({ archived: true })).items).toHaveLength(1)
})

test('a check that selects runs by what decisions do not have leaves them out', async () => {
  const file = await archive()
  flip(file, 'decisions', 'answer')
  const options = { store: sqliteStore(file), procedures }
  expect(await checkRuns(options, { tag: 'blue' })).toEqual([])
  expect(await checkRuns(options, { procedure: 'calling' })).toEqual([])
  expect(await checkRuns(options, { procedure: 'asking' })).toHaveLength(1)
})

test.each([
  ['the link to its parent', 'run_info', 'parent', 'parent is not null'],
  ['the checkpoint at position 0', 'checkpoints', 'payload', '1 = 1'],
  ['the checkpoint at position 0', 'checkpoints', 'name', '1 = 1'],
])('check names a run with a flipped bit in %s (%s.%s)', async (what, table, column, where) => {
  const file = tempFile()
  const { engine } = await startEngine(file)
  await engine.run(calling, undefined, { id: 'order:1' })
  for (;;) {
    const found = await engine.list({ procedure: 'child', status: 'waiting' })
    if (found.items.length === 1) break
    await new Promise((resolve) => setImmediate(resolve))
  }
  await engine.stop()
  const verdicts = async () => Object.fromEntries((await checkFile(file)).map((one) => [one.run, one]))
  expect(await verdicts()).toMatchObject({ kid: { verdict: 'same' }, 'order:1': { verdict: 'same' } })
  flip(file, table, column, where)
  expect(await verdicts()).toMatchObject({
    kid: { verdict: 'broken', code: 'run-quarantined', message: expect.stringContaining(what) },
    'order:1': { verdict: 'same' },
  })
})
