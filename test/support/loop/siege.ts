import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createEngine, type Engine } from '@pawl/core'
import { expect } from 'vitest'
import { bundle, temporaryFolder } from '../bundle.ts'
import { sqliteStore } from '../sqlite.ts'
import { type FromServer, leaseOf, type ToServer } from './messages.ts'
import { attacked, countBegins, holding, ledgerIn } from './procedures.ts'
import type { Hostile } from './requests.ts'

/** How a request went, and the longest that it has held the event loop of the server. */
export interface Blow {
  readonly name: string
  readonly status: number
  /** The longest that the event loop was held. On a busy machine other processes have a part of it. */
  readonly heldMs: number
  /** The time of the processor that the request took. */
  readonly busyMs: number
}

type Urls = Extract<FromServer, { readonly url: string }>
type Told = Extract<FromServer, { readonly heldMs: number }>

/** A server with a step under way, and a second worker of its store, in this process, which would take the step over. */
export class Siege {
  readonly #folder: string
  readonly #program: string
  readonly #child: ChildProcess
  readonly #urls: Urls
  readonly #other: Engine
  #people = 0

  private constructor(parts: {
    readonly folder: string
    readonly program: string
    readonly child: ChildProcess
    readonly urls: Urls
    readonly other: Engine
  }) {
    this.#folder = parts.folder
    this.#program = parts.program
    this.#child = parts.child
    this.#urls = parts.urls
    this.#other = parts.other
  }

  static async begin(): Promise<Siege> {
    const program = await bundle(new URL('../../programs/besieged-server.ts', import.meta.url).pathname)
    const folder = await temporaryFolder()
    const file = join(folder, 'siege.db')
    const child = fork(program, [file, folder], { serialization: 'advanced' })
    const urls = (await messageOf(child)) as Urls
    const ledger = ledgerIn(folder)
    await expect.poll(() => countBegins(ledger)).toBe(1)
    const silent = { debug() {}, info() {}, warn() {}, error() {} }
    const other = await createEngine({
      ...{ store: sqliteStore(file), procedures: [holding(ledger)], lease: leaseOf, logger: silent },
    })
    const siege = new Siege({ folder, program, child, urls, other })
    for (const { name } of attacked)
      if (!['taking', 'stepping', 'crowding'].includes(name)) await other.inbox.next({ run: name })
    return siege
  }

  get begins(): number {
    return countBegins(ledgerIn(this.#folder))
  }

  /** Sends a request, and tells how long the event loop was held. */
  async strike({ name, method, path, body, type }: Hostile): Promise<Blow> {
    const text = await this.#fillIn(body?.() ?? '')
    const target = new URL(await this.#fillIn(path), path === '/slack' ? this.#urls.slackUrl : this.#urls.url)
    this.#people++
    this.#tell({ do: 'forget' })
    await messageOf(this.#child)
    const fromSlack = {
      'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)),
      'x-slack-signature': 'v0=',
    }
    const reply = await fetch(target, {
      ...{
        method,
        headers: { ...fromSlack, 'x-person': String(this.#people), ...(type && { 'content-type': type }) },
      },
      ...(body && { body: text }),
    })
    await reply.arrayBuffer()
    this.#tell({ do: 'tell' })
    const { heldMs, busyMs } = (await messageOf(this.#child)) as Told
    return { name, status: reply.status, heldMs, busyMs }
  }

  /** Lets the server check a value wholly, again and again, until the step has begun twice. */
  async validate(value: unknown): Promise<number> {
    this.#tell({ do: 'validate', value })
    const told = (await messageOf(this.#child)) as Extract<FromServer, { readonly validations: number }>
    return told.validations
  }

  /** Ends the step. Returns the result of its run, once it has one. */
  async release(): Promise<unknown> {
    await writeFile(ledgerIn(this.#folder).released, '')
    return this.#other.get('holding').result()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#other.stop()
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
    await rm(this.#folder, { recursive: true })
    await rm(join(this.#program, '..'), { recursive: true })
  }

  #tell(message: ToServer): void {
    this.#child.send(message)
  }

  async #fillIn(text: string): Promise<string> {
    const found = /\{ask:(\w+)\}/.exec(text)
    if (found === null) return text
    const [place, run = ''] = found
    const [ask] = (await this.#other.inbox.list({ run })).items
    return text.replaceAll(place, ask?.id ?? `${run}/0`)
  }
}

/** @throws Error if the server has ended */
async function messageOf(child: ChildProcess): Promise<unknown> {
  const ending = new AbortController()
  const ended = once(child, 'exit', ending)
  const told = once(child, 'message', ending)
  try {
    const [message] = await Promise.race([
      told,
      ended.then(() => Promise.reject(new Error('The server has ended.'))),
    ])
    return message
  } finally {
    ending.abort()
  }
}
