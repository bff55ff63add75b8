import {
  type Answered,
  type EndState,
  type Message,
  messageKindCode,
  type NewAnswer,
  type NewMessage,
  type RunKey,
  type Sent,
  stateCode,
} from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'
import { prepareReads } from '../reads/reads.ts'
import { prepareAsks } from './asks.ts'

export interface MailWrites {
  send(message: NewMessage, at: number): Sent
  answer(answer: NewAnswer, at: number): Answered
}

export function prepareMail(database: Database): MailWrites {
  const findRun = database.prepare<[string], { run: RunKey; state: number }>(
    'select run, state from runs where id = ?',
  )
  const findMessage = database.prepare('select 1 from messages where run = ? and key = ?')
  const findAsk = database
    .prepare<[RunKey, string], number>('select position from asks where run = ? and key = ?')
    .pluck()
  const wake = database.prepare(
    `update runs set mail = mail + 1,
       wake_at = iif(worker is null and mark = 0, min(coalesce(wake_at, ?), ?), wake_at) where run = ?`,
  )
  const insert = database
    .prepare<unknown[], number>(
      `insert into messages (run, n, at, kind, used, name, key, payload)
       select ?, mail, ?, ?, 0, ?, ?, ? from runs where run = ? returning n`,
    )
    .pluck()
  const asks = prepareAsks(database)
  const { readAsk } = prepareReads(database)

  /** The message, with its number, and what it does to the run, which is live. */
  function leave(
    run: RunKey,
    kind: Message['kind'],
    name: string,
    key: string | null,
    payload: Uint8Array | null,
    at: number,
  ): Message {
    wake.run(at, at, run)
    const n = insert.get(run, at, messageKindCode.numberOf[kind], name, key, payload, run) as number
    return { n, at, kind, name, payload }
  }

  return {
    send({ run: id, kind, name, key, payload }, at) {
      const found = findRun.get(id)
      if (!found) return { outcome: 'missing' }
      const { run, state } = found
      // Sent again it is acknowledged again, whatever has become of the run.
      if (key !== null && findMessage.get(run, key))
        return { outcome: 'duplicate', run, message: null, claimed: null }
      const position = kind === 'early' ? findAsk.get(run, name) : undefined
      if (position !== undefined) return { outcome: 'asked', position }
      if (state !== 0) return { outcome: 'ended', state: stateCode.wordOf(state) as EndState }
      const message = leave(run, kind, name, key, payload, at)
      return { outcome: 'stored', run, message, claimed: null }
    },
    answer({ run: id, position, by, payload }, at) {
      const found = findRun.get(id)
      if (!found) return { outcome: 'missing' }
      const { run, state } = found
      if (state === 0 && asks.answer(run, position, by, payload, at)) {
        const message = leave(run, 'answer', String(position), null, payload, at)
        return { outcome: 'answered', run, message, claimed: null }
      }
      const ask = readAsk(id, position)
      return ask ? { outcome: 'closed', ask } : { outcome: 'missing' }
    },
  }
}
