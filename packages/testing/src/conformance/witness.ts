import type {
  Claimed,
  LastPart,
  LogEvent,
  NewAnswer,
  NewCancel,
  NewGeneration,
  NewMessage,
  NewRun,
  OutgoingMessage,
  RunKey,
  RunQuery,
  StorePort,
  Unit,
  UnitOutcome,
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

/** Wraps a connection and records everything it acknowledges. */
export function witness(port: StorePort, promised: Promised): StorePort {
  const noteClaim = (claimed: Claimed | null): void => {
    if (claimed) promised.claims.push(claimed)
  }
  const copied = new Map<string, LogEvent[]>()
  const noted: Partial<StorePort> = {
    async install(copy, seq, events, last) {
      const installed = await port.install(copy, seq, events, last)
      const before = (copied.get(copy.token) ?? []).filter((event) => event.seq < seq)
      const all = [...before, ...events]
      copied.set(copy.token, all)
      if (last !== null && installed.outcome === 'installed')
        promised.installed.push({ run: installed.run, events: all, last })
      return installed
    },
    async dropGeneration(run, before, limit) {
      const count = await port.dropGeneration(run, before, limit)
      promised.dropped.set(run, (promised.dropped.get(run) ?? 0) + count)
      return count
    },
    async create(runs) {
      const created = await port.create(runs)
      for (const [index, { outcome, run }] of created.entries()) {
        if (outcome === 'created') promised.runs.set(run, runs[index] as NewRun)
      }
      return created
    },
    async remove(runs) {
      const ids = new Map((await port.runs(everything)).map(({ run, id }) => [run, id]))
      const removed = await port.remove(runs)
      for (const [index, outcome] of removed.entries())
        if (outcome === 'removed') forget(promised, runs[index] as RunKey, ids.get(runs[index] as RunKey))
      return removed
    },
    async removeQuarantined(removal) {
      const id = (await port.runs(everything)).find(({ run }) => run === removal.run)?.id
      const removed = await port.removeQuarantined(removal)
      if (removed !== 'removed') return removed
      forget(promised, removal.run, id)
      promised.farewells.push(...removal.messages)
      return removed
    },
    async commit(worker, units) {
      // A copy, because the caller may reuse its buffers.
      const given = structuredClone(units)
      const outcomes = await port.commit(worker, units)
      for (const [index, outcome] of outcomes.entries()) noteUnit(promised, given[index] as Unit, outcome)
      return outcomes
    },
    async send(messages, claimant) {
      const sent = await port.send(messages, claimant)
      for (const [index, one] of sent.entries()) {
        if (one.outcome === 'stored') promised.messages.push(messages[index] as NewMessage)
        if ('claimed' in one) noteClaim(one.claimed)
      }
      return sent
    },
    async holdMail(worker, run, epoch, forMs) {
      const mail = await port.holdMail(worker, run, epoch, forMs)
      if (mail !== null) promised.held.set(run, epoch)
      return mail
    },
    async answer(answers, claimant) {
      const answered = await port.answer(answers, claimant)
      for (const [index, one] of answered.entries()) {
        if (one.outcome !== 'answered') continue
        promised.answers.push(answers[index] as NewAnswer)
        noteClaim(one.claimed)
      }
      return answered
    },
    async cancel(request, claimant) {
      const outcome = await port.cancel(request, claimant)
      if (outcome.outcome === 'stored') promised.cancels.push(request)
      if ('claimed' in outcome) noteClaim(outcome.claimed)
      return outcome
    },
    async restart(generations) {
      const isLive = await port.restart(generations)
      if (isLive) promised.restarts.push(...generations)
      return isLive
    },
    async claim(claimant, limit) {
      const claims = await port.claim(claimant, limit)
      claims.runs.forEach(noteClaim)
      return claims
    },
    async take(claimant, runs) {
      const taken = await port.take(claimant, runs)
      taken.forEach(noteClaim)
      return taken
    },
    async takeCancelled(worker, runs) {
      const taken = await port.takeCancelled(worker, runs)
      taken.forEach(noteClaim)
      return taken
    },
  }
  return new Proxy(port, {
    get(target, name) {
      const method = Reflect.get(noted, name) ?? Reflect.get(target, name)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
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
