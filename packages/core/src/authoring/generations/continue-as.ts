import { oneIssue } from '../../base/issues.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encode } from '../../events/payload.ts'
import type { Closing } from '../../kernel/scope.ts'

/** What `ctx.continueAs` resolves to. The procedure returns it, so that its `finally` blocks run before it continues. */
export class ContinueRequest {
  /** The input of the next generation, read at the call. */
  readonly input: Uint8Array | null

  /** @throws PawlError 'payload-refused' */
  constructor(input: unknown) {
    this.input = encode(input, 'input')
  }
}

/** Rejects as the operations of a closed scope do, or never settles if they do not. */
export function rejectClosed({ error }: Closing): Promise<never> {
  return error === null ? new Promise(() => {}) : Promise.reject(error() as Error)
}

/** The requests of a procedure to continue. */
export class ContinueRequests {
  /** Null until there is one. */
  #made: Set<unknown> | null = null

  make(input: unknown): ContinueRequest {
    const request = new ContinueRequest(input)
    this.#made ??= new Set()
    this.#made.add(request)
    return request
  }

  /** Whether an output is a request. */
  has(output: unknown): boolean {
    return this.#made?.has(output) === true
  }

  /**
   * Returns the request that the procedure has returned; null if it has made none.
   * @throws PawlError 'output-invalid' if it has made one and returned something else
   */
  find(output: unknown): ContinueRequest | null {
    if (this.#made === null) return null
    if (this.has(output)) return output as ContinueRequest
    const message = 'the procedure called ctx.continueAs() and did not return what it gives'
    throw new PawlError('output-invalid', oneIssue('', message), {
      remedy: 'Write `return ctx.continueAs(…)`.',
    })
  }
}
