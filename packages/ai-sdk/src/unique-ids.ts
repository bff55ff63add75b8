/** A part of a model's reply. Parts of a tool call carry its id; parts that stream its input carry it as `id`. */
interface Part {
  readonly type: string
  readonly id?: unknown
  readonly toolCallId?: unknown
}

/**
 * Gives each tool call of a reply an id of its own. A provider may repeat one, and the SDK then takes the verdict on one call for the
 * verdict on both.
 */
export function uniqueCallIds<P extends Part>(parts: readonly P[]): P[] {
  const names = new CallNames(parts)
  return parts.map((part) => {
    const { type, id, toolCallId } = part
    if (type.startsWith('tool-input-') && typeof id === 'string') {
      const name = type === 'tool-input-start' ? names.beginInput(id) : names.of(id)
      return name === id ? part : { ...part, id: name }
    }
    if (typeof toolCallId !== 'string') return part
    const name = type === 'tool-call' ? names.beginCall(toolCallId) : names.of(toolCallId)
    return name === toolCallId ? part : { ...part, toolCallId: name }
  })
}

/** The names under which the calls of one reply are recorded. */
class CallNames {
  readonly #taken: Set<unknown>
  /** The name of the latest call with an id. */
  readonly #latest = new Map<string, string>()
  /** Ids of calls whose input was streamed, and which come as a whole afterwards. */
  readonly #streamed = new Set<string>()

  constructor(parts: readonly Part[]) {
    this.#taken = new Set(parts.flatMap(({ id, toolCallId }) => [id, toolCallId]))
  }

  of(id: string): string {
    return this.#latest.get(id) ?? id
  }

  beginInput(id: string): string {
    this.#streamed.add(id)
    return this.#begin(id)
  }

  beginCall(id: string): string {
    return this.#streamed.delete(id) ? this.of(id) : this.#begin(id)
  }

  #begin(id: string): string {
    const name = this.#latest.has(id) ? this.#free(id) : id
    this.#latest.set(id, name)
    return name
  }

  #free(id: string): string {
    for (let number = 2; ; number += 1) {
      const name = `${id}-${number}`
      if (this.#taken.has(name)) continue
      this.#taken.add(name)
      return name
    }
  }
}
