import { createHook } from 'node:async_hooks'
import { captureCallSite } from '../../src/host/call-site.ts'
import { turns } from '../../src/host/turn.ts'

/** A timer, a file, a socket or the like that was created in a turn. */
export interface ForeignResource {
  readonly run: string
  /** What Node calls it: `Timeout`, `FSREQPROMISE`, … */
  readonly type: string
  /** `file:line:column` of the innermost frame that is not Node's. */
  readonly at: string | undefined
}

/** What lives in the queues that run empty in a turn. */
const own: ReadonlySet<string> = new Set(['PROMISE', 'TickObject', 'Microtask'])

/**
 * Fails if a procedure creates, in a turn, anything that Node would come back to in a later one: nothing that
 * a replay could repeat. It need not be awaited to be found; work that has no resource in Node (compiling
 * WebAssembly, reading a file synchronously) is not found.
 * @example await refuseForeignResources(() => engine.run(refund, input))
 */
export async function refuseForeignResources<Result>(body: () => Promise<Result>): Promise<Result> {
  const found: ForeignResource[] = []
  const init = (_: number, type: string): void => {
    if (turns.current !== null && !own.has(type))
      found.push({ run: turns.current.id, type, at: captureCallSite(init) })
  }
  const hook = createHook({ init }).enable()
  const [settled] = await Promise.allSettled([body()])
  hook.disable()
  if (found.length > 0) throw new ForeignResourcesError(found)
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

export class ForeignResourcesError extends Error {
  override readonly name = 'ForeignResourcesError'
  readonly resources: readonly ForeignResource[]

  constructor(resources: readonly ForeignResource[]) {
    super(
      resources
        .map(({ run, type, at }) => `${run} created a ${type} in its turn, at ${at ?? 'an unknown place'}`)
        .join('\n'),
    )
    this.resources = resources
  }
}
