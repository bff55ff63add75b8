import type { Backlog } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type ReadBacklog = (at: number) => readonly Backlog[]

const maxCounted = 1_000

/** Skips from version to version along the index of due runs, so that it never scans the runs of one version. */
export function prepareReadBacklog(database: Database): ReadBacklog {
  const unowned = 'from runs where worker is null and wake_at is not null'
  const findProcedure = database
    .prepare<[string], string>(`select procedure ${unowned} and procedure > ? order by procedure limit 1`)
    .pluck()
  const findUnversioned = database
    .prepare<[string], null>(`select version ${unowned} and procedure = ? and version is null limit 1`)
    .pluck()
  const findVersion = database
    .prepare<[string, number], number>(
      `select version ${unowned} and procedure = ? and version > ? order by version limit 1`,
    )
    .pluck()
  const ofKind = `${unowned} and procedure = ? and version is ? and wake_at <= ?`
  const findOldest = database
    .prepare<[string, number | null, number], string>(`select id ${ofKind} order by wake_at, run limit 1`)
    .pluck()
  const count = database
    .prepare<[string, number | null, number], number>(
      `select count(*) from (select 1 ${ofKind} limit ${maxCounted}) as page`,
    )
    .pluck()

  function* listKinds(): Generator<readonly [procedure: string, version: number | null]> {
    for (let name = findProcedure.get(''); name !== undefined; name = findProcedure.get(name)) {
      if (findUnversioned.get(name) === null) yield [name, null]
      const first = Number.MIN_SAFE_INTEGER
      for (
        let version = findVersion.get(name, first);
        version !== undefined;
        version = findVersion.get(name, version)
      )
        yield [name, version]
    }
  }

  return (at) =>
    [...listKinds()].flatMap(([procedure, version]) => {
      const oldest = findOldest.get(procedure, version, at)
      if (oldest === undefined) return []
      return { procedure, version, oldest, count: count.get(procedure, version, at) ?? 0 }
    })
}
