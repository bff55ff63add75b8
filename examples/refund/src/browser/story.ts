import type { Client, RunHandle } from '@pawl/core'
import { ref } from '@pawl/core'
import { bookFile } from '../book.ts'
import type { correctLine } from '../correction.ts'
import type { Entry } from '../demo/entry.ts'
import { readDiary } from '../diary.ts'
import type { sendLetter } from '../letter.ts'
import { readOrderBook } from '../orders.ts'
import { type Payment, payments } from '../payments.ts'
import { approvalAbove, type refundOrders } from '../refund.ts'
import { nextTask, type Task } from './tasks.ts'
import { WorkerProcess, type WorkerState } from './worker-process.ts'

/** What the strip above the inbox shows. */
export interface DemoState {
  readonly worker: { readonly number: number; readonly pid: number; readonly state: WorkerState }
  /** Operations of the refund that the present worker replayed, and steps that it completed; null before the first. */
  readonly progress: { readonly replayed: number; readonly ran: number } | null
  readonly paid: {
    readonly orders: number
    /** Small orders, which need no approval. */
    readonly of: number
    readonly euros: number
    /** Orders paid more than once. */
    readonly twice: number
  }
  readonly task: Task
}

/** The runs of the demo, the worker that executes them, and what has become of both. */
export class Story {
  readonly client: Client
  readonly worker: WorkerProcess
  /** The ids of its runs end with it. */
  readonly #id: string
  #begun: Promise<RunHandle<unknown>> | undefined
  #smallOrders = 0
  /** Operations with a result when the present worker started. */
  #recordedBefore = 0

  constructor(client: Client, id: string, report: (line: string) => void) {
    this.client = client
    this.#id = id
    this.worker = new WorkerProcess(report)
  }

  /** Starts the worker, and the two runs whose asks are there when the page is opened. */
  async open(): Promise<void> {
    const { orders, bad } = await readOrderBook(bookFile)
    this.#smallOrders = orders.filter(({ amount }) => amount <= approvalAbove).length
    const [line] = bad
    if (line === undefined) throw new Error('the order book has no invalid line')
    await this.client.run(ref<typeof correctLine>('correct-line'), line, { id: `correct-line:${this.#id}` })
    await this.client.run(ref<typeof sendLetter>('send-letter'), undefined, { id: `send-letter:${this.#id}` })
    await this.worker.start()
  }

  /** Starts the refund, once: with the first visit, so that the visitor sees it from its beginning. */
  begin(): Promise<RunHandle<unknown>> {
    this.#begun ??= this.client.run(
      ref<typeof refundOrders>('refund-orders'),
      { book: bookFile },
      { id: `refund-orders:${this.#id}` },
    )
    return this.#begun
  }

  async startWorker(): Promise<void> {
    this.#recordedBefore = (await this.recorded()).length
    await this.worker.start()
  }

  /** The operations of the refund that have a result. */
  async recorded(): Promise<readonly Entry[]> {
    const { execution_log } = await this.client.log((await this.begin()).id)
    return execution_log.filter(({ result }) => result !== null)
  }

  async look(): Promise<DemoState> {
    const run = await this.begin()
    const [diary, recorded, made, { items }, { endedAt }] = await Promise.all([
      readDiary(),
      this.recorded(),
      payments.list(),
      this.client.inbox.list({ status: 'open' }),
      run.status(),
    ])
    const { number, pid, state, kills } = this.worker
    const done = new Set(recorded.map(({ name }) => name))
    const ran = diary.filter((entry) => entry.pid === pid && done.has(entry.ran)).length
    const paid = countPayments(made, this.#smallOrders)
    return {
      worker: { number, pid, state },
      progress: ran === 0 ? null : { replayed: this.#recordedBefore, ran },
      paid,
      task: nextTask({
        ...{ run: run.id, kills: kills.length, hasEnded: endedAt !== undefined, workerState: state },
        isPaying: paid.orders < paid.of,
        ask: items.find((ask) => ask.run === run.id),
        others: items.filter((ask) => ask.run !== run.id),
      }),
    }
  }
}

/** A bank makes one payment per key, however often it is asked: a worker can die after it paid and before that was recorded. */
export function countPayments(made: readonly Payment[], of: number): DemoState['paid'] {
  const byKey = new Map(made.map((payment) => [payment.key, payment]))
  const orders = new Map<string, number>()
  for (const { order } of byKey.values()) orders.set(order, (orders.get(order) ?? 0) + 1)
  const cents = [...byKey.values()].reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
  return {
    ...{ orders: orders.size, of, euros: cents / 100 },
    twice: [...orders.values()].filter((times) => times > 1).length,
  }
}
