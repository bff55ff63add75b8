import {
  type CancelledRun,
  type Claimant,
  type Claimed,
  type ClaimedRow,
  type Claims,
  markCode,
  maxPositives,
  type RunKey,
  type Suspect,
  showClaimed,
  suspectTries,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Ownership } from '../connection/ownership.ts'
import { lateRequestMs } from '../connection/timeouts.ts'
import { type Names, storeTime } from '../names.ts'

/** The claimant's procedures and versions, as two lists of equal length. */
export function listAbilities({ procedures }: Claimant): readonly [procedures: Buffer, versions: Buffer] {
  const pairs = procedures.flatMap(({ name, versions }) => versions.map((version) => ({ name, version })))
  return [listTexts(pairs.map(({ name }) => name)), listIntegers(pairs.map(({ version }) => version))]
}

/** SQL: the version in which the claimant would execute a run: its highest if none is fixed, null if it has none. */
export function chooseVersion(run: string, procedures: string, versions: string): string {
  return `(select max(p.version) from unnest(${procedures}::text[], ${versions}::int[]) as p(procedure, version)
    where p.procedure = ${run}.procedure and p.version = coalesce(${run}.version, p.version))`
}

/** SQL: whether the claimant accepts the run: it is no suspect, or one with few enough positive tests. */
export function isTaken(run: string, max: string): string {
  return `(${run}.tries < ${suspectTries} or ${run}.positives <= ${max}::int)`
}

/** SQL: whether the claimed run is a suspect and thereby tested. */
const testsSuspect: string = `tested = r.tries >= ${suspectTries}`

export interface Claiming {
  claim(claimant: Claimant, limit: number): Promise<Claims>
  suspects(claimant: Claimant, limit: number): Promise<readonly Suspect[]>
  take(claimant: Claimant, runs: readonly RunKey[]): Promise<readonly Claimed[]>
  cancelled(ageMs: number, limit: number): Promise<readonly CancelledRun[]>
  takeCancelled(worker: number, runs: readonly RunKey[]): Promise<readonly Claimed[]>
  endTest(worker: number): Promise<void>
  retryStuck(claimant: Claimant): Promise<number>
  mailOf(worker: number): Promise<readonly { readonly run: RunKey; readonly mail: number }[]>
}

