import {
  type Claimant,
  type Claimed,
  type ClaimedRow,
  type Damaged,
  maxPositives,
  type RunKey,
  showClaimed,
  suspectTries,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listIntegers, listTexts } from '../connection/fast-path/lists.ts'
import type { Statement } from '../connection/fast-path/statement.ts'
import type { Value } from '../connection/fast-path/values.ts'
import type { NoteOwned, Ownership } from '../connection/ownership.ts'
import { classify, describe } from '../faults.ts'
import type { Names } from '../names.ts'
import { divide } from './batches.ts'
import { chooseVersion, isTaken, listAbilities } from './claim.ts'

// The common part of sending and answering. One statement locks rows, inserts messages, and makes the run due or
// claims it.

/** SQL: the target runs, locked in order, each in its newest row version. */
export function lockRuns({ runs }: Names, ids: string): string {
  return `
    seen as materialized (select run, head, mail from ${runs} where id = any(${ids}::text[])),
    locked as materialized (
      select run, id, head, mail, worker, state, mark, tries, positives, wake_at, procedure, version from ${runs}
      where id = any(${ids}::text[]) order by run for no key update)`
}

/**
 * SQL: whether the statement began before the last change of the run. Then it cannot see asks and messages added
 * since, and must run again.
 */
export const isStale = '(s.run is null or s.head <> l.head or s.mail <> l.mail)'

/** Parameters of `wakeRuns`, from `$first` on: worker, procedures, versions, excluded runs, maximum positive tests of a suspect. */
export function bindClaimant(claimant: Claimant | null, ownership: Ownership): readonly Value[] {
  const [procedures, versions] = claimant ? listAbilities(claimant) : [listTexts([]), listIntegers([])]
  const busy = listBigints(ownership.busy())
  return [claimant?.worker ?? null, procedures, versions, busy, maxPositives(claimant ?? {})]
}

/**
 * SQL: wakes runs, or claims them for the claimant. `bumped (run, mail)` contains the new mail counters, `touched
 * (run)` the runs with a message.
 */
export function wakeRuns({ runs, workers }: Names, first: number, isCancel = false): string {
  const isWoken = isCancel ? 'b.mail is not null' : 'b.mail is not null and l.mark = 0'
  const noted = isCancel ? ', cancel_at = case when b.mail is null then r.cancel_at else now end' : ''
  return `
    claimable as (
      select l.run, ${chooseVersion('l', `$${first + 1}`, `$${first + 2}`)} as chosen
      from locked l join touched t on t.run = l.run left join bumped b on b.run = l.run cross join clock
      where l.worker is null and l.state = 0 and (l.wake_at <= now or (${isWoken}))
        and l.run <> all($${first + 3}::bigint[]) and ${isTaken('l', `$${first + 4}`)}
        and exists (select from ${workers} w where w.worker = $${first}::bigint and not w.dead)),
    woken as (
      update ${runs} r
      set mail = coalesce(b.mail, r.mail),
          worker = case when c.chosen is null then r.worker else $${first} end,
          version = coalesce(c.chosen, r.version),
          epoch = case when c.chosen is null then r.epoch else r.epoch + 1 end,
          tested = case when c.chosen is null then r.tested else r.tries >= ${suspectTries} end,
          wake_at = case when c.chosen is not null then null
                         when ${isWoken} and l.worker is null then least(l.wake_at, now)
                         else l.wake_at end${noted}
      from locked l left join bumped b on b.run = l.run left join claimable c on c.run = l.run cross join clock
      where r.run = l.run and (b.mail is not null or c.chosen is not null)
      returning r.run, r.id, r.procedure, r.version, r.epoch, r.head, r.base, r.mail, r.tries, r.positives,
        r.alone, r.mark, r.link,
        c.chosen is not null as claimed)`
}

/** SQL: the columns of `woken` for a claimed run. */
export const claimedColumns =
  'w.id, w.procedure, w.version, w.epoch, w.head, w.base, w.mail, w.tries, w.positives, w.alone, w.mark, w.link, coalesce(w.claimed, false) as claimed'

export type DeliveredRow = ClaimedRow & { readonly claimed: boolean }

/** The delivery of one kind of message. */
interface Delivery<Item, Row, Outcome> {
  /** Size of a message in bytes. */
  readonly sizeOf: (message: Item) => number
  readonly run: (messages: readonly Item[]) => Promise<readonly Row[]>
  /** Undefined: the statement's snapshot was too old for it. */
  readonly show: (message: Item, row: Row) => Outcome | undefined | Promise<Outcome | undefined>
}

/**
 * Runs the statement for all messages, and again for messages its snapshot was too old for, until each has an
 * outcome, in order. If the rows of a run refuse its message, nothing of the statement is written. Its messages are
 * then sent in halves until the refused one is alone.
 */
