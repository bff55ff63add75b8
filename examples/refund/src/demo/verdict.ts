import { count } from '../../../shared/src/tell.ts'
import { approvalAbove } from '../refund.ts'
import type { Evidence } from './evidence.ts'

/** One promise of the engine, and what contradicts it. */
export interface Finding {
  readonly promise: string
  /** Empty if the promise was kept. */
  readonly faults: readonly string[]
}

/** Checks what happened against the order book, the answer that was given, and nothing else. */
export function judge(evidence: Evidence): readonly Finding[] {
  const { payments, diary, log } = evidence
  return [
    { promise: 'two workers were killed by SIGKILL', faults: findSurvivors(evidence) },
    {
      promise: `${count(payments.length, 'payment')}, each made once and of the right amount`,
      faults: findWrongPayments(evidence),
    },
    {
      promise: `${count(diary.length, 'step body', 'step bodies')} ran, one for each step in the log`,
      faults: findWrongRuns(evidence),
    },
    { promise: 'the question was asked once', faults: findWrongAsks(evidence) },
    {
      promise: `all ${log.execution_log.length} operations of the log have a result`,
      faults: findGaps(evidence),
    },
  ]
}

function findSurvivors({ kills }: Evidence): string[] {
  const others = kills.filter(({ signal }) => signal !== 'SIGKILL')
  const faults = others.map(({ code, signal }) => `a worker ended with ${signal ?? `exit code ${code}`}`)
  return kills.length === 2 ? faults : [...faults, `there were ${kills.length} kills`]
}

function findWrongPayments({ book, payments, consent }: Evidence): string[] {
  const small = book.orders.filter(({ amount }) => amount <= approvalAbove)
  const due = new Map(small.map(({ id, amount }) => [id, amount]))
  if (consent !== undefined) due.set(consent.order, consent.amount)

  const unexpected = payments
    .filter(({ order }) => !due.has(order))
    .map(({ order }) => `${order} was paid, and should not be`)
  const wrong = [...due].flatMap(([order, amount]) => {
    const made = payments.filter((payment) => payment.order === order)
    if (made.length !== 1) return [`${order} was paid ${made.length} times`]
    return made[0]?.amount === amount
      ? []
      : [`${order} was paid ${made[0]?.amount} EUR in place of ${amount} EUR`]
  })
  const keys = new Set(payments.map(({ key }) => key))
  const repeated =
    keys.size === payments.length ? [] : [`${payments.length - keys.size} idempotency keys were used again`]
  return [...unexpected, ...wrong, ...repeated]
}

function findWrongRuns({ log, diary }: Evidence): string[] {
  const steps = log.execution_log.filter(({ type }) => type === 'step').map(({ name }) => name)
  const names = new Set([...steps, ...diary.map(({ ran }) => ran)])
  return [...names].flatMap((name) => {
    const recorded = steps.filter((step) => step === name).length
    const ran = diary.filter((entry) => entry.ran === name).length
    return recorded === 1 && ran === 1 ? [] : [`"${name}" is recorded ${recorded} times and ran ${ran} times`]
  })
}

function findWrongAsks({ log, asks, askBefore }: Evidence): string[] {
  const recorded = log.execution_log.filter(({ type }) => type === 'hitl_approval').length
  const faults =
    recorded === 1 && asks.length === 1
      ? []
      : [`${recorded} questions are recorded, ${asks.length} are in the inbox`]
  const same = asks.some(
    ({ id, askedAt }) => id === askBefore.id && askedAt.getTime() === askBefore.askedAt.getTime(),
  )
  return same ? faults : [...faults, 'it is not the question that was asked before the kill']
}

function findGaps({ log }: Evidence): string[] {
  const entries = log.execution_log
  const gaps = entries
    .filter(({ position }, index) => position !== index)
    .map(({ position }) => `nothing is recorded before position ${position}`)
  const open = entries
    .filter(({ status }) => status !== 'done')
    .map(({ name, status }) => `"${name}" is ${status}`)
  const counted =
    log.replay_index === entries.length
      ? []
      : [`${log.replay_index} of ${entries.length} entries have a result`]
  return [...gaps.slice(0, 1), ...open, ...counted]
}
