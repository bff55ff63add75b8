import {
  type CheckpointPlace,
  type CheckpointRow,
  hiddenState,
  stateCode,
  type WholeStore,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type CheckpointReads = Pick<WholeStore['checkpoints'], 'find' | 'list' | 'places'>

export function prepareCheckpointReads(database: Database): CheckpointReads {
  const { checkpoints, runs } = database.names
  const select = `
    select c.n, r.id as run, c.run as "runKey", c.slot, c.position, c.seq, c.at, c.name, c.payload
    from ${checkpoints} c join ${runs} r on r.run = c.run
    where r.state not in (${stateCode.numberOf.completed}, ${hiddenState})`
  const selectPlaces = `
    select c.n, c.run, r.procedure, r.state, c.at from ${checkpoints} c join ${runs} r on r.run = c.run
    where r.state <> ${hiddenState}`
  const ofRun = (run: number | null): string => (run === null ? '$1::bigint is null' : 'c.run = $1')
  const page = '($2::bigint is null or c.n < $2) order by c.n desc limit $3'
  return {
    async find(run, slot) {
      const text = `${select} and c.run = $1 and c.slot = $2`
      return (await database.read<CheckpointRow>(text, [run, slot]))[0] ?? null
    },
    list: ({ run, until, before, limit }) =>
      database.read<CheckpointRow>(
        `${select} and ($4::bigint is null or c.at <= $4) and ${ofRun(run)} and ${page}`,
        [run, before, limit, until],
      ),
    async places({ run, before, limit }) {
      const rows = await database.read<Omit<CheckpointPlace, 'state'> & { readonly state: number }>(
        `${selectPlaces} and ${ofRun(run)} and ${page}`,
        [run, before, limit],
      )
      return rows.map((row) => ({ ...row, state: stateCode.wordIfKnown(row.state) }))
    },
  }
}
