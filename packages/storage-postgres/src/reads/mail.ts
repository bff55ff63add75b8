import { type Message, messageKindCode, type RunKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { onePerRow } from '../schema/planner.ts'
import { batchLookups } from './batch-lookups.ts'
import { maxInlineBytes, prepareLongPayloads } from './long-payloads.ts'

export type ReadMail = (run: RunKey, after: number) => Promise<readonly Message[]>

/** Reads unused messages. Concurrent requests for several runs share one statement. */
export function prepareReadMail(database: Database): ReadMail {
  const { messages } = database.names
  const unread = new Statement(`
    select wanted.run, after, n, at, kind, name, by, size, payload
    from unnest($1::bigint[], $2::int[]) as wanted(run, after)
    cross join lateral (
      select n, at, kind, name, sent_by as by, length(payload) as size,
        case when length(payload) <= ${maxInlineBytes} then payload end as payload
      from ${messages} m where m.run = wanted.run and m.n > after and not used order by n ${onePerRow}) as message`)
  const readLong = prepareLongPayloads(database, messages, 'n')

  const find = batchLookups<Unread, Mail>({
    async find(wanted) {
      const values = [
        listBigints(wanted.map(({ run }) => run)),
        listIntegers(wanted.map(({ after }) => after)),
      ]
      const rows = await database.repeat(() => database.run<MessageRow>(unread, values))
      const mails = new Map<string, Mail & { readonly rows: MessageRow[] }>()
      for (const row of rows) {
        const mail = mails.get(nameOf(row)) ?? { run: row.run, after: row.after, rows: [] }
        mails.set(nameOf(row), mail)
        mail.rows.push(row)
      }
      return [...mails.values()]
    },
    nameOf,
    keyOf: (mail) => mail,
  })

  return async (run, after) => {
    const { rows } = (await find({ run, after })) ?? { rows: [] }
    return Promise.all(
      rows.map(async ({ n, at, kind, name, by, size, payload }) => ({
        ...{ n, at, kind: messageKindCode.wordOf(kind), name, by },
        payload: size !== null && size > maxInlineBytes ? await readLong({ run, number: n, size }) : payload,
      })),
    )
  }
}

export type ReadReply = (run: RunKey, key: string) => Promise<Uint8Array | null>

export function prepareReadReply(database: Database): ReadReply {
  const text = `select payload from ${database.names.messages} where run = $1 and key = $2 and used`
  return async (run, key) => {
    const [row] = await database.read<{ payload: Uint8Array | null }>(text, [run, key])
    return row?.payload ?? null
  }
}

/** Requests the messages of a run with numbers greater than `after`. */
interface Unread {
  readonly run: RunKey
  readonly after: number
}
interface Mail extends Unread {
  readonly rows: readonly MessageRow[]
}
interface MessageRow extends Unread {
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly name: string
  readonly by: string | null
  /** Length in bytes; null without a payload. */
  readonly size: number | null
  /** Also null if the payload is long. */
  readonly payload: Uint8Array | null
}

function nameOf({ run, after }: Unread): string {
  return `${run} ${after}`
}
