/** A part of the stream of a language model. */
export interface StreamPart {
  readonly type: string
  readonly id?: string
  readonly delta?: string
}

/** Reads a stream to its end. An error part rejects, so that the attempt is retried. */
export async function readParts<Part extends StreamPart>(stream: ReadableStream<Part>): Promise<Part[]> {
  const parts: Part[] = []
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return mergeDeltas(parts)
    if (value.type === 'error') throw (value as { error?: unknown }).error
    // Neither says anything about the result, and `raw` parts can be large.
    if (value.type !== 'raw' && value.type !== 'ping') parts.push(value)
  }
}

/** Joins consecutive deltas of a block, which keeps the log small. */
function mergeDeltas<Part extends StreamPart>(parts: readonly Part[]): Part[] {
  const merged: Part[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (part.type.endsWith('-delta') && last?.type === part.type && last.id === part.id)
      merged[merged.length - 1] = { ...part, delta: `${last.delta ?? ''}${part.delta ?? ''}` }
    else merged.push(part)
  }
  return merged
}

/** Returns a stream of recorded parts. It needs no timer, so that a procedure may await it. */
export function streamOf<Part>(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}
