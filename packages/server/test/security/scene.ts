import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createEngine, procedure } from '@pawl/core'
import { webhooks } from '@pawl/server'
import { sqlite } from '@pawl/storage-sqlite'
import Database from 'better-sqlite3'
import type { Dispatch } from '../../src/dispatch.ts'
import { byToken, dispatchOf, refund, silent } from '../support/server.ts'

/** A stopped run with an open ask to group:support, in a file that is copied for each write. */
export interface Scene {
  readonly ask: string
  open(): Promise<World>
  remove(): void
}

/** A server on a copy of the scene. Nothing but requests writes to the file. */
export interface World {
  readonly dispatch: Dispatch
  readonly faults: readonly unknown[]
  /** All rows of each table. */
  dump(): Dump
  close(): Promise<void>
}

/** Leaves a notice to everyone. */
const told = procedure({ name: 'told' }, (ctx) => ctx.human.notify('The refunds are late'))

export async function makeScene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-matrix-'))
  const file = join(folder, 'scene.db')
  const engine = await createEngine({ store: sqlite(file), procedures: [refund, told], logger: silent })
  await (await engine.run(told)).result()
  const run = await engine.run(refund, { amount: 45 }, { id: 'refund:1', by: 'user:zoe' })
  const ask = await engine.inbox.next({ run: run.id })
  await engine.stop()
  let copies = 0
  return {
    ask: ask.id,
    async open() {
      const copy = join(folder, `copy-${copies++}.db`)
      copyFileSync(file, copy)
      return openWorld(copy)
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

async function openWorld(file: string): Promise<World> {
  const client = createClient({ store: sqlite(file) })
  // The store notes that the file was copied.
  await client.list({ limit: 1 })
  const { dispatch, faults } = dispatchOf({
    client,
    auth: byToken,
    links,
    hooks: webhooks({ keys: ['k'.repeat(32)] }),
  })
  return { dispatch, faults, dump: () => dumpFile(file), close: () => client.stop() }
}

const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] as const }

export type Dump = ReadonlyMap<string, string>

/** The names of the tables whose rows differ. */
export function changedTables(before: Dump, after: Dump): readonly string[] {
  return [...after].flatMap(([name, rows]) => (before.get(name) === rows ? [] : [name]))
}

function dumpFile(file: string): Dump {
  const database = new Database(file, { readonly: true })
  try {
    const tables = database
      .prepare<[], { readonly name: string }>("select name from sqlite_schema where type = 'table'")
      .all()
    const rowsOf = (name: string): string =>
      database
        .prepare(`select * from "${name}"`)
        .raw()
        .all()
        .map((row) => JSON.stringify(row, writeValue))
        .toSorted()
        .join('\n')
    return new Map(tables.map(({ name }) => [name, rowsOf(name)]))
  } finally {
    database.close()
  }
}

function writeValue(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value
}
