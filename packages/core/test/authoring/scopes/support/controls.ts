import { turns } from '../../../../src/host/turn.ts'
import { Execution } from '../../../../src/kernel/execution.ts'
import type { Pending, Scopes } from '../../../../src/kernel/operation.ts'
import { closingOf } from '../../../../src/kernel/scope.ts'
import type { Control } from './ops.ts'

/** Closes the losers of a race when the event loop has come round, and not in the delivery. */
export const closeLate: Control = (scopes) => ({
  ...boundTo(scopes),
  close: (closed, error) =>
    void setImmediate(() => {
      const before = turns.current
      turns.current = executionOf(scopes)
      scopes.close(closed, error)
      turns.current = before
    }),
})

/** Rejects the operations of losers at once, and not each in a turn of its own. */
export const rejectAtOnce: Control = (scopes) => ({
  ...boundTo(scopes),
  close: (closed, error) => {
    for (const scope of closed) scope.closed ??= { error, turn: executionOf(scopes).turn, refused: 0 }
    const pending = executionOf(scopes).pending as Map<number, Pending>
    for (const one of [...pending.values()])
      if (closingOf(one.scope) !== null) {
        pending.delete(one.position)
        one.reject(error())
      }
  },
})

function executionOf(scopes: Scopes): Execution {
  if (scopes instanceof Execution) return scopes
  throw new Error('the scopes of an execution are itself')
}

function boundTo(scopes: Scopes): ReturnType<Control> {
  return {
    close: (closed, error) => scopes.close(closed, error),
    adopt: (promise, from, to) => scopes.adopt(promise, from, to),
    openShield: (parent) => scopes.openShield(parent),
    closeShield: (scope) => scopes.closeShield(scope),
    refusalOf: (scope) => scopes.refusalOf(scope),
  }
}
