import { z } from 'zod'
import type { Chance } from './chance.ts'

export const updates = {
  set: { input: z.string(), output: z.string() },
  /** Which has no handler. */
  ignored: { input: z.string(), output: z.string() },
}
export const state = { shown: z.number() }

/** What the handler of the update 'set' does. */
export type Handler = 'none' | 'replies' | 'throws' | 'performs' | 'sleeps'

export function drawHandler(chance: Chance): Handler {
  return chance.pick(['none', 'replies', 'throws', 'performs', 'sleeps'] as const)
}

/** The part of a context that it uses. */
interface TalkCtx {
  readonly runId: string
  on(name: 'set', handler: (value: string) => Promise<string>): void
  step(name: string, body: () => Promise<string>): Promise<string>
  sleep(time: '20ms'): Promise<void>
}

interface Seen {
  readonly stage: {
    perform(
      run: string,
      path: string,
      work: { readonly delayMs: number; readonly failures: number },
    ): Promise<string>
  }
  readonly trace: string[]
  /** Exposes the next value. */
  readonly exposeNext: () => void
}

/** The reply to an update; null if it is refused. */
export function replyTo(handler: Handler, value: string): string | null {
  return handler === 'throws' ? null : `${value} is set`
}

export function handleUpdates(handler: Handler, ctx: TalkCtx, { stage, trace, exposeNext }: Seen): void {
  if (handler === 'none') return
  ctx.on('set', async (value) => {
    trace.push(`update ${value}`)
    const path = `update ${value}`
    if (handler === 'sleeps') await ctx.sleep('20ms')
    if (handler === 'performs')
      await ctx.step(path, () => stage.perform(ctx.runId, path, { delayMs: 30, failures: 0 }))
    exposeNext()
    const reply = replyTo(handler, value)
    if (reply === null) throw new Error(`${value} is refused`)
    return reply
  })
}
