import type { Unit } from '@pawl/core/storage'
import type pg from 'pg'

/** What a store has acknowledged, to be compared with what it has. */
export class Ledger {
  /** By run and seq: the name and the epoch the event was acknowledged under. */
  readonly #events = new Map<string, { readonly name: string; readonly epochs: readonly number[] }>()

  noteCreated(run: number, name: string): void {
    // Of its first owner, or of none if that is dead by then.
    this.#events.set(`${run} 0`, { name, epochs: [0, 1] })
  }

  /** The unit was acknowledged. */
  note(unit: Unit): void {
    for (const [index, { name }] of unit.events.entries()) {
      this.#events.set(`${unit.run} ${unit.head + index}`, { name, epochs: [unit.epoch] })
    }
  }

  get count(): number {
    return this.#events.size
  }

  /** What does not agree. `foreign`: in the log, and never acknowledged. */
  async compare(owner: pg.Pool, schema = 'pawl'): Promise<{ lost: number; foreign: number; gaps: number }> {
    const { rows } = await owner.query<{ run: string; seq: number; epoch: number; name: string }>(
      `select run, seq, epoch, name from ${schema}.events`,
    )
    const found = new Map(rows.map((row) => [`${row.run} ${row.seq}`, row]))
    const lost = [...this.#events].filter(([key, { name, epochs }]) => {
      const event = found.get(key)
      return event?.name !== name || !epochs.includes(event.epoch)
    })
    const gaps = await owner.query<{ count: string }>(
      `select count(*) from ${schema}.runs r
       where head <> (select count(*) from ${schema}.events e where e.run = r.run)
          or head <> (select max(seq) + 1 from ${schema}.events e where e.run = r.run)`,
    )
    return {
      lost: lost.length,
      foreign: [...found.keys()].filter((key) => !this.#events.has(key)).length,
      gaps: Number(gaps.rows[0]?.count),
    }
  }
}
