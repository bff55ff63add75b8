import type { Store } from '@pawl/core'
import type { AskRow, RunRow } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { meddleWith } from '../meddling-store.ts'
import type { StoredValue } from './place.ts'
import type { RowPlace, ViewTable } from './rows.ts'

/** A memory store has no rows to damage: they are changed on their way out. */
export class MemoryPlace implements RowPlace {
  readonly #meddling = meddleWith(memory())
  readonly #changes: { readonly of: 'ask' | 'run'; readonly run: string; readonly row: object }[] = []

  constructor() {
    for (const method of ['asks.find', 'asks.findByRunKey', 'asks.findByKey'] as const)
      this.#meddling.always(method, async (go) => this.#changeAsk((await go()) as AskRow | null))
    this.#meddling.always('asks.list', async (go) =>
      ((await go()) as readonly AskRow[]).map((row) => this.#changeAsk(row)),
    )
    this.#meddling.always('runs.find', async (go) => this.#changeRun((await go()) as RunRow | null))
    this.#meddling.always('runs.list', async (go) =>
      ((await go()) as readonly RunRow[]).map((row) => this.#changeRun(row)),
    )
  }

  makeStore(): Store {
    return this.#meddling.store
  }

  async write(table: ViewTable, run: string, column: string, value: StoredValue): Promise<void> {
    const name = column.replace(/_(.)/, (_, letter: string) => letter.toUpperCase())
    const row = { [name]: typeof value === 'bigint' ? Number(value) : value }
    this.#changes.push({ of: table === 'asks' ? 'ask' : 'run', run, row })
  }

  #changeAsk(row: AskRow | null): AskRow | null {
    return row === null ? null : this.#change('ask', row.run, row)
  }

  #changeRun(row: RunRow | null): RunRow | null {
    return row === null ? null : this.#change('run', row.id, row)
  }

  #change<Row extends object>(of: 'ask' | 'run', id: string, row: Row): Row {
    return Object.assign(
      {},
      row,
      ...this.#changes.filter((one) => one.of === of && one.run === id).map((one) => one.row),
    )
  }
}
