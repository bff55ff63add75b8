import type { ProcedureOperation } from '../../../authoring/operations.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { ActivityContext, Busy } from '../activity.ts'
import { failed } from './ended.ts'

/** Awaits what an activity needs before it can record, and ignores it once the activity is over. */
export class AwaitedWork {
  readonly #context: ActivityContext
  readonly #pending: Pending<ProcedureOperation>
  #isWorking = false
  #isOver = false

  constructor(context: ActivityContext, pending: Pending<ProcedureOperation>) {
    this.#context = context
    this.#pending = pending
  }

  get busy(): Busy {
    return this.#isWorking && 'working'
  }
  get isOver(): boolean {
    return this.#isOver
  }

  /** Ignores everything that is still awaited. */
  end(): void {
    this.#isOver = true
  }

  await<Value>(value: Promise<Value>, then: (value: Value) => void): void {
    this.#isWorking = true
    const settle = (task: () => void): void =>
      this.#context.guard(() => {
        this.#isWorking = false
        if (!this.#isOver) task()
        this.#context.lookAgain()
      })
    value.then(
      (known) => settle(() => then(known)),
      (error: unknown) => settle(() => this.fail(error)),
    )
  }

  /** Records a failure that the procedure can catch. Throws any other error. */
  fail(error: unknown): void {
    if (!PawlError.is(error)) throw error
    this.#context.record(failed(this.#pending, error))
  }
}
