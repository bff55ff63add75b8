import { turns } from '../../src/host/turn.ts'
import type { TurnOwner } from '../../src/kernel/turns.ts'

/** A run that remembers what the host told it. */
export interface RecordingOwner extends TurnOwner {
  readonly reported: string[]
}

export const turnTime: number = Date.UTC(1970, 0, 2)
export const turnUuid = '11111111-1111-4111-8111-111111111111'

export function ownerOf(id: string, determinism: TurnOwner['determinism'] = 'virtual'): RecordingOwner {
  const reported: string[] = []
  const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
  return {
    id,
    determinism,
    reported,
    now: () => turnTime,
    random: () => 0.5,
    uuid: () => turnUuid,
    onEscaped: (error) => reported.push(`escaped ${messageOf(error)}`),
    onUnhandled: (_promise, reason) => reported.push(`unhandled ${messageOf(reason)}`),
    onHandled: () => reported.push('handled'),
    onTimer: (api) => {
      reported.push(`timer ${api}`)
      return () => reported.push(`fired ${api}`)
    },
  }
}

/** Runs `body` as a turn of `owner`: one immediate, and a second one behind it when all queues are empty. */
export function inTurn<Result>(owner: TurnOwner, body: () => Result): Promise<Result> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      turns.current = owner
      try {
        const result = body()
        leave(() => resolve(result))
      } catch (error) {
        leave(() => reject(error))
      }
    })
    let settle: () => void
    const leave = (then: () => void) => {
      settle = then
    }
    setImmediate(() => {
      turns.current = null
      settle()
    })
  })
}

/** The same, where the queues do not matter: everything happens in the call. */
export function duringTurn<Result>(owner: TurnOwner, body: () => Result): Result {
  turns.current = owner
  try {
    return body()
  } finally {
    turns.current = null
  }
}
