import { AsyncLocalStorage } from 'node:async_hooks'
import { isThenable } from '../base/thenable.ts'
import { promiseThenNative, setImmediateNative } from './natives.ts'
import { shareCell } from './process/wide.ts'
import { turns } from './turn.ts'
import { noteBody, noteBodyEnd, noteBodyReturned } from './watchdog/cell.ts'
import { watchFromNowOn } from './watchdog/watchdog.ts'

/** The owner of a step body. */
export interface BodyOwner {
  /** The name in messages: `step "charge" of run "refund:A-1"`. */
  readonly describe: string
  /** Called for an error that the body left unhandled, which would otherwise reach the process. */
  onUnhandled(error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void
}

/** One execution of a step body. */
export interface Body extends BodyOwner {
  run(): unknown
  /** Called with the result, synchronously if the body did not return a promise. */
  onDone(value: unknown): void
  onFailed(error: unknown): void
}

// Used for nothing else, so a value in this storage always means a step body.
const bodies = shareCell('body', () => new AsyncLocalStorage<BodyOwner>())

/** Runs a body. Everything it starts (timers, sockets, unawaited promises) belongs to it, even after its end. */
export function runBody(body: Body): void {
  if (turns.current !== null)
    return body.onFailed(new Error(`${body.describe} was started in a turn of run "${turns.current.id}"`))
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
  // Outside the storage, since the following code is not the body's. As `await` does: a promise may have its own `then`,
  // which may throw.
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

/** Runs a task outside any turn: a procedure may settle a body in its turn, for example with an abort. */
function afterTurn(task: () => void): void {
  if (turns.current === null) task()
  else setImmediateNative(task)
}

/** Runs a task that is not a body, with everything it starts, on behalf of an owner. */
export function runOwned<Result>(owner: BodyOwner, task: () => Result): Result {
  return bodies.run(owner, task)
}

/** Returns the owner of the step body that the current code belongs to. */
export function currentBody(): BodyOwner | undefined {
  return bodies.getStore()
}

/** Starts the body. Converts a thenable to a promise, so that a lazy one (a query builder) starts inside the storage. */
function begin(body: Body): unknown {
  const result = body.run()
  return isThenable(result) ? Promise.resolve(result) : result
}
