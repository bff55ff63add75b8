import { AsyncLocalStorage } from 'node:async_hooks'
import { shareCell } from './process-wide.ts'
import { turns } from './turn.ts'
import { noteBody, noteBodyEnd, noteBodyReturned } from './watch-cell.ts'

/** Whose code a step body is. */
export interface BodyOwner {
  /** For messages: `step "charge" of run "refund:A-1"`. */
  readonly describe: string
  /** Something the body left behind failed, and nobody but the process would have caught it. */
  onStray(error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void
}

// Used for nothing else, so that a store in it always means a step body.
const bodies = shareCell('body', () => new AsyncLocalStorage<BodyOwner>())

/**
 * Runs the body of a step. Whatever it starts (timers, sockets, promises nobody awaits) belongs to `owner`,
 * also after its end.
 */
export function runBody<Result>(
  owner: BodyOwner,
  body: () => Result | PromiseLike<Result>,
): Promise<Awaited<Result>> {
  if (turns.current !== null) {
    const error = new Error(`${owner.describe} was begun in a turn of run "${turns.current.id}"`)
    return Promise.reject(error)
  }
  return bodies.run(owner, () => call(body, noteBody(owner.describe)))
}

/** The owner of the step body that the present code belongs to. */
export function currentBody(): BodyOwner | undefined {
  return bodies.getStore()
}

/** Async, so that a lazy thenable (a query builder) is awaited, and thereby begun, inside the storage. */
async function call<Result>(
  body: () => Result | PromiseLike<Result>,
  note: number,
): Promise<Awaited<Result>> {
  try {
    let result: Result | PromiseLike<Result>
    try {
      result = body()
    } finally {
      noteBodyReturned(note)
    }
    return await result
  } finally {
    noteBodyEnd(note)
  }
}
