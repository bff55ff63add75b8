import { feedCode, type Mark, markCode, type RunKey, type StorePort } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import { type Names, storeTime } from '../names.ts'

export type MarkRun = StorePort['runs']['mark']

export function prepareMark(database: Database, ownership: Ownership): MarkRun {
  const { mark: write, find } = writeStatements(database.names)
  return async (worker, run, epoch, mark, reason, cause, seen, wakeAt) => {
    const code = markCode.numberOf[mark]
    const upTo = mark === 'stuck' ? (seen ?? null) : null
    const isMarked = await database.repeat(async (isRepeated) => {
      const owner = [run, epoch, worker]
      const why = [code, asBuffer(reason), database.hasFailedOver, cause ?? null]
      const values = [...owner, ...why, upTo, wakeAt ?? null]
      const rows = await database.run(write, values)
      if (rows.length > 0 || !isRepeated) return rows.length > 0
      // Only a mark raises the epoch of an unowned run, so an attempt with a lost reply made it.
      return (await database.run(find, [run, epoch + 1, code])).length > 0
    })
    ownership.remove(worker, run, epoch)
    return isMarked
  }
}

/** Sets a marked run due, without its mark if it is quarantined. */
export type RetryRun = (run: RunKey, mark: Exclude<Mark, 'none'>) => Promise<boolean>

export function prepareRetry(database: Database): RetryRun {
  const { retry } = writeStatements(database.names)
  return async (run, mark) => {
    const values = [run, markCode.numberOf[mark], mark === 'quarantined']
    // If repeated after a lost reply, a release finds no mark and returns false; the caller reads the run again.
    return (await database.repeat(() => database.run(retry, values))).length > 0
  }
}

function writeStatements({ runs, runInfo, news }: Names): Record<'mark' | 'find' | 'retry', Statement> {
  return {
    mark: new Statement(`
      with marked as (
        update ${runs} set mark = $4, worker = null, epoch = $2 + 1,
          wake_at = case when mail > $8::int then ${storeTime} else $9::bigint end
        where run = $1 and state = 0
          -- Or it was ours in a history that this server has lost: the worker that notices may stop it.
          and ((epoch = $2 and worker = $3) or ($6 and epoch < $2))
        returning run),
      told as (
        insert into ${news} (run, at, kind)
        select run, ${storeTime}, case $4 when ${markCode.numberOf.stuck} then ${feedCode.numberOf['run-stuck']} else ${feedCode.numberOf['run-quarantined']} end
        from marked)
      update ${runInfo} f set reason = $5, cause = $7 from marked m where f.run = m.run returning f.run`),
    find: new Statement(
      `select from ${runs} where run = $1 and epoch = $2 and mark = $3 and worker is null for no key update`,
    ),
    retry: new Statement(`
      update ${runs} set wake_at = least(wake_at, ${storeTime}), mark = case when $3 then 0 else mark end,
        tries = case when $3 then 0 else tries end
      where run = $1 and mark = $2 and state = 0 and worker is null returning run`),
  }
}
