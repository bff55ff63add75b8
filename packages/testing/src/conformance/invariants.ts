import type { ChildRun, NewEvent, RunKey } from '@pawl/core/storage'
import type { Dump, DumpedRun } from './subject.ts'
import type { Promised } from './witness.ts'

/** Returns every contradiction between the dump and the invariants, or the store's acknowledgements. */
export function findFaults(dump: Dump, promised: Promised, now: number): string[] {
  return [
    ...dump.runs.flatMap((run) => findRunFaults(dump, promised, run, now)),
    ...findAskFaults(dump, promised),
    ...findCountFaults(dump, promised),
  ]
}

function findRunFaults(dump: Dump, promised: Promised, run: DumpedRun, now: number): string[] {
  const events = dump.events.filter((event) => event.run === run.run)
  const numbers = dump.messages.filter((message) => message.run === run.run).map(({ n }) => n)
  const claims = promised.claims.filter((claim) => claim.run === run.run)
  const isLive = run.state === 'live'
  const first = events[0]?.seq ?? 0
  const firstCopied = promised.installed.find((copy) => copy.run === run.run)?.events[0]?.seq ?? 0
  const isIdle = isLive && run.worker === null && run.mark === 'none'
  const parkedWith = promised.parkedWith.get(run.run)
  const faults: (string | false)[] = [
    events.some(({ seq }, index) => seq !== first + index) && 'its log has a gap or a seq twice',
    run.head !== first + events.length &&
      `head is ${run.head} and it has ${events.length} events from ${first} on`,
    run.base < first && `its present generation begins at ${run.base}, and its log at ${first}`,
    first > (promised.dropped.get(run.run) ?? firstCopied) && 'the beginning of its log is missing',
    run.mail !== Math.max(0, ...numbers) && `mail is ${run.mail} and its messages are ${numbers.join()}`,
    new Set(numbers).size !== numbers.length && `two messages have one number: ${numbers.join()}`,
    claims.some(({ epoch }) => epoch > run.epoch) && 'its epoch has fallen below one that was claimed',
    new Set(claims.map(({ epoch }) => epoch)).size !== claims.length && 'two claims got one epoch',
    events.some(({ epoch }, index) => epoch < (events[index - 1]?.epoch ?? 0)) && 'epochs fall along its log',
    run.worker !== null &&
      run.wakeAt !== null &&
      promised.held.get(run.run) !== run.epoch &&
      'it is owned and due',
    !isLive && run.worker !== null && 'it has ended and is owned',
    !isLive && run.wakeAt !== null && 'it has ended and is due',
    isIdle &&
      run.wakeAt === null &&
      parkedWith === undefined &&
      'it has no owner, is not due and was never parked',
    isIdle &&
      parkedWith !== undefined &&
      run.mail > parkedWith &&
      !(run.wakeAt !== null && run.wakeAt <= now) &&
      `stranded: mail ${run.mail}, parked with ${parkedWith}, wakes at ${run.wakeAt}`,
    ...claims.map(
      ({ epoch, head }) =>
        events.some((event) => event.epoch < epoch !== event.seq < head) &&
        `the claim of epoch ${epoch} saw ${head} events, and an older owner wrote behind them or a newer one before`,
    ),
  ]
  return faults.filter((fault) => fault !== false).map((fault) => `run ${run.id}: ${fault}`)
}

function findAskFaults(dump: Dump, promised: Promised): string[] {
  const ids = new Map(dump.runs.map(({ run, id }) => [run, id]))
  return dump.asks.flatMap((ask) => {
    const accepted = promised.answers.filter(
      ({ run, position }) => run === ids.get(ask.run) && position === ask.position,
    )
    const [winner] = accepted
    const where = `ask ${ids.get(ask.run)}/${ask.position}`
    return [
      accepted.length > 1 && `${where}: ${accepted.length} answers were accepted`,
      winner !== undefined &&
        (ask.status !== 'answered' || ask.answeredBy !== winner.by) &&
        `${where}: the accepted answer of ${winner.by} is not the one that stands`,
    ].filter((fault) => fault !== false)
  })
}

