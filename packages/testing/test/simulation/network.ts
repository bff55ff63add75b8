import { type StoreCall, type StoreMethod, wrapCalls } from '@pawl/core/internal'
import type { StorePort, Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import type { Tables } from '../../src/memory/tables.ts'
import type { Chance } from './chance.ts'

/** Whose calls they are. */
export interface Caller {
  /** Resolves once the process is running; never if it is dead. */
  running(): Promise<void>
  /** Virtual time. */
  wait(ms: number): Promise<void>
  /** What the store says it owns goes to its worker: a lost reply would leave it without an owner. */
  readonly hasWorker: boolean
}

export interface NetworkOptions {
  readonly chance: Chance
  readonly caller: Caller
  readonly tables: Tables
  /** No faults any more. */
  readonly isCalm: () => boolean
  readonly onDone: (call: StoreCall, args: readonly unknown[], outcome: unknown) => void
}

/** Where a lost reply hands something to the worker, the store itself has to find out, as those on a network do. */
const found: readonly StoreCall[] = [
  'log.commit',
  'claims.claim',
  'claims.take',
  'claims.takeCancelled',
  'runs.create',
  'mail.send',
  'asks.answer',
  'mail.cancel',
]

/** The way of one process to the store: calls take their time, break, and their replies get lost. */
export function connectThrough(store: StorePort, options: NetworkOptions): StorePort {
  return wrapCalls(store, (name, method) =>
    name === 'watch'
      ? (onHint) => method(() => hint(onHint as () => void, options))
      : (...args) => call(name, method, args, options),
  )
}

async function call(
  name: StoreCall,
  method: StoreMethod,
  args: readonly unknown[],
  options: NetworkOptions,
): Promise<unknown> {
  const { chance, caller, isCalm, onDone } = options
  await travel(options)
  if (!isCalm() && name !== 'close' && chance.oneIn(25))
    throw new Error(`injected: ${name} did not get there`)
  if (name === 'log.commit' && !isCalm() && chance.oneIn(15)) {
    const outcomes = await commitUnacknowledged(method, args as [WorkerKey, readonly Unit[]], options)
    await travel(options)
    return outcomes
  }
  const outcome = await method(...args)
  onDone(name, args, outcome)
  await travel(options)
  const isLost =
    !isCalm() && chance.oneIn(25) && !(caller.hasWorker && found.includes(name)) && name !== 'close'
  if (isLost) throw new Error(`injected: the reply to ${name} was lost`)
  return outcome
}

/** Hints come late or never. */
function hint(onHint: () => void, { chance, caller, isCalm }: NetworkOptions): void {
  if (isCalm() || !chance.oneIn(3)) void caller.running().then(onHint)
}

async function travel({ chance, caller, isCalm }: NetworkOptions): Promise<void> {
  if (chance.oneIn(3))
    for (let hops = chance.below(4); hops > 0; hops--) await new Promise<void>((next) => setImmediate(next))
  if (!isCalm() && chance.oneIn(8))
    await caller.wait(chance.oneIn(8) ? chance.between(1, 2_000) : chance.between(1, 30))
  await caller.running()
}

/** The outcome of a commit is unknown. It may have landed, or may land too late: the runs are claimed again. */
async function commitUnacknowledged(
  method: StoreMethod,
  [worker, units]: [WorkerKey, readonly Unit[]],
  options: NetworkOptions,
): Promise<readonly UnitOutcome[]> {
  const land = async (): Promise<void> =>
    options.onDone('log.commit', [worker, units], await method(worker, units))
  const isLate = options.chance.oneIn(2)
  if (!isLate) await land()
  await travel(options)
  const outcomes = units.map((unit) => reclaim(options.tables, worker, unit))
  if (isLate) await land()
  return outcomes
}

function reclaim(
  { runsByKey }: Tables,
  worker: WorkerKey,
  { run: key, epoch, head, events, next }: Unit,
): UnitOutcome {
  const run = runsByKey.get(key)
  if (run === undefined) return { outcome: 'fenced' }
  const isOurs = run.worker === worker && run.state === 'live' && run.epoch === epoch
  const last = run.events[head + events.length - 1]
  const landed = events.length > 0 && last?.epoch === epoch
  if (isOurs) run.epoch++
  const { mail } = run
  if (landed)
    return {
      outcome: 'ok',
      at: last.at,
      epoch: isOurs ? run.epoch : epoch,
      mail,
      parked: !isOurs && next.do === 'park',
    }
  if (isOurs) return { outcome: 'lost', epoch: run.epoch }
  const isLetGo = events.length === 0 && run.worker === null && run.epoch === epoch
  return isLetGo
    ? { outcome: 'ok', at: run.events.at(-1)?.at ?? 0, epoch, mail, parked: next.do === 'park' }
    : { outcome: 'fenced' }
}
