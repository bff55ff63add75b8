import { markCode, type RunKey, type RunSurvey, stateCode } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type Survey = (run: RunKey, id: string, limit: number, at: number) => RunSurvey

export function prepareSurvey(database: Database): Survey {
  const owner = database.prepare<[RunKey], NonNullable<RunSurvey['owner']>>(
    `select name, beat_at as beatAt, lease_ms as leaseMs
     from runs join workers on workers.worker = runs.worker where run = ?`,
  )
  const isLive = `state = ${stateCode.numberOf.live}`
  const ended = (['completed', 'failed', 'cancelled'] as const).map(
    (state) => `total(state = ${stateCode.numberOf[state]}) as ${state}`,
  )
  const marked = (['stuck', 'quarantined'] as const).map(
    (mark) => `total(${isLive} and mark = ${markCode.numberOf[mark]}) as ${mark}`,
  )
  const active = (status: string, condition: string): string =>
    `total(${isLive} and mark = ${markCode.numberOf.none} and ${condition}) as ${status}`
  const children = database.prepare<[number, string, number], RunSurvey['children']>(
    `with family as (
       select state, mark, worker is not null or ifnull(wake_at <= ?, 0) as active
       from run_info join runs using (run) where parent = ? order by run desc limit ?)
     select ${[active('running', 'active'), active('waiting', 'not active'), ...ended, ...marked].join(', ')}
     from family`,
  )
  return (run, id, limit, at) => ({
    owner: owner.get(run) ?? null,
    children: children.get(at, id, limit) as RunSurvey['children'],
  })
}