export function prepareClaiming(database: Database, ownership: Ownership): Claiming {
  const { claim, suspects, take, cancelled, takeCancelled, endTest, adopt, retryStuck, mailOf } =
    writeStatements(database.names)

  async function compare(worker: number): Promise<readonly OwnedRow[]> {
    const rows = await database.run<OwnedRow>(mailOf, [worker])
    ownership.compare(worker, rows)
    return rows
  }

  /** Runs that the worker owns without knowing it, because the reply was lost. */
  async function claimUnacknowledged({ worker }: Claimant, limit: number): Promise<readonly Claimed[]> {
    if (ownership.isInDoubt || database.msSinceUnheard < lateRequestMs) await compare(worker)
    const unacknowledged = ownership.unacknowledged(worker).slice(0, limit)
    if (unacknowledged.length === 0) return []
    const runs = listBigints(unacknowledged.map(({ run }) => run))
    const epochs = listIntegers(unacknowledged.map(({ epoch }) => epoch))
    return (await database.run<ClaimedRow>(adopt, [worker, runs, epochs])).map(showClaimed)
  }

  async function claimDue(claimant: Claimant, limit: number): Promise<Claims> {
    const [procedures, versions] = listAbilities(claimant)
    const busy = listBigints(ownership.busy())
    const values = [claimant.worker, limit, procedures, versions, busy, maxPositives(claimant)]
    const rows = await database.run<ClaimRow>(claim, values)
    const runs = rows.filter((row): row is ClaimRow & ClaimedRow => row.run !== null).map(showClaimed)
    const [first] = rows
    const leavesSuspects = first?.leaves_suspects ?? false
    return { runs, at: first?.at ?? 0, nextDueAt: first?.next_due_at ?? null, leavesSuspects }
  }

  return {
    claim: (claimant, limit) =>
      ownership.during(async (noteOwned) => {
        const unacknowledged = await claimUnacknowledged(claimant, limit)
        const due = await claimDue(claimant, limit - unacknowledged.length)
        const runs = [...unacknowledged, ...due.runs]
        for (const { run, epoch } of runs) {
          noteOwned(claimant.worker, run, epoch)
          database.plans.noteRun(run)
        }
        return { ...due, runs }
      }),
    suspects: (claimant, limit) =>
      database.repeat(() => database.run<Suspect>(suspects, [...listAbilities(claimant), limit])),
    take: (claimant, runs) =>
      ownership.during(async (noteOwned) => {
        const values = [claimant.worker, listBigints(runs), ...listAbilities(claimant)]
        const rows = await database.run<ClaimedRow>(take, [...values, listBigints(ownership.busy())])
        for (const { run, epoch } of rows) noteOwned(claimant.worker, run, epoch)
        return rows.map(showClaimed)
      }),
    cancelled: (ageMs, limit) => database.repeat(() => database.run<CancelledRun>(cancelled, [ageMs, limit])),
    takeCancelled: (worker, runs) =>
      ownership.during(async (noteOwned) => {
        const values = [worker, listBigints(runs), listBigints(ownership.busy())]
        const rows = await database.run<ClaimedRow>(takeCancelled, values)
        for (const { run, epoch } of rows) noteOwned(worker, run, epoch)
        return rows.map((row) => showClaimed({ ...row, version: row.version ?? 0 }))
      }),
    async endTest(worker) {
      await database.repeat(() => database.run(endTest, [worker]))
    },
    async retryStuck(claimant) {
      const rows = await database.run(retryStuck, listAbilities(claimant))
      return rows.length
    },
    async mailOf(worker) {
      return (await compare(worker)).map(({ run, mail }) => ({ run, mail }))
    },
  }
}

interface OwnedRow {
  readonly run: number
  readonly epoch: number
  readonly mail: number
}
type ClaimRow = { readonly [column in keyof ClaimedRow]: ClaimedRow[column] | null } & {
  readonly at: number
  readonly next_due_at: number | null
  readonly leaves_suspects: boolean
}

const claimedColumns =
  'r.run, r.id, r.procedure, r.version, r.epoch, r.head, r.base, r.mail, r.tries, r.positives, r.alone, r.mark, r.link'

type StatementName =
  | 'claim'
  | 'suspects'
  | 'take'
  | 'cancelled'
  | 'takeCancelled'
  | 'endTest'
  | 'adopt'
  | 'retryStuck'
  | 'mailOf'

