import {
  type Cancelled,
  type Claimant,
  cancelKey,
  markCode,
  messageKindCode,
  type NewCancel,
  refuseMessage,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import { type Names, storeTime } from '../names.ts'
import { onePerRow } from '../schema/planner.ts'
import {
  bindClaimant,
  ClaimHandover,
  claimedColumns,
  type DeliveredRow,
  deliver,
  isStale,
  lockRuns,
  wakeRuns,
} from './delivery.ts'

export type Cancel = (request: NewCancel, claimant: Claimant | null) => Promise<Cancelled>

export function prepareCancel(database: Database, ownership: Ownership): Cancel {
  const statement = new Statement(writeCancel(database.names))
  return (request, claimant) =>
    ownership.during(async (noteOwned) => {
      const handover = new ClaimHandover(claimant, noteOwned)
      let isRepeated = false
      const [outcome] = await deliver([request], {
        sizeOf: () => 300,
        run: ([{ run, payload } = request]) =>
          database.repeat((isAgain) => {
            isRepeated ||= isAgain
            const values = [
              listTexts([run]),
              payload && asBuffer(payload),
              ...bindClaimant(claimant, ownership),
            ]
            return database.run<CancelledRow>(statement, values)
          }),
        show: ({ payload }, row) => showCancelled(payload, row, handover, isRepeated),
      })
      return outcome as Cancelled
    })
}

interface CancelledRow extends DeliveredRow {
  readonly i: number
  readonly verdict: 'missing' | 'duplicate' | 'again' | 'ended' | 'quarantined' | 'new'
  readonly n: number | null
  readonly at: number
  readonly state: number
}

/** Undefined: the request must be repeated. `isRepeated`: a reply was lost, and the stored message may be this one. */
function showCancelled(
  payload: Uint8Array | null,
  row: CancelledRow,
  handover: ClaimHandover,
  isRepeated: boolean,
): Cancelled | undefined {
  switch (row.verdict) {
    case 'again':
      return undefined
    case 'missing':
    case 'quarantined':
      return { outcome: row.verdict }
    case 'ended':
      return refuseMessage(row.state)
    default: {
      const { run, n, at } = row
      const message = n === null ? null : ({ n, at, kind: 'cancel', name: '', by: null, payload } as const)
      const outcome = message !== null || isRepeated ? 'stored' : 'duplicate'
      return { outcome, run, message, claimed: handover.give(row) }
    }
  }
}

function writeCancel(names: Names): string {
  const { messages } = names
  return `
    with clock as materialized (select ${storeTime} as now),
    ${lockRuns(names, '$1')},
    judged as materialized (
      select l.*, case when d.run is not null then 'duplicate'
                       when l.state <> 0 and ${isStale} then 'again'
                       when l.state <> 0 then 'ended'
                       when l.mark = ${markCode.numberOf.quarantined} then 'quarantined'
                       when ${isStale} then 'again'
                       else 'new' end as verdict
      from locked l
      left join seen s on s.run = l.run
      left join lateral (
        select run from ${messages} where run = l.run and key = '${cancelKey}' ${onePerRow}) d on true),
    inserted as (
      insert into ${messages} (run, at, n, kind, name, key, payload)
      select run, now, mail + 1, ${messageKindCode.numberOf.cancel}, '', '${cancelKey}', $2
      from judged cross join clock where verdict = 'new' returning run, n),
    bumped as materialized (select run, n as mail from inserted),
    touched as materialized (select run from judged where verdict in ('new', 'duplicate')),
    ${wakeRuns(names, 3, true)}
    select 1 as i, coalesce(j.verdict, 'missing') as verdict, j.run, coalesce(j.state, 0) as state, x.n, now as at,
      ${claimedColumns}
    from clock left join judged j on true
    left join inserted x on x.run = j.run
    left join woken w on w.run = j.run`
}
