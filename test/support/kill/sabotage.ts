/** What a worker does to itself and to its store, as tests ask for in its environment. */
export interface Sabotage {
  /** FENCE=off: any owner and any epoch may write, for the control of a test. */
  readonly withoutFence: boolean
  /** DEAF=on: it never learns that it was taken for dead. */
  readonly isDeaf: boolean
  /** NEIGHBOURS=off: it takes all others for workers of other machines, whose processes it cannot see. */
  readonly isAlone: boolean
  /** KILL_AT=<n>:<when>: SIGKILL around its n-th write. */
  readonly kill: { readonly at: number; readonly when: KillMoment } | undefined
}

/** `sent`: the server has been told, and nothing has been heard yet; only where there is a server. */
export type KillMoment = 'before' | 'sent' | 'after'

export function readSabotage(): Sabotage {
  const [at = '', when = ''] = (process.env['KILL_AT'] ?? '').split(':')
  return {
    withoutFence: process.env['FENCE'] === 'off',
    isDeaf: process.env['DEAF'] === 'on',
    isAlone: process.env['NEIGHBOURS'] === 'off',
    kill: at === '' ? undefined : { at: Number(at), when: when as KillMoment },
  }
}

/** Counts writes, and ends the process at the one that was asked for. */
export class Writes {
  readonly #kill: Sabotage['kill']
  #count = 0

  constructor({ kill }: Sabotage) {
    this.#kill = kill
  }

  /** Counts one more. Returns what to call as it goes on. */
  begin(): (moment: KillMoment) => void {
    const isLast = ++this.#count === this.#kill?.at
    const pass = (moment: KillMoment): void => {
      if (isLast && this.#kill?.when === moment) process.kill(process.pid, 'SIGKILL')
    }
    pass('before')
    return pass
  }
}