export async function deliver<Item, Row extends { readonly i: number }, Outcome>(
  messages: readonly Item[],
  { sizeOf, run, show }: Delivery<Item, Row, Outcome>,
): Promise<readonly (Outcome | Damaged)[]> {
  const outcomes: (Outcome | Damaged)[] = []
  type Placed = { readonly message: Item; readonly place: number }

  /** Returns the messages that must be sent again. */
  async function note(sent: readonly Placed[], rows: readonly Row[]): Promise<readonly Placed[]> {
    const again: Placed[] = []
    for (const row of rows) {
      const item = sent[row.i - 1]
      if (!item) continue
      const outcome = await show(item.message, row)
      if (outcome === undefined) again.push(item)
      else outcomes[item.place] = outcome
    }
    return again
  }

  async function send(batch: readonly Placed[]): Promise<void> {
    for (let left = batch; left.length > 0; ) {
      let rows: readonly Row[]
      try {
        rows = await run(left.map(({ message }) => message))
      } catch (error) {
        if (classify(error) !== 'data') throw error
        const [first] = left
        if (left.length > 1) for (const half of halve(left)) await send(half)
        else if (first) outcomes[first.place] = refusal(error)
        return
      }
      left = await note(left, rows)
    }
  }

  const items = messages.map((message, place) => ({ message, place }))
  for (const batch of divide(items, ({ message }) => sizeOf(message))) await send(batch)
  return outcomes
}

/** The delivery of one kind of message, by two statements whose last parameters are those of `bindClaimant`. */
interface DeliveryByStatements<Item, Row, Outcome> {
  readonly sizeOf: (message: Item) => number
  /** For one message that nothing is in the way of, at half the cost. It writes nothing and returns no row if something is. */
  readonly single: {
    readonly statement: Statement
    readonly bind: (message: Item) => readonly Value[]
    /** Whether it may be tried. Default: always. */
    readonly isFor?: (message: Item) => boolean
  }
  readonly many: {
    readonly statement: Statement
    readonly bind: (messages: readonly Item[]) => readonly Value[]
  }
  /** Undefined: the statement's snapshot was too old for it. */
  readonly show: (
    message: Item,
    row: Row,
    handover: ClaimHandover,
  ) => Outcome | undefined | Promise<Outcome | undefined>
}

/** Delivers messages, and hands the runs that they wake to the claimant. */
export function deliverByStatements<Item, Row extends DeliveredRow & { readonly i: number }, Outcome>(
  database: Database,
  ownership: Ownership,
  claimant: Claimant | null,
  messages: readonly Item[],
  { sizeOf, single, many, show }: DeliveryByStatements<Item, Row, Outcome>,
): Promise<readonly (Outcome | Damaged)[]> {
  const write = ({ statement }: { readonly statement: Statement }, values: readonly Value[]) =>
    database.run<Row>(statement, [...values, ...bindClaimant(claimant, ownership)])
  const run = async (left: readonly Item[], isRepeated: boolean): Promise<readonly Row[]> => {
    const [message] = left
    if (message !== undefined && left.length === 1 && !isRepeated && single.isFor?.(message) !== false) {
      const rows = await write(single, single.bind(message))
      if (rows.length > 0) return rows
      // The larger statement returns the reason.
    }
    return write(many, many.bind(left))
  }
  return ownership.during(async (noteOwned) => {
    const handover = new ClaimHandover(claimant, noteOwned)
    const outcomes = await deliver(messages, {
      sizeOf,
      run: (left) => database.repeat((isRepeated) => run(left, isRepeated)),
      show: (message, row: Row) => show(message, row, handover),
    })
    database.plans.noteRows(outcomes.length)
    return outcomes
  })
}

function halve<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const middle = items.length >> 1
  return [items.slice(0, middle), items.slice(middle)]
}

function refusal(error: unknown): Damaged {
  return { outcome: 'damaged', why: `the database does not take its message: ${describe(error)}` }
}

/** Assigns each claimed run to the first message for it. */
export class ClaimHandover {
  readonly #claimant: Claimant | null
  readonly #noteOwned: NoteOwned
  readonly #given = new Set<RunKey>()

  constructor(claimant: Claimant | null, noteOwned: NoteOwned) {
    this.#claimant = claimant
    this.#noteOwned = noteOwned
  }

  give(row: DeliveredRow): Claimed | null {
    if (!row.claimed || !this.#claimant || this.#given.has(row.run)) return null
    this.#given.add(row.run)
    this.#noteOwned(this.#claimant.worker, row.run, row.epoch)
    return showClaimed(row)
  }
}
