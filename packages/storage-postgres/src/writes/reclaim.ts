import type { Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import type { Database, Runner } from '../connection/database.ts'
import { listBigints, listIntegers } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { classify } from '../faults.ts'
import { type Names, storeTime } from '../names.ts'

export type Reclaim = (
  runner: Runner,
  worker: WorkerKey,
  units: readonly Unit[],
) => Promise<readonly UnitOutcome[]>

/**
 * Determines the outcome of commits without a response. Reading alone proves nothing, because a missing commit may
 * still arrive. So their runs are claimed again: at a higher epoch, the old commit has either landed or never can.
 * The row lock is a write: if a standby confirms commits, it confirms the old commit together with this one.
 */
export function prepareReclaim(database: Database): Reclaim {
  const { reclaim, findEvents } = writeStatements(database.names)

  async function reclaimOnce(
    runner: Runner,
    worker: WorkerKey,
    units: readonly Unit[],
    attempts: number,
  ): Promise<readonly UnitOutcome[]> {
    const runs = listBigints(units.map(({ run }) => run))
    const epochs = listIntegers(units.map(({ epoch }) => epoch))
    const heads = listIntegers(units.map(({ head }) => head))
    const counts = listIntegers(units.map(({ events }) => events.length))
    // An earlier attempt with a lost reply may have raised the epoch, or may still do so. So each attempt sets an
    // epoch higher than all earlier ones, and a late attempt changes nothing.
    const rows = await runner.run<RunFence>(reclaim, [worker, runs, epochs, attempts, heads, counts])
    // A separate statement: the previous one may have begun before the lost commit landed and not see its events.
    const last = listIntegers(
      units.map(({ head, events }) => (events.length === 0 ? -1 : head + events.length - 1)),
    )
    const events = await runner.run<LastEvent>(findEvents, [runs, epochs, last])
    const fences = new Map(rows.map((row) => [row.run, row]))
    const landed = new Map(events.map(({ run, at }) => [run, at]))
    return units.map((unit) =>
      assess(unit, fences.get(unit.run), landed.get(unit.run), database.hasFailedOver),
    )
  }

  return async (runner, worker, units) => {
    for (let attempts = 0; ; attempts++) {
      try {
        return await reclaimOnce(runner, worker, units, attempts)
      } catch (error) {
        // Retries without a limit: until the outcome is known, these runs must not proceed.
        if (database.isClosed || classify(error) === 'final') throw error
        await database.pause(attempts)
      }
    }
  }
}

interface RunFence {
  readonly run: number
  readonly epoch: number
  readonly head: number
  readonly mail: number
  readonly worker: number | null
  readonly at: number
  /** Owned by the worker as far as it knows, but the log's length matches neither before nor after the unit. */
  readonly misfit: boolean
  /** Its epoch was raised by this call, so the worker owns it. */
  readonly reclaimed: boolean
}
interface LastEvent {
  readonly run: number
  readonly at: number
}

/** `landedAt`: the time of the unit's last event, if it is in the log under the unit's epoch. */
function assess(
  unit: Unit,
  row: RunFence | undefined,
  landedAt: number | undefined,
  hasFailedOver: boolean,
): UnitOutcome {
  if (!row) return { outcome: 'fenced' }
  const { epoch, mail } = row
  if (row.misfit) return { outcome: 'conflict' }
  if (hasFailedOver && (epoch < unit.epoch || row.head < unit.head)) return { outcome: 'conflict' }
  if (landedAt !== undefined) {
    // No longer owned: released, or claimed by another worker after the commit. In both cases nothing is kept.
    const parked = !row.reclaimed && unit.next.do === 'park'
    return { outcome: 'ok', at: landedAt, epoch: row.reclaimed ? epoch : unit.epoch, mail, parked }
  }
  if (row.reclaimed) return row.head === unit.head ? { outcome: 'lost', epoch } : { outcome: 'conflict' }
  // A unit without events leaves no trace except the released run.
  const isLetGo = unit.events.length === 0 && row.worker === null && epoch === unit.epoch
  return isLetGo
    ? { outcome: 'ok', at: row.at, epoch, mail, parked: unit.next.do === 'park' }
    : { outcome: 'fenced' }
}

function writeStatements({ runs, events }: Names): Record<'reclaim' | 'findEvents', Statement> {
  return {
    reclaim: new Statement(`
      with unit as materialized (select * from unnest($2::bigint[], $3::int[], $5::int[], $6::int[]) as u(run, epoch, head, count)),
      locked as materialized (
        select run, epoch, head, mail, worker, state from ${runs}
        where run = any($2::bigint[]) order by run for no key update),
      mine as materialized (
        select l.run, u.epoch + $4::int + 1 as next_epoch, l.head in (u.head, u.head + u.count) as fits from locked l join unit u on u.run = l.run
        where l.worker = $1 and l.state = 0 and l.epoch between u.epoch and u.epoch + $4),
      -- A mismatch is stopped by its owner, which recognizes it by its epoch.
      raised as (
        update ${runs} r set epoch = m.next_epoch from mine m where r.run = m.run and m.fits returning r.run, r.epoch)
      select l.run, coalesce(r.epoch, l.epoch) as epoch, l.head, l.mail, l.worker, ${storeTime} as at,
        coalesce(not m.fits, false) as misfit, r.run is not null as reclaimed
      from locked l left join mine m on m.run = l.run left join raised r on r.run = l.run`),
    findEvents: new Statement(`
      select e.run, e.at from unnest($1::bigint[], $2::int[], $3::int[]) as u(run, epoch, seq)
      join ${events} e on e.run = u.run and e.seq = u.seq and e.epoch = u.epoch`),
  }
}
