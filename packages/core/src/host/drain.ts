import type { TurnOwner } from '../kernel/turns.ts'
import { inRootContext, performanceNow, setImmediateNative, setTimeoutNative } from './natives.ts'
import { turns } from './turn.ts'
import { noteTurn } from './watchdog/cell.ts'

/** What the drain drives: an execution of the kernel. */
export interface Driven extends TurnOwner {
  readonly outstanding: number
  deliverNext(): void
}

/**
 * Delivers everything an execution has queued, one delivery a turn, every queue drained between two turns,
 * and calls back when the last turn is over, outside all turns.
 *
 * Between two immediates that were queued back to back Node runs all ticks, all microtasks and all rejection
 * handlers, and nothing else; so each delivery is an immediate of its own, queued by one synchronous loop.
 * A chain of ticks or microtasks instead would run ahead of ticks the procedure itself has queued.
 */
export function drain(execution: Driven, onDrained: () => void): void {
  waiting.push({ execution, onDrained })
  if (scheduled) return
  scheduled = true
  inRootContext(() => setImmediateNative(queueRound))
}

/**
 * Gives what may be moving outside a turn the chance to show itself, before a verdict is final. An event loop
 * that was held up for all that time still hears what has come in meanwhile.
 */
export function allowGrace(onOver: () => void): void {
  inRootContext(() => setTimeoutNative(() => setImmediateNative(onOver), graceMs))
}

const batchSize = 1024
/** Past this a round ends early, between two deliveries, and timers and sockets of the process have their say. */
const budgetMs = 4
const budgetCheckedEvery = 16
/**
 * So many exceptions may leave one turn, each taking an immediate, before one is the application's. Few turns do
 * that at all, and immediates cost: there are more once one was seen.
 */
const spareImmediates = { ofCalm: 8, afterFirst: 16 }
/** Long enough for work in the thread pool (a digest, a file) that was begun in a turn; paid only on the way to a verdict. */
const graceMs = 25

interface Entry {
  readonly execution: Driven
  readonly onDrained: () => void
}
const waiting: Entry[] = []
let drained: Entry[] = []
let active: Entry | null = null
let scheduled = false
let over = false
let spare = spareImmediates.ofCalm
/** Immediates of this round that are still to come. */
let left = 0
let beganAt = 0
let deliveries = 0

function queueRound(): void {
  let batch = 0
  for (let i = 0; i < waiting.length && batch < batchSize; i++)
    batch += (waiting[i] as Entry).execution.outstanding
  setImmediateNative(beginRound)
  // One more, which finds that nothing is left to deliver.
  left = Math.min(batch, batchSize) + 1 + spare
  for (let i = left; i > 0; i--) setImmediateNative(deliverOne)
  setImmediateNative(endRound)
}

/** An immediate of its own: what the application has left in the queues runs out behind it, in no turn. */
function beginRound(): void {
  over = false
  turns.broken = false
  beganAt = performanceNow()
}

function deliverOne(): void {
  left--
  // An exception has put the rest of the turn's queues off until after this immediate: they run out first.
  if (turns.broken) {
    turns.broken = false
    spare = spareImmediates.afterFirst
    // No turn begins without all the spare ones behind it: the next round has them again.
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
    if (++deliveries % budgetCheckedEvery === 0 && performanceNow() - beganAt > budgetMs) over = true
  } catch (error) {
    // A fault of the engine must not be booked on a run, and nobody knows what this one would do next.
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
    // A fault of the engine surfaces as one, and the other runs of this round still get their say.
    setImmediateNative(() => {
      throw error
    })
  }
}
