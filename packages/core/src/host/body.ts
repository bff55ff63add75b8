import { AsyncLocalStorage } from 'node:async_hooks'
import { isThenable } from '../base/thenable.ts'
import { promiseThenNative, setImmediateNative } from './natives.ts'
import { shareCell } from './process/wide.ts'
import { turns } from './turn.ts'
import { noteBody, noteBodyEnd, noteBodyReturned } from './watchdog/cell.ts'
import { watchFromNowOn } from './watchdog/watchdog.ts'

/** Whose code a step body is. */
export interface BodyOwner {
  /** For messages: `step "charge" of run "refund:A-1"`. */
  readonly describe: string
  /** Something the body left behind failed, and nobody but the process would have caught it. */
  onUnhandled(error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void
}

/** A step body, once. */
export interface Body extends BodyOwner {
  run(): unknown
  /** What it returned, or what the promise it returned became: at once, if it returned no promise. */
  onDone(value: unknown): void
  onFailed(error: unknown): void
}

// Used for nothing else, so that a store in it always means a step body.
const bodies = shareCell('body', () => new AsyncLocalStorage<BodyOwner>())

/** Runs a body. Whatever it starts (timers, sockets, promises nobody awaits) belongs to it, also after its end. */
export function runBody(body: Body): void {
  if (turns.current !== null)
    return body.onFailed(new Error(`${body.describe} was begun in a turn of run "${turns.current.id}"`))
  watchFromNowOn()
  const note = noteBody(body.describe)
  let result: unknown
  try {
    result = bodies.run(body, begin, body)
  } catch (error) {
    noteBodyReturned(note)
    noteBodyEnd(note)
    return body.onFailed(error)
  }
  noteBodyReturned(note)
  // Outside the storage: what follows is not the body's any more. As `await` would: a promise may have a `then`
  // of its own, which may throw.
  if (result instanceof Promise)
    void Reflect.apply(promiseThenNative, result, [
      (value: unknown) => {
        noteBodyEnd(note)
        afterTurn(() => body.onDone(value))
      },
      (error: unknown) => {
        noteBodyEnd(note)
        afterTurn(() => body.onFailed(error))
      },
    ])
  else {
    noteBodyEnd(note)
    body.onDone(result)
  }
}

/** A procedure may settle a body in its turn, by an abort say: what comes of that belongs to no turn. */
function afterTurn(task: () => void): void {
  if (turns.current === null) task()
  else setImmediateNative(task)
}

/** Runs what is no body, but belongs to somebody all the same, with whatever it starts. */
export function runOwned<Result>(owner: BodyOwner, task: () => Result): Result {
  return bodies.run(owner, task)
}

/** The owner of the step body that the present code belongs to. */
export function currentBody(): BodyOwner | undefined {
  return bodies.getStore()
}

/** What is like a promise becomes one here, so that a lazy one (a query builder) begins inside the storage. */
function begin(body: Body): unknown {
  const result = body.run()
  return isThenable(result) ? Promise.resolve(result) : result
}
