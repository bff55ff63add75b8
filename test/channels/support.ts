import { type Channel, type ChannelsOptions, channels, type Submit } from '@pawl/channels'
import {
  type Ask,
  createEngine,
  type Engine,
  type EngineOptions,
  type Procedure,
  procedure,
} from '@pawl/core'
import { memory } from '@pawl/testing'

export const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Asks once, with these options, and says what was answered. */
export function asking(options: object = {}, name = 'asking'): Procedure<undefined, string> {
  return procedure({ name }, async (ctx) => {
    const { approved, by } = await ctx.human.approve('Publish it?', { to: 'group:editors', ...options })
    return `${approved ? 'approved' : 'rejected'} by ${by}`
  })
}

/** A channel that remembers what it was given. */
export interface Desk extends Channel {
  readonly delivered: string[]
  readonly updated: string[]
  /** Replies as the channel, once its engine has started. */
  readonly submit: Submit
}

export function desk(
  name: string,
  identity: Channel['can']['identity'] = 'verified',
  more: Partial<Channel> = {},
): Desk {
  const delivered: string[] = []
  const updated: string[] = []
  let pass: Submit = () => Promise.reject(new Error('the channel has not been started'))
  return {
    ...{ name, delivered, updated, can: { form: 'full', identity } },
    deliver: async (ask, { recipient }) => {
      delivered.push([ask.id, ...(recipient === undefined ? [] : [recipient.name])].join(' '))
      return { ref: `${name}:${ask.id}` }
    },
    update: async (ref, ask) => void updated.push(`${ref} ${ask.status} ${ask.answer?.by}`),
    start(submit) {
      pass = submit
      return () => {}
    },
    submit: (...args) => pass(...args),
    ...more,
  }
}

export async function startChannels(
  list: readonly Channel[],
  { links, ...options }: Partial<EngineOptions> & ChannelsOptions = {},
): Promise<Engine & AsyncDisposable> {
  const engine = await createEngine({
    ...{ store: memory(), procedures: [asking()], logger: silent },
    plugins: [channels(list, links && { links })],
    ...options,
  })
  return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.stop() })
}

/** Starts a run, and returns it with its ask. */
export async function askOnce(engine: Engine, of: Procedure<undefined, string> = asking()) {
  const run = await engine.run(of, undefined)
  const ask: Ask = await engine.inbox.next({ run: run.id })
  return { run, ask }
}
