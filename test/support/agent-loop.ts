import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Client, createClient, PawlError, type Store } from '@pawl/core'
import { expect, onTestFinished } from 'vitest'
import { startChild } from '../../examples/shared/src/child.ts'
import { bundle } from './bundle.ts'

interface Line {
  readonly what: string
  readonly key: string
  /** What a tool with an approval was run with. */
  readonly cents?: number
}

export interface KillOptions {
  /** Number of kills at random instants. */
  readonly kills: number
  readonly random: () => number
  /** A file, or the URL of a database. */
  readonly place: string
  readonly store: Store
  readonly schema?: string
}

/**
 * Kills workers in a tool loop with SIGKILL at random instants, run after run, until there were enough kills. Checks after
 * each kill that nothing recorded before it ran again, and that what did run again had the same key. Every second tool waits
 * for an approval, which this process gives with another amount.
 */
export async function killInLoop({ kills, random, place, store, schema }: KillOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-desk-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const program = await bundle(fileURLToPath(new URL('../programs/desk-worker.ts', import.meta.url)))
  onTestFinished(() => rm(dirname(program), { recursive: true, force: true }))
  const client = createClient({ store })
  onTestFinished(() => client.stop())
  for (let killed = 0, number = 0; killed < kills; number += 1) {
    const id = `desk-${number}`
    const file = join(folder, `${id}.jsonl`)
    const env = { DESK_STORE: place, DESK_FILE: file, DESK_RUN: id, DESK_SCHEMA: schema }
    const recorded = new Map<string, number>()
    let said = ''
    let approvals: Promise<number> | undefined
    while (said === '') {
      const worker = startChild('./desk-worker', pathToFileURL(program).href, { env, node: [] })
      const result = worker.line(/^result /).catch(() => '')
      await worker.line(/^working/)
      approvals ??= approveAll(client, id)
      const isLast = killed >= kills
      said = await (isLast ? result : Promise.race([result, pause(random() * 150, '')]))
      await worker.kill()
      if (said === '') killed += 1
      const lines = await readLines(file)
      const { execution_log: log } = await client.log(id)
      expectNoRepeats(lines, recorded)
      const settled = log.filter(({ status }) => status === 'done').length
      for (const what of operations.slice(0, settled))
        if (!recorded.has(what)) recorded.set(what, lines.length)
    }
    expect(said).toBe('result "done"')
    const lines = await readLines(file)
    expectSameKeys(lines)
    const { execution_log: log } = await client.log(id)
    const asks = log.filter(({ type }) => type === 'hitl_approval').map(({ name }) => name)
    expect(asks).toEqual(turns.filter(isAsked).map((_, n) => (n === 0 ? 'refund' : `refund-${n + 1}`)))
    expect(await approvals).toBe(asks.length)
    const amounts = lines.flatMap(({ cents }) => (cents === undefined ? [] : [cents]))
    expect(new Set(amounts)).toEqual(new Set([approvedCents]))
  }
}

const approvedCents = 4_000

/** Answers every question of the run once. Returns their number when the run has ended. */
async function approveAll(client: Client, run: string): Promise<number> {
  for (let answered = 0; ; answered += 1) {
    const ask = await client.inbox.next({ run }).catch((error: unknown) => {
      if (PawlError.is(error, 'run-ended')) return null
      throw error
    })
    if (ask === null) return answered
    const params = { ...(ask.params as object), cents: approvedCents }
    await client.inbox.answer(ask.id, { approved: true, params }, { as: 'user:ana' })
  }
}

const turns = Array.from({ length: 12 }, (_, turn) => turn)
const isAsked = (turn: number): boolean => turn % 2 === 1

/** The operations of the loop, in order: position n of the log is the n-th of them. */
const operations = [
  ...turns.flatMap((turn) => [`model ${turn}`, ...(isAsked(turn) ? [`ask ${turn}`] : []), `tool ${turn}`]),
  'model 12',
]
/** Those that write a line. */
const bodies = operations.filter((what) => !what.startsWith('ask'))

/** `recorded` has the length of the file at which an operation was known to be in the log. */
function expectNoRepeats(lines: readonly Line[], recorded: ReadonlyMap<string, number>): void {
  for (const [index, { what }] of lines.entries()) {
    const from = recorded.get(what)
    if (from !== undefined) expect(index, `${what} ran again after it was recorded`).toBeLessThan(from)
  }
}

function expectSameKeys(lines: readonly Line[]): void {
  const keys = new Map<string, Set<string>>()
  for (const { what, key } of lines) keys.set(what, (keys.get(what) ?? new Set()).add(key))
  expect([...keys.keys()].sort()).toEqual([...bodies].sort())
  for (const [what, used] of keys) expect(used.size, what).toBe(1)
  const ofTools = [...keys].filter(([what]) => what.startsWith('tool')).flatMap(([, used]) => [...used])
  expect(new Set(ofTools).size).toBe(ofTools.length)
}

/** A kill can cut off the last line. */
async function readLines(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as Line]
    } catch {
      return []
    }
  })
}
