import type { TurnOwner } from '../kernel/turns.ts'
import { inRootContext, performanceNow, setImmediateNative, setTimeoutNative } from './natives.ts'
import { turns } from './turn.ts'
import { noteTurn } from './watchdog/cell.ts'

/** An execution of the kernel, as the drain uses it. */
export interface Driven extends TurnOwner {
  readonly outstanding: number
  deliverNext(): void
}

/**
 * Delivers the queued events of an execution, one per turn. All queues of the event loop are drained between turns.
 * Calls back outside all turns when the last turn is over.
 *
 * Between two consecutive immediates Node runs all ticks, all microtasks and all rejection handlers, and nothing else.
 * So each delivery is a separate immediate, queued by one synchronous loop. A chain of ticks or microtasks would run
 * ahead of ticks that the procedure itself has queued.
 */
export function drain(execution: Driven, onDrained: () => void): void {
  waiting.push({ execution, onDrained })
  if (scheduled) return
  scheduled = true
  inRootContext(() => setImmediateNative(queueRound))
}

/**
 * Waits for activity outside a turn to show itself before a verdict is final.
 * If the event loop was blocked for the whole time, events that arrived meanwhile are still processed.
 */
export function allowGrace(onOver: () => void): void {
  inRootContext(() => setTimeoutNative(() => setImmediateNative(onOver), graceMs))
}

/**
 * Replaces the clock that rounds are measured with, in ms. With that of the machine, its speed decides how many deliveries a round has.
 * @returns undoes it
 */
export function measureRoundsBy(clock: () => number): () => void {
  roundClock = clock
  return () => {
    roundClock = performanceNow
  }
}

const batchSize = 1024
/** Maximum duration of a round. It then ends between two deliveries, so that timers and sockets are served. */
const budgetMs = 4
const budgetCheckedEvery = 16
/**
 * Maximum number of exceptions that may escape one turn; a further one counts as the application's. Each uses an
 * immediate, which costs time, and few turns throw any: the number rises once one was seen.
 */
const spareImmediates = { ofCalm: 8, afterFirst: 16 }
/** Long enough for thread pool work (a digest, a file) that was started in a turn; spent only before a verdict. */
const graceMs = 25

interface Entry {
  readonly execution: Driven
  readonly onDrained: () => void
}
const waiting: Entry[] = []
let drained: Entry[] = []
let active: Entry | null = null
let scheduled = false
let roundClock = performanceNow
let over = false
let spare = spareImmediates.ofCalm
/** The remaining immediates of this round. */
let left = 0
let beganAt = 0
let deliveries = 0

function queueRound(): void {
  let batch = 0
  for (let i = 0; i < waiting.length && batch < batchSize; i++)
    batch += (waiting[i] as Entry).execution.outstanding
  setImmediateNative(beginRound)
  // One more, which finds nothing left to deliver.
  left = Math.min(batch, batchSize) + 1 + spare
  for (let i = left; i > 0; i--) setImmediateNative(deliverOne)
  setImmediateNative(endRound)
}

/** Uses a separate immediate: queues that the application left are drained before it, in no turn. */
function beginRound(): void {
  over = false
  turns.broken = false
  beganAt = roundClock()
}

function deliverOne(): void {
  left--
  // An exception has postponed the rest of the turn's queues until after this immediate; they are drained first.
  if (turns.broken) {
    turns.broken = false
    spare = spareImmediates.afterFirst
    // A turn needs all spare immediates behind it; the next round has them again.
  } else if (!over && left >= spare) deliver()
}

function deliver(): void {
  try {
    while (active === null || active.execution.outstanding === 0) {
      if (active !== null) drained.push(active)
      active = waiting.shift() ?? null
      if (active === null) return leaveTurn()
      noteTurn(active.execution.id)
    }
    turns.current = active.execution
    active.execution.deliverNext()
    if (++deliveries % budgetCheckedEvery === 0 && roundClock() - beganAt > budgetMs) over = true
  } catch (error) {
    // An internal error must not fail a run, and the state of this execution is unknown.
    active = null
    leaveTurn()
    throw error
  }
}

function leaveTurn(): void {
  turns.current = null
  over = true
}

function endRound(): void {
  leaveTurn()
  noteTurn(null)
  if (active !== null) (active.execution.outstanding === 0 ? drained : waiting).push(active)
  active = null
  const done = drained
  drained = []
  scheduled = waiting.length > 0
  if (scheduled) setImmediateNative(queueRound)
  for (const entry of done) callBack(entry)
}

function callBack({ onDrained }: Entry): void {
  try {
    onDrained()
  } catch (error) {
    // Rethrow an internal error outside, so that the other runs of this round still proceed.
    setImmediateNative(() => {
      throw error
    })
  }
}
