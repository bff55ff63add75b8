import type { Ask, ExecutionLog } from '@pawl/core'
import type { Ending } from '../../../shared/src/child.ts'
import { bookFile } from '../book.ts'
import { type DiaryEntry, readDiary } from '../diary.ts'
import { type OrderBook, readOrderBook } from '../orders.ts'
import { type Payment, payments } from '../payments.ts'
import type { Stage } from './stage.ts'

/** What a person agreed to. */
export interface Consent {
  readonly order: string
  readonly amount: number
}

/** All the demo can find out about what happened, without asking the engine that did it. */
export interface Evidence {
  readonly book: OrderBook
  readonly log: ExecutionLog
  readonly payments: readonly Payment[]
  readonly diary: readonly DiaryEntry[]
  /** Every question of the run, whatever became of it. */
  readonly asks: readonly Ask[]
  /** The question as it stood before the worker that asked it was killed. */
  readonly askBefore: Ask
  /** Undefined if the person said no. */
  readonly consent: Consent | undefined
  /** How the workers that were to be killed ended. */
  readonly kills: readonly Ending[]
}

export async function gatherEvidence(
  { client, run }: Pick<Stage, 'client' | 'run'>,
  seen: Pick<Evidence, 'askBefore' | 'consent' | 'kills'>,
): Promise<Evidence> {
  const statuses = ['open', 'answered', 'timed-out', 'withdrawn'] as const
  const pages = await Promise.all(statuses.map((status) => client.inbox.list({ run: run.id, status })))
  return {
    ...seen,
    book: await readOrderBook(bookFile),
    log: await client.log(run.id),
    payments: await payments.list(),
    diary: await readDiary(),
    asks: pages.flatMap(({ items }) => items),
  }
}