/** Checks that acknowledged data is stored and that refused data left no trace. */
function findCountFaults(whole: Dump, promised: Promised): string[] {
  const dump = withoutHidden(whole)
  // An ask that replaces one has the same place.
  const opened = new Set(
    promised.units.flatMap(({ run, effects }) =>
      effects.flatMap((effect) => (effect.do === 'open-ask' ? `${run} ${effect.ask.position}` : [])),
    ),
  )
  const children = childrenOf(promised)
  const { installed } = promised
  const copied = <Item>(listOf: (one: (typeof installed)[number]) => readonly Item[]): number =>
    installed.flatMap(listOf).length
  const runs = promised.runs.size + children.length
  const dropped = [...promised.dropped.values()].reduce((sum, count) => sum + count, 0)
  const keys = new Map(dump.runs.map(({ run, id }) => [id, run]))
  const expected: [string, number, number][] = [
    ['runs', runs + installed.length, dump.runs.length],
    [
      'events',
      runs + written(promised).length + copied(({ events }) => events) - dropped,
      dump.events.length,
    ],
    ['messages', countMessages(promised, dump.messages.length), dump.messages.length],
    ['asks', opened.size + copied(({ last }) => last.asks), dump.asks.length],
  ]
  const found = new Map(dump.events.map((event) => [`${event.run} ${event.seq}`, event]))
  const isDropped = (run: RunKey | undefined, seq: number): boolean =>
    seq < (promised.dropped.get(run ?? 0) ?? 0)
  const lost = [
    ...[...promised.runs].map(([run, { started }]) => [run, 0, started] as const),
    ...children.map(({ id, started }) => [keys.get(id), 0, started] as const),
    ...installed.flatMap(({ run, events }) => events.map((event) => [run, event.seq, event] as const)),
    ...written(promised),
  ].filter(([run, seq, event]) => {
    if (isDropped(run, seq)) return false
    const there = found.get(`${run} ${seq}`)
    return !there || !isSameEvent(there, event)
  })
  return [
    ...expected
      .filter(([, wanted, found]) => wanted !== found)
      .map(([what, wanted, found]) => `${wanted} ${what} were acknowledged, ${found} are there`),
    ...lost.map(
      ([run, seq]) => `event ${seq} of run ${run} was acknowledged, and something else or nothing is there`,
    ),
  ]
}

/** The events of units and of restarted runs. */
function written({ units, restarts }: Promised): readonly (readonly [RunKey, number, NewEvent])[] {
  return [
    ...units.flatMap(({ run, head, events }) =>
      events.map((event, index) => [run, head + index, event] as const),
    ),
    ...restarts.flatMap(({ run, head, started, kept }) =>
      [started, ...(kept?.events ?? [])].map((event, index) => [run, head + index, event] as const),
    ),
  ]
}

function childrenOf({ units }: Promised): readonly ChildRun[] {
  return units.flatMap(({ effects }) => effects.flatMap((one) => (one.do === 'create-run' ? one.run : [])))
}

/** Messages that must be stored count; the others may be there. Returns the allowed number closest to `found`. */
function countMessages(promised: Promised, found: number): number {
  const { messages, cancels, answers, units, installed, farewells, restarts } = promised
  const sends = units.flatMap(({ effects }) =>
    effects.flatMap((one) => (one.do === 'send' ? one.message : [])),
  )
  const copied = installed.flatMap(({ last }) => last.messages).length
  const repeated = restarts.flatMap(({ kept }) => kept?.signals ?? []).length
  const known = messages.length + cancels.length + answers.length + copied + repeated
  const least =
    known + sends.filter(({ must, key, kind }) => must && key === null && kind !== 'cancel').length
  return Math.min(Math.max(found, least), known + sends.length + farewells.length)
}

function isSameEvent(a: NewEvent, b: NewEvent): boolean {
  return (
    a.type === b.type &&
    a.position === b.position &&
    a.turn === b.turn &&
    a.kind === b.kind &&
    a.name === b.name &&
    a.nth === b.nth &&
    a.failed === b.failed &&
    a.tookMs === b.tookMs &&
    isSameBytes(a.payload, b.payload)
  )
}

function isSameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b
  return a.length === b.length && a.every((byte, index) => byte === b[index])
}

/** Without what is not cleared yet of removed runs and of copies. */
function withoutHidden({ runs, events, messages, asks, ...rest }: Dump): Dump {
  const keys = new Set(runs.map(({ run }) => run))
  const isShown = (row: { readonly run: number }): boolean => keys.has(row.run)
  return {
    ...rest,
    runs,
    events: events.filter(isShown),
    messages: messages.filter(isShown),
    asks: asks.filter(isShown),
  }
}
