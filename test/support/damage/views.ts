import { createEngine, type Engine, procedure } from '@pawl/core'
import { expect, onTestFinished } from 'vitest'
import { keepLines, type Line } from '../../semantics/support.ts'
import type { RowChange, RowPlace } from './rows.ts'

const asking = procedure({ name: 'asking' }, (ctx) =>
  ctx.human.approve('Delete?', { to: 'user:ana', key: 'delete' }),
)

/** An engine beside the damaged rows, which executes none of their runs. */
interface Scene {
  readonly engine: Engine
  readonly lines: readonly Line[]
  readonly damaged: readonly string[]
  readonly whole: readonly string[]
}

/** Between any two runs whose row is damaged is one that is whole. */
async function setScene(place: RowPlace, changes: readonly RowChange[]): Promise<Scene> {
  const before = await createEngine({ store: place.makeStore(), procedures: [asking] })
  const damaged = changes.map(({ table, column }, index) => `${index} ${table}.${column}`)
  const whole = ['first']
  await before.run(asking, undefined, { id: 'first' })
  for (const id of damaged) {
    await before.run(asking, undefined, { id })
    await before.inbox.next({ run: id })
    if (whole.length % 3 === 0) continue
    whole.push(`beside ${id}`)
    await before.run(asking, undefined, { id: `beside ${id}` })
  }
  for (const id of [...damaged, ...whole]) await before.inbox.next({ run: id })
  await before.stop()
  for (const [index, { table, column, value }] of changes.entries())
    await place.write(table, damaged[index] as string, column, value)
  const { logger, lines } = keepLines()
  const engine = await createEngine({ store: place.makeStore(), procedures: [], logger })
  onTestFinished(() => engine.stop())
  return { engine, lines, damaged, whole }
}

/** Follows the cursors to the end. */
async function readAll<Item>(
  list: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly cursor: string | undefined }>,
): Promise<readonly Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await list(cursor)
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined)
  return items
}

/** What the inbox shows when the asks of some runs cannot be read: those of all others, and one warning for each. */
export async function checkInbox(place: RowPlace, changes: readonly RowChange[]): Promise<void> {
  const { engine, lines, damaged, whole } = await setScene(place, changes)
  const { inbox } = engine
  for (const limit of [1, 3, 500])
    for (const filter of [{ limit }, { limit, to: 'user:ana' as const }]) {
      const asks = await readAll((cursor) => inbox.list({ ...filter, cursor }))
      expect(asks.map(({ run }) => run)).toEqual(whole)
    }
  const first = await inbox.next({ to: 'user:ana' })
  expect(first.run).toBe('first')
  await expect(inbox.get(first.id)).resolves.toMatchObject({ message: 'Delete?' })
  for (const run of damaged) {
    await expect(inbox.get(`${run}/0`)).resolves.toBeNull()
    for (const address of [`${run}/0`, { run, key: 'delete' }])
      await expect(inbox.answer(address, { approved: true }, { as: 'user:ana' })).rejects.toMatchObject({
        code: 'run-quarantined',
        message: expect.stringMatching(/^Ask [0-9a-f]{16} \(.*\/0\) cannot be read: /),
      })
  }
  await expect(inbox.next({ run: damaged[0] as string, timeout: '10ms' })).rejects.toMatchObject({
    code: 'wait-timed-out',
  })
  await inbox.answer(first.id, { approved: true }, { as: 'user:ana' })
  expect((await inbox.list({ status: 'answered' })).items.map(({ run }) => run)).toEqual(['first'])
  expectOneWarning(lines, damaged, (run) => `(${run}/0)`)
}

/** What is shown of runs whose row cannot be read: that they are quarantined. All others are shown as they are. */
export async function checkRuns(place: RowPlace, changes: readonly RowChange[]): Promise<void> {
  const { engine, lines, damaged, whole } = await setScene(place, changes)
  for (const limit of [2, 500]) {
    const runs = await readAll((cursor) => engine.list({ limit, cursor }))
    expect(runs.map(({ id }) => id).toSorted()).toEqual([...damaged, ...whole].toSorted())
    for (const { id, status, failure } of runs) {
      if (whole.includes(id)) expect(status).toBe('waiting')
      else
        expect({ id, status, code: failure?.code }).toEqual({
          id,
          status: 'quarantined',
          code: 'run-quarantined',
        })
    }
  }
  for (const id of damaged) {
    const run = engine.get(id)
    await expect(run.status()).resolves.toMatchObject({ status: 'quarantined', waitingFor: [] })
    if (id.includes('info')) continue
    await expect(run.result()).rejects.toMatchObject({ code: 'run-quarantined' })
    await expect(engine.log(id)).rejects.toMatchObject({ code: 'run-quarantined' })
  }
  expectOneWarning(lines, damaged, (run) => `Run "${run}"`)
}

function expectOneWarning(
  lines: readonly Line[],
  runs: readonly string[],
  name: (run: string) => string,
): void {
  for (const run of runs)
    expect(
      lines.filter(({ level, message }) => level === 'warn' && message.includes(name(run))),
    ).toHaveLength(1)
  expect(lines).toHaveLength(runs.length)
}