function writeStatements({ runs, workers }: Names): Record<StatementName, Statement> {
  const isDue = `r.worker is null and r.wake_at <= (select now from clock)`
  // Written exactly as in the index, so that the index is used.
  const isOfKind = `r.procedure = a.procedure and coalesce(r.version, -1) = a.version`
  const isWanted = isTaken('r', '$6')
  // Contains the condition of the index of suspects.
  const isDueSuspect = `r.tries > ${suspectTries - 1} and ${isDue}`
  return {
    // Due runs are looked up first, for each kind of run, and only the rows that will be claimed are locked.
    // Concurrent claims skip them and take the next.
    claim: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      ability as materialized (
        select procedure, version, max(version) over (partition by procedure) as newest
        from unnest($3::text[], $4::int[]) as p(procedure, version)
        where exists (select from ${workers} where worker = $1 and not dead)),
      kind as materialized (
        select procedure, version, version as chosen from ability
        union select procedure, -1, newest from ability),
      peeked as (
        select a.procedure, a.version, a.chosen, d.wake_at
        from kind a cross join lateral (
          select r.wake_at from ${runs} r where ${isDue} and ${isOfKind} and ${isWanted} order by r.wake_at limit $2) d
        order by d.wake_at limit $2),
      share as (select procedure, version, chosen, count(*) as count from peeked group by 1, 2, 3),
      taken as materialized (
        select d.run, d.wake_at, a.chosen from share a cross join lateral (
          select r.run, r.wake_at from ${runs} r where ${isDue} and ${isOfKind} and ${isWanted} and r.run <> all($5::bigint[])
          order by r.wake_at limit a.count for no key update skip locked) d),
      claimed as (
        update ${runs} r set worker = $1, epoch = r.epoch + 1, wake_at = null, version = t.chosen, ${testsSuspect}
        from taken t where r.run = t.run
        returning ${claimedColumns}, t.wake_at as due_at),
      next as (
        select min(d.wake_at) as next_due_at from kind a cross join lateral (
          select r.wake_at from ${runs} r
          where r.worker is null and r.wake_at is not null and ${isOfKind} and ${isWanted}
            and r.run not in (select run from taken)
          order by r.wake_at limit 1) d),
      rest as (
        select exists (select from ${runs} r where ${isDueSuspect} and r.positives > $6) as leaves_suspects)
      select now as at, next_due_at, leaves_suspects, ${claimedColumns}
      from clock cross join next cross join rest left join claimed r on true order by r.due_at, r.run`),
    suspects: new Statement(`
      with clock as materialized (select ${storeTime} as now)
      select r.run, r.tries, r.positives, r.alone, r.wake_at as "dueAt" from ${runs} r
      where ${isDueSuspect} and ${chooseVersion('r', '$1', '$2')} is not null
      order by r.positives desc, r.wake_at, r.run limit $3`),
    take: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      taken as materialized (
        select r.run, r.wake_at, ${chooseVersion('r', '$3', '$4')} as chosen from ${runs} r
        where r.run = any($2::bigint[]) and ${isDue} and r.run <> all($5::bigint[])
          and exists (select from ${workers} where worker = $1 and not dead)
        order by r.run for no key update of r skip locked),
      claimed as (
        update ${runs} r set worker = $1, epoch = r.epoch + 1, wake_at = null, version = t.chosen, ${testsSuspect}
        from taken t where r.run = t.run and t.chosen is not null
        returning ${claimedColumns}, t.wake_at as due_at)
      select ${claimedColumns} from claimed r order by r.due_at, r.run`),
    cancelled: new Statement(`
      with clock as materialized (select ${storeTime} as now)
      select r.run, r.procedure, r.version from ${runs} r
      where r.cancel_at is not null and r.state = 0 and r.cancel_at <= (select now from clock) - $1::bigint and ${isDue}
      order by r.cancel_at, r.run limit $2`),
    takeCancelled: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      taken as materialized (
        select r.run, r.wake_at from ${runs} r
        where r.run = any($2::bigint[]) and r.cancel_at is not null and r.state = 0 and ${isDue}
          and r.run <> all($3::bigint[]) and exists (select from ${workers} where worker = $1 and not dead)
        order by r.run for no key update of r skip locked)
      update ${runs} r set worker = $1, epoch = r.epoch + 1, wake_at = null, ${testsSuspect}
      from taken t where r.run = t.run
      returning ${claimedColumns}`),
    endTest: new Statement(`update ${runs} r set tested = false where r.worker = $1 and r.tested`),
    adopt: new Statement(`
      with stray as materialized (
        select r.run from ${runs} r
        join unnest($2::bigint[], $3::int[]) as s(run, epoch) on s.run = r.run and s.epoch = r.epoch
        where r.worker = $1 and r.state = 0 order by r.run for no key update of r skip locked)
      update ${runs} r set epoch = r.epoch + 1 from stray s where r.run = s.run
      returning ${claimedColumns}`),
    retryStuck: new Statement(`
      with stuck as materialized (
        select r.run from ${runs} r
        where r.mark = ${markCode.numberOf.stuck} and r.state = 0 and r.worker is null
          and (r.wake_at is null or r.wake_at > ${storeTime})
          and ${chooseVersion('r', '$1', '$2')} is not null
        for no key update skip locked)
      update ${runs} r set wake_at = ${storeTime} from stuck s where r.run = s.run returning r.run`),
    mailOf: new Statement(`select run, epoch, mail from ${runs} where worker = $1`),
  }
}
