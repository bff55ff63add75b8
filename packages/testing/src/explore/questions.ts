import type { ProcedureOperation } from '@pawl/core/internal'
import type { ActKind } from './exploration.ts'
import { actOf } from './outcomes/registry.ts'

/** What was done after a question. */
export interface Act {
  readonly kind: ActKind
  readonly name: string
}

/** What a path did with one question to people or to an agent. */
export interface AskedQuestion {
  /** Its key, or its message. */
  readonly question: string
  /** Whether code awaits the answer, or follows it in another way. */
  isAwaited: boolean
  isAnswered: boolean
  /** What was done after it was asked. */
  readonly acts: Act[]
}

/** The questions of one path, in the order in which they are asked. */
export class AskedQuestions {
  readonly all: AskedQuestion[] = []

  /** Notes an operation and its promise. Returns the question that it asks; null if it asks none. */
  noteIssued(operation: ProcedureOperation, promise: Promise<unknown>): AskedQuestion | null {
    const kind = actOf(operation.kind)
    if (kind !== null) for (const { acts } of this.all) acts.push({ kind, name: operation.name })
    const question = questionIn(operation)
    if (question === null) return null
    const asked: AskedQuestion = { question, isAwaited: false, isAnswered: false, acts: [] }
    this.all.push(asked)
    onFollowed(promise, () => {
      asked.isAwaited = true
    })
    return asked
  }
}

/** Returns what identifies the question that an operation asks; null if it asks none. */
export function questionIn(operation: ProcedureOperation): string | null {
  if ('ask' in operation) return operation.ask.key ?? operation.ask.payload.message
  return operation.kind === 'ail_decision' ? operation.question : null
}

/**
 * Calls back when a promise is awaited, or followed by `then`, `catch`, `Promise.all` and the like: each of them reads its constructor.
 * The promise stays what it is, so that the procedure takes as many steps as in an engine.
 */
function onFollowed(promise: Promise<unknown>, followed: () => void): void {
  Object.defineProperty<object>(promise, 'constructor', {
    configurable: true,
    get() {
      followed()
      return Promise
    },
  })
}
