import { InterposedPool } from './interposed-pool.ts'

type Rewrite = (text: string) => string

/**
 * A pool whose statements are rewritten on their way: the store with a guard taken out, to see that a test
 * finds out. Its end fails if nothing was rewritten: then nothing was taken out.
 */
export class MutantPool extends InterposedPool {
  #hasRewritten = false

  constructor(connectionString: string, rewrite: Rewrite, max?: number) {
    super(connectionString, max)
    this.onQuery = (sent, go, config) => {
      const text = rewrite(sent)
      if (text !== sent) this.#hasRewritten = true
      return go({ ...config, text })
    }
  }

  override async end(): Promise<void> {
    await super.end()
    if (!this.#hasRewritten)
      throw new Error('No statement was rewritten: the store has changed, and this mutant not.')
  }
}

/** Takes the fence out of the commit: any owner and any epoch will do. */
export function withoutFence(text: string): string {
  return text
    .replace(
      'l.run is null or l.epoch <> u.epoch or l.worker is distinct from $1 or l.state <> 0',
      'l.run is null or $1::bigint is null',
    )
    .replace(
      'where run = $1 and epoch = $2 and head = $3 and worker is not distinct from $4 and state = 0',
      'where run = $1 and $2::int > 0 and head = $3 and $4::bigint > 0',
    )
}

/** Lets a commit park a run whatever has come in the meantime. */
export function withoutMailCheck(text: string): string {
  return text.replace('u.park and l.mail = u.seen as parks', 'u.park as parks')
}
