import { type Mark, markCode, type RunKey, type WorkerKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import type { Names } from '../names.ts'

export type MarkRun = (
  worker: WorkerKey,
  run: RunKey,
  epoch: number,
  mark: Exclude<Mark, 'none'>,
  reason: Uint8Array,
) => Promise<boolean>

export function prepareMark(database: Database, ownership: Ownership): MarkRun {
  const { mark: write, find } = writeStatements(database.names)
  return async (worker, run, epoch, mark, reason) => {
    const code = markCode.numberOf[mark]
    const isMarked = await database.repeat(async (isRepeated) => {
      const values = [run, epoch, worker, code, asBuffer(reason), database.hasFailedOver]
      const rows = await database.run(write, values)
      if (rows.length > 0 || !isRepeated) return rows.length > 0
      // Only a mark raises the epoch of a run that stays unowned: an attempt that was not heard of made it.
      return (await database.run(find, [run, epoch + 1, code])).length > 0
    })
    ownership.remove(worker, run, epoch)
    return isMarked
  }
}

function writeStatements({ runs, runInfo }: Names): Record<'mark' | 'find', Statement> {
  return {
    mark: new Statement(`
      with marked as (
        update ${runs} set mark = $4, worker = null, wake_at = null, epoch = $2 + 1
        where run = $1 and state = 0
          -- Or it was ours in a history that the server at hand has lost: whoever finds that out may stop it.
          and ((epoch = $2 and worker = $3) or ($6 and epoch < $2))
        returning run)
      update ${runInfo} f set reason = $5 from marked m where f.run = m.run returning f.run`),
    find: new Statement(
      `select from ${runs} where run = $1 and epoch = $2 and mark = $3 and worker is null for no key update`,
    ),
  }
}
