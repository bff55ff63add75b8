import type {
  Claimed,
  Effect,
  LastPart,
  LogEvent,
  NewAnswer,
  NewCancel,
  NewGeneration,
  NewMessage,
  NewRun,
  OptionalConcerns,
  OutgoingMessage,
  RunKey,
  RunQuery,
  StorePort,
  Unit,
  UnitOutcome,
  WholeStore,
} from '@pawl/core/storage'

/** Everything the store acknowledged, over all connections of a test. */
export interface Promised {
  readonly runs: Map<RunKey, NewRun>
  /** In the order of the replies. */
  readonly claims: Claimed[]
  readonly units: Unit[]
  readonly restarts: NewGeneration[]
  /** Mail counter with which each run was last parked. */
  readonly parkedWith: Map<RunKey, number>
  /** The runs that have held messages back, with the epoch of the last hold. */
  readonly held: Map<RunKey, number>
  readonly messages: NewMessage[]
  readonly cancels: NewCancel[]
  readonly answers: NewAnswer[]
  readonly installed: InstalledRun[]
  /** The number of events that were dropped at the beginning of a log. */
  readonly dropped: Map<RunKey, number>
  /** From removed runs to runs that wait for them: a run that cannot get one is passed over. */
  readonly farewells: OutgoingMessage[]
}

/** A copied log that the store has accepted whole. */
export interface InstalledRun {
  readonly run: RunKey
  readonly events: readonly LogEvent[]
  readonly last: LastPart
}

export function makePromised(): Promised {
  return {
    runs: new Map(),
    claims: [],
    units: [],
    restarts: [],
    parkedWith: new Map(),
    held: new Map(),
    messages: [],
    cancels: [],
    answers: [],
    installed: [],
    dropped: new Map(),
    farewells: [],
  }
}

/** Ends a test that the store cannot pass, with the reason. */
export type Skip = (reason: string) => never

/** Wraps a connection and records everything it acknowledges. A test that uses a concern that the store lacks is skipped. */
export function witness(port: StorePort, promised: Promised, skip: Skip): WholeStore {
  const concerns: Partial<OptionalConcerns> = port
  const need = <Name extends keyof OptionalConcerns>(name: Name): OptionalConcerns[Name] =>
    concerns[name] ?? skip(`The store lacks the optional concern \`${name}\`.`)
  const copied = new Map<string, LogEvent[]>()
  return {
    ...port,
    runs: witnessRuns(port, promised),
    log: witnessLog(port, promised, need),
    mail: witnessMail(port, promised),
    asks: witnessAsks(port, promised),
    claims: witnessClaims(port, promised),
    get copies() {
      return witnessCopies(need('copies'), copied, promised)
    },
    get removals() {
      return witnessRemovals(port, need('removals'), promised)
    },
    get checkpoints() {
      return need('checkpoints')
    },
    get notices() {
      return need('notices')
    },
    get suspects() {
      return need('suspects')
    },
  }
}

function witnessCopies(
  copies: WholeStore['copies'],
  copied: Map<string, LogEvent[]>,
  promised: Promised,
): WholeStore['copies'] {
  return {
    ...copies,
    async install(copy, seq, events, last) {
      const installed = await copies.install(copy, seq, events, last)
      const before = (copied.get(copy.token) ?? []).filter((event) => event.seq < seq)
      const all = [...before, ...events]
      copied.set(copy.token, all)
      if (last !== null && installed.outcome === 'installed')
        promised.installed.push({ run: installed.run, events: all, last })
      return installed
    },
  }
}

function witnessRemovals(
  { runs }: StorePort,
  removals: WholeStore['removals'],
  promised: Promised,
): WholeStore['removals'] {
  return {
    ...removals,
    async dropGeneration(run, before, limit) {
      const count = await removals.dropGeneration(run, before, limit)
      promised.dropped.set(run, (promised.dropped.get(run) ?? 0) + count)
      return count
    },
    async remove(keys) {
      const ids = new Map((await runs.list(everything)).map(({ run, id }) => [run, id]))
      const removed = await removals.remove(keys)
      for (const [index, outcome] of removed.entries())
        if (outcome === 'removed') forget(promised, keys[index] as RunKey, ids.get(keys[index] as RunKey))
      return removed
    },
    async removeQuarantined(removal) {
      const id = (await runs.list(everything)).find(({ run }) => run === removal.run)?.id
      const removed = await removals.removeQuarantined(removal)
      if (removed !== 'removed') return removed
      forget(promised, removal.run, id)
      promised.farewells.push(...removal.messages)
      return removed
    },
  }
}

