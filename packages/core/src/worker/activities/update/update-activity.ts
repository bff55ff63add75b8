import type { UpdateOperation } from '../../../authoring/operations.ts'
import { issuesOf } from '../../../base/issues.ts'
import { decode } from '../../../events/payload.ts'
import type { UpdatePayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Message } from '../../../ports/store/mail.ts'
import { topicOf } from '../../../runs/topics.ts'
import type { Validation } from '../../../schemas/schema.ts'
import { type Activity, type ActivityContext, type Busy, consume } from '../activity.ts'
import { tryEncode } from '../try-encode.ts'
import { replyEffect } from './reply.ts'

/** Takes the oldest update of its name. One with an invalid input is answered here, and the procedure does not see it. */
export class UpdateActivity implements Activity {
  readonly isOpenAsk = false
  readonly dueAt = null
  readonly #context: ActivityContext
  readonly #pending: Pending<UpdateOperation>
  /** The message that is being validated. */
  #taken: number | null = null
  #isOver = false

  constructor(context: ActivityContext, pending: Pending<UpdateOperation>) {
    this.#context = context
    this.#pending = pending
  }

  get busy(): Busy {
    return this.#taken !== null && 'working'
  }
  get topics(): readonly string[] {
    if (this.#isOver || this.#taken !== null) return []
    return [topicOf('update', this.#pending.operation.name)]
  }

  begin(): void {}
  onDue(): void {}

  onMessage(message: Message): void {
    const checked = this.#context.checkUpdate(message.name, 'input', decode(message.payload))
    if (!(checked instanceof Promise)) return this.#take(message, checked)
    this.#taken = message.n
    void checked.then((late) =>
      this.#context.guard(() => {
        this.#taken = null
        if (this.#isOver) return
        this.#take(message, late)
        this.#context.lookAgain()
      }),
    )
  }

  onRecorded(): void {}
  stop(): void {
    this.#isOver = true
  }
  close(): boolean {
    this.#isOver = true
    if (this.#taken !== null) this.#context.giveBack(this.#taken)
    return false
  }

  #take({ n, by }: Message, checked: Validation): void {
    const pending = this.#pending
    const taken = checked.ok ? tryEncode(takenOf(n, by, checked.value), 'update') : checked
    if (!taken.ok)
      return this.#context.record({
        ...{ type: null, pending },
        effects: [replyEffect(n, { invalid: issuesOf(taken) })],
      })
    this.#isOver = true
    this.#context.record({ type: 'settled', pending, payload: taken.value, effects: [consume(n)] })
  }
}

function takenOf(n: number, by: string | null, input: unknown): UpdatePayload {
  return by === null ? { n, input } : { n, by, input }
}
