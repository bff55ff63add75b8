import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A queue: its name, and the two parts of it. */
export interface Queue {
  readonly audience: `queue:${string}/${string}`
  readonly scope: string
  readonly queue: string
}

/** The parts of `queue:<scope>/<queue>`; null for any other name. */
export function queueOf(name: string | undefined): Queue | null {
  const parts = /^queue:([^/]+)\/(.+)$/s.exec(name ?? '')
  if (parts === null) return null
  const [, scope = '', queue = ''] = parts
  return { audience: `queue:${scope}/${queue}`, scope, queue }
}

export type Part = 'requests' | 'replies' | 'closed' | 'refused' | 'notices'
const parts: readonly Part[] = ['requests', 'replies', 'closed', 'refused', 'notices']

/** The folder of one queue. */
export class QueueFolder {
  readonly #path: string

  constructor(root: string, { scope, queue }: Pick<Queue, 'scope' | 'queue'>) {
    this.#path = join(root, toSegment(scope), toSegment(queue))
  }

  async make(): Promise<void> {
    for (const part of parts) await mkdir(this.pathOf(part), { recursive: true, mode: 0o770 })
  }

  pathOf(part: Part): string {
    return join(this.#path, part)
  }

  fileOf(part: Part, id: string): string {
    return join(this.pathOf(part), `${toSegment(id)}.json`)
  }

  remove(part: Part, ask: string): Promise<void> {
    return rm(this.fileOf(part, ask), { force: true })
  }
}

/** A name as one part of a path: it can neither leave the folder nor mean the folder itself. */
function toSegment(name: string): string {
  const encoded = encodeURIComponent(name)
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded
}

/** The name that a part of a path was made of; null if it was made of none. */
export function fromSegment(segment: string): string | null {
  try {
    const name = decodeURIComponent(segment)
    return toSegment(name) === segment ? name : null
  } catch {
    return null
  }
}
