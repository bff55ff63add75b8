import { createdBy } from '../events/children.ts'
import type { LogEvent } from '../events/event.ts'
import type { KeptMessage } from '../ports/store/copies.ts'
import type { Message } from '../ports/store/mail.ts'
import { topicOf } from './topics.ts'

// The runs of a family are imported one by one, in any order. So a run may need a child that its store has not got yet, or that ended
// before the run was there to be told. The import of a live run leaves a note in its mail for each such child. While a child is
// missing, the run waits for it, instead of concluding that it was deleted. A note is never used up, and is not exported.

/** The topic of the note about a child. No operation takes it. */
export function topicOfNote(child: string): string {
  return topicOf('watch', child)
}

/** Whether a message is such a note. The message of a run that waits has no name. */
export function isNote({ kind, name }: Pick<Message, 'kind' | 'name'>): boolean {
  return kind === 'watch' && name !== ''
}

/** The children that a log has created in its present generation, and whose end it does not contain. */
export class OpenChildren {
  readonly #ids = new Map<number, string>()
  #at = 0

  add(event: LogEvent): void {
    const { type, kind, position } = event
    this.#at = event.at
    if (type === 'started') this.#ids.clear()
    else if (type === 'settled' && kind === 'child') this.#ids.delete(position)
    const child = createdBy(event)
    if (child !== undefined) this.#ids.set(position, child)
  }

  /** The notes about them, behind the messages of their run. */
  notesBehind(messages: readonly KeptMessage[]): readonly KeptMessage[] {
    const last = messages.at(-1)?.n ?? 0
    return [...new Set(this.#ids.values())].map((name, index) => ({
      ...{ n: last + 1 + index, at: this.#at, kind: 'watch', name, key: null, by: null, payload: null },
      used: false,
    }))
  }
}