function witnessRuns({ runs }: StorePort, promised: Promised): StorePort['runs'] {
  return {
    ...runs,
    async create(news) {
      const created = await runs.create(news)
      for (const [index, { outcome, run }] of created.entries()) {
        if (outcome === 'created') promised.runs.set(run, news[index] as NewRun)
      }
      return created
    },
    async restart(generations) {
      const isLive = await runs.restart(generations)
      if (isLive) promised.restarts.push(...generations)
      return isLive
    },
  }
}

/** The concerns without which no unit has such an effect. */
const concernOf: { readonly [Kind in Effect['do']]?: keyof OptionalConcerns } = {
  checkpoint: 'checkpoints',
  notify: 'notices',
}

function witnessLog(
  { log }: StorePort,
  promised: Promised,
  need: (concern: keyof OptionalConcerns) => unknown,
): StorePort['log'] {
  return {
    ...log,
    async commit(worker, units) {
      for (const { effects } of units)
        for (const { do: kind } of effects) {
          const concern = concernOf[kind]
          if (concern !== undefined) need(concern)
        }
      // A copy, because the caller may reuse its buffers.
      const given = structuredClone(units)
      const outcomes = await log.commit(worker, units)
      for (const [index, outcome] of outcomes.entries()) noteUnit(promised, given[index] as Unit, outcome)
      return outcomes
    },
  }
}

function witnessMail({ mail }: StorePort, promised: Promised): StorePort['mail'] {
  return {
    ...mail,
    async send(messages, claimant) {
      const sent = await mail.send(messages, claimant)
      for (const [index, one] of sent.entries()) {
        if (one.outcome === 'stored') promised.messages.push(messages[index] as NewMessage)
        if ('claimed' in one) noteClaim(promised, one.claimed)
      }
      return sent
    },
    async hold(worker, run, epoch, forMs) {
      const counter = await mail.hold(worker, run, epoch, forMs)
      if (counter !== null) promised.held.set(run, epoch)
      return counter
    },
    async cancel(request, claimant) {
      const outcome = await mail.cancel(request, claimant)
      if (outcome.outcome === 'stored') promised.cancels.push(request)
      if ('claimed' in outcome) noteClaim(promised, outcome.claimed)
      return outcome
    },
  }
}

function witnessAsks({ asks }: StorePort, promised: Promised): StorePort['asks'] {
  return {
    ...asks,
    async answer(answers, claimant) {
      const answered = await asks.answer(answers, claimant)
      for (const [index, one] of answered.entries()) {
        if (one.outcome !== 'answered') continue
        promised.answers.push(answers[index] as NewAnswer)
        noteClaim(promised, one.claimed)
      }
      return answered
    },
  }
}

function witnessClaims({ claims }: StorePort, promised: Promised): StorePort['claims'] {
  return {
    ...claims,
    async claim(claimant, limit) {
      const claimed = await claims.claim(claimant, limit)
      for (const one of claimed.runs) noteClaim(promised, one)
      return claimed
    },
    async take(claimant, runs) {
      const taken = await claims.take(claimant, runs)
      for (const one of taken) noteClaim(promised, one)
      return taken
    },
    async takeCancelled(worker, runs) {
      const taken = await claims.takeCancelled(worker, runs)
      for (const one of taken) noteClaim(promised, one)
      return taken
    },
  }
}

function noteClaim(promised: Promised, claimed: Claimed | null): void {
  if (claimed) promised.claims.push(claimed)
}

function noteUnit(promised: Promised, unit: Unit, outcome: UnitOutcome): void {
  if (outcome.outcome !== 'ok') return
  promised.units.push(unit)
  if (outcome.parked) promised.parkedWith.set(unit.run, unit.seen)
}

const everything: RunQuery = {
  ...{
    procedure: null,
    statuses: [],
    tag: null,
    parent: null,
    failedUndo: false,
    before: null,
    limit: 10_000,
  },
}

/** Of a removed run nothing has to be there. */
function forget(promised: Promised, run: RunKey, id: string | undefined): void {
  promised.runs.delete(run)
  const keepOf = <Item>(list: Item[], isKept: (item: Item) => boolean): void => {
    list.splice(0, list.length, ...list.filter(isKept))
  }
  keepOf(promised.units, (unit) => unit.run !== run)
  keepOf(promised.claims, (claimed) => claimed.run !== run)
  for (const list of [promised.messages, promised.cancels, promised.answers] as { run: string }[][])
    keepOf(list, (one) => one.run !== id)
}
