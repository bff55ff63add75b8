import {
  type AddedCheckpoint,
  type CheckpointAdded,
  hiddenState,
  type NewCheckpoint,
  type RunKey,
  type StayingCheckpoint,
  stateCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export interface CheckpointWrites {
  /** Writes the checkpoint of an event; `seq`: one that a caller has made. */
  write(run: RunKey, checkpoint: NewCheckpoint, at: number, seq?: number | null): void
  add(run: RunKey, checkpoint: AddedCheckpoint, at: number): CheckpointAdded
  remove(numbers: readonly number[]): number
  removeOf(run: RunKey): void
  /** Removes those of a run that do not stay. */
  keepOf(run: RunKey, stay: readonly StayingCheckpoint[]): void
}

export function prepareCheckpointWrites(database: Database): CheckpointWrites {
  const columns = '(run, slot, position, seq, at, name, payload) values (?, ?, ?, ?, ?, ?, ?)'
  const replace = database.prepare(`insert or replace into checkpoints ${columns}`)
  const insert = database.prepare(`insert into checkpoints ${columns} on conflict (run, slot) do nothing`)
  const readState = database.prepare<[RunKey], number>('select state from runs where run = ?').pluck()
  const remove = database.prepare('delete from checkpoints where n = ?')
  const removeOf = database.prepare('delete from checkpoints where run = ?')
  const numbersOf = database.prepare<[RunKey], number>('select n from checkpoints where run = ?').pluck()
  const move = database.prepare('update checkpoints set seq = ? where n = ?')
  return {
    write: (run, { slot, position, name, payload }, at, seq = null) =>
      void replace.run(run, slot, position, seq, at, name, payload),
    add(run, { slot, position, seq, name, payload }, at) {
      const stored = readState.get(run)
      if (stored === undefined || stored === hiddenState) return { outcome: 'missing' }
      const state = stateCode.wordIfKnown(stored)
      if (state !== 'live') return { outcome: 'ended', state }
      const { changes } = insert.run(run, slot, position, seq, at, name, payload)
      return changes === 1 ? { outcome: 'added', at } : { outcome: 'taken' }
    },
    remove: (numbers) => numbers.reduce((count, n) => count + remove.run(n).changes, 0),
    removeOf: (run) => void removeOf.run(run),
    keepOf(run, stay) {
      const seqs = new Map(stay.map(({ n, seq }) => [n, seq]))
      for (const n of numbersOf.all(run)) {
        const seq = seqs.get(n)
        if (seq === undefined) remove.run(n)
        else if (seq !== null) move.run(seq, n)
      }
    },
  }
}
