import { checkFunction, checkText } from '../../checks/options.ts'
import { oneOf, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { guardVerbs } from '../../host/guard/verbs.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { answerByRules, newestOfFeed } from '../internal.ts'
import type { Client } from '../types.ts'
import { Following } from './following.ts'
import type { FollowFeedOptions, Plugin, PluginHost, StopPlugin } from './plugin.ts'

export interface PluginPorts {
  readonly client: Client
  readonly logger: Logger
  readonly clock: Clock
}

/** How long each plug-in may take to stop. */
const graceMs = 1_000

const followOptions = {
  after: optional(checkFunction<NonNullable<FollowFeedOptions['after']>>),
  onReset: optional(oneOf(['oldest', 'newest'])),
} satisfies Spec<FollowFeedOptions>

/** Starts and stops the plug-ins of an engine. */
export class Plugins {
  readonly #ports: PluginPorts
  readonly #plugins: readonly Plugin[]
  /** The first one started first. */
  readonly #started: StartedPlugin[] = []

  constructor(plugins: readonly Plugin[], ports: PluginPorts) {
    this.#ports = ports
    this.#plugins = plugins.filter(({ start }) => start !== undefined)
  }

  /** Starts them one after the other. If one throws, `stop` stops it and those before it. */
  async start(): Promise<void> {
    if (this.#plugins.length === 0) return
    const from = await newestOfFeed(this.#ports.client)
    for (const plugin of this.#plugins) {
      const started = new StartedPlugin(plugin, this.#ports, from)
      this.#started.push(started)
      await started.start()
    }
  }

  /** Stops them, the last one first. What does not stop in time is left behind: its calls are refused once the engine has stopped. */
  async stop(): Promise<void> {
    for (const plugin of this.#started.splice(0).reverse()) await this.#stopInTime(plugin)
  }

  async #stopInTime(plugin: StartedPlugin): Promise<void> {
    const { clock, logger } = this.#ports
    let callOff = (): void => {}
    const over = new Promise<void>((resolve) => {
      callOff = clock.after(graceMs, resolve)
    })
    const stopping = plugin.stop().catch((error: unknown) => {
      logger.error(`Plug-in ${plugin.name} could not be stopped.`, { error })
    })
    await Promise.race([stopping, over])
    callOff()
  }
}

/** A plug-in at work. */
class StartedPlugin {
  readonly #plugin: Plugin
  readonly #ports: PluginPorts
  /** Number of the newest event of the feed before the engine executes a run. */
  readonly #from: number
  readonly #stopping = new AbortController()
  readonly #following = new Set<Following>()
  #end: StopPlugin | undefined

  constructor(plugin: Plugin, ports: PluginPorts, from: number) {
    this.#plugin = plugin
    this.#ports = ports
    this.#from = from
  }

  get name(): string {
    return this.#plugin.name
  }

  async start(): Promise<void> {
    const end = await this.#plugin.start?.(this.#ports.client, this.#host)
    if (typeof end === 'function') this.#end = end
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    const following = [...this.#following].map((one) => one.stop())
    const end = async (): Promise<void> => this.#end?.()
    const [ended] = await Promise.allSettled([end(), ...following])
    if (ended.status === 'rejected') throw ended.reason
  }

  get #host(): PluginHost {
    const { client, logger, clock } = this.#ports
    const host: PluginHost = {
      from: this.#from,
      logger,
      signal: this.#stopping.signal,
      follow: (what, handle, options) => {
        const warning = `Plug-in ${this.name} cannot follow ${checkText('what of follow', what)}.`
        const one = new Following({
          ...readOptions('of follow', options, followOptions),
          client,
          logger,
          clock,
          warning,
          handle: checkFunction('handle of follow', handle),
          from: this.#from,
          signal: this.#stopping.signal,
        })
        this.#following.add(one)
        void one.ended.then(() => this.#following.delete(one))
        return () => one.stop()
      },
      answer: async (ask, answer, by) => answerByRules(client, ask.id, answer, by),
    }
    return guardVerbs('host', host, ['follow'])
  }
}
