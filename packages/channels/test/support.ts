import { type Channel, type ChannelsOptions, channels } from '@pawl/channels'
import { createEngine, type Engine, type EngineOptions, type Procedure, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'

export const silent = { debug() {}, info() {}, warn() {}, error() {} }
export const queue = 'queue:greeting-reviewers/approvals'

/** Reviews a greeting in a queue. */
export const greet: Procedure<undefined, string> = procedure({ name: 'greet' }, async (ctx) => {
  const { choice, by } = await ctx.human.review('Approve this greeting?', 'Hello, Ada', {
    ...{ to: [queue, 'user:ana', 'user:bob'], timeout: '1h', onTimeout: 'escalate' },
    details: [{ title: 'Mood', body: 'warm' }],
  })
  return `${choice} by ${by}`
})

export async function start(
  list: readonly Channel[],
  { links, plugins = [], ...options }: Partial<EngineOptions> & ChannelsOptions = {},
): Promise<Engine & AsyncDisposable> {
  const engine = await createEngine({
    ...{ store: memory(), procedures: [greet], logger: silent },
    plugins: [channels(list, links && { links }), ...plugins],
    ...options,
  })
  return Object.assign(engine, { [Symbol.asyncDispose]: () => engine.stop() })
}

export async function askOnce(engine: Engine, of: Procedure<undefined, string> = greet) {
  const run = await engine.run(of, undefined)
  return { run, ask: await engine.inbox.next({ run: run.id }) }
}
