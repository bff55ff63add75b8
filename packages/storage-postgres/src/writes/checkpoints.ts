import { hiddenState, stateCode, type WholeStore } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'

export type CheckpointWrites = Pick<WholeStore['checkpoints'], 'add' | 'remove'>

export function prepareCheckpointWrites(database: Database): CheckpointWrites {
  const { add, remove } = writeStatements(database.names)
  return {
    add: (run, { slot, position, seq, name, payload }) =>
      database.repeat(async (isRepeated) => {
        const values = [run, slot, position, seq, name, payload && asBuffer(payload)]
        const [row] = await database.run<AddedRow>(add, values)
        if (row === undefined || row.state === hiddenState) return { outcome: 'missing' }
        const state = stateCode.wordIfKnown(row.state)
        if (state !== 'live') return { outcome: 'ended', state }
        if (row.added !== null) return { outcome: 'added', at: row.added }
        // Of an attempt whose reply was lost: no other call adds the same value in the same slot.
        return isRepeated && row.same !== null ? { outcome: 'added', at: row.same } : { outcome: 'taken' }
      }),
    async remove(numbers) {
      const rows = await database.repeat(() => database.run(remove, [listBigints(numbers)]))
      return rows.length
    },
  }
}

interface AddedRow {
  readonly state: number
  readonly added: number | null
  /** When a checkpoint like it was added, of which this attempt has found that it is there. */
  readonly same: number | null
}

function writeStatements({ runs, checkpoints }: Names): Record<'add' | 'remove', Statement> {
  return {
    // The run is locked: it cannot end meanwhile.
    add: new Statement(`
      with its as materialized (select run, state from ${runs} where run = $1 for share),
      added as (
        insert into ${checkpoints} (run, at, slot, position, seq, name, payload)
        select run, ${storeTime}, $2, $3, $4::int, $5, $6::bytea from its where state = ${stateCode.numberOf.live}
        on conflict (run, slot) do nothing returning at)
      select its.state, (select at from added) as added,
        (select at from ${checkpoints} c where c.run = $1 and c.slot = $2 and c.seq = $4::int
           and c.name is not distinct from $5 and c.payload is not distinct from $6::bytea) as same
      from its`),
    remove: new Statement(`delete from ${checkpoints} where n = any($1::bigint[]) returning n`),
  }
}
