import { markCode, type RunSurvey, type StorePort, stateCode } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { storeTime } from '../names.ts'

type Children = RunSurvey['children']
type Owner = NonNullable<RunSurvey['owner']>

export function prepareSurvey(database: Database): StorePort['runs']['survey'] {
  const { runs, runInfo, workers } = database.names
  const owner = `
    select w.name, w.beat_at as "beatAt", w.lease_ms as "leaseMs"
    from ${runs} r join ${workers} w on w.worker = r.worker where r.run = $1`
  const isLive = `state = ${stateCode.numberOf.live}`
  const isUnmarked = `${isLive} and mark = ${markCode.numberOf.none}`
  const conditions: { readonly [S in keyof Children]: string } = {
    running: `${isUnmarked} and active`,
    waiting: `${isUnmarked} and not active`,
    completed: `state = ${stateCode.numberOf.completed}`,
    failed: `state = ${stateCode.numberOf.failed}`,
    cancelled: `state = ${stateCode.numberOf.cancelled}`,
    stuck: `${isLive} and mark = ${markCode.numberOf.stuck}`,
    quarantined: `${isLive} and mark = ${markCode.numberOf.quarantined}`,
  }
  const counts = Object.entries(conditions).map(
    ([status, condition]) => `(count(*) filter (where ${condition}))::int as ${status}`,
  )
  const children = `
    select ${counts.join(', ')} from (
      select r.state, r.mark, r.worker is not null or coalesce(r.wake_at <= (select ${storeTime}), false) as active
      from ${runInfo} f join ${runs} r on r.run = f.run where f.parent = $1 order by f.run desc limit $2) as child`
  return async (run, id, limit) => {
    const [owners, [counted]] = await Promise.all([
      database.read<Owner>(owner, [run]),
      database.read<Children>(children, [id, limit]),
    ])
    return { owner: owners[0] ?? null, children: counted as Children }
  }
}
