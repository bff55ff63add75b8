import { createClient, PawlError } from '@pawl/core'
import { expect } from 'vitest'
import { bundle } from '../bundle.ts'
import { openStore } from '../kill/open-store.ts'
import { seeded } from '../kill/seeded.ts'
import { asking } from './asking.ts'
import { ServerProcess } from './server-process.ts'
import { readFrames } from './sse.ts'

const runsPerServer = 4

interface Seen {
  readonly id: number
  readonly event: string
}

/** What a reader has seen, and those who wait for more. */
class Reader {
  readonly frames: Seen[] = []
  readonly #waiting = new Set<() => void>()
  url = ''
  isOver = false

  /** Follows the feed of whichever server runs, as a browser does: after each cut from the last number on. */
  async follow(): Promise<void> {
    while (!this.isOver) {
      const last = this.frames.at(-1)?.id ?? 0
      try {
        const reply = await fetch(`${this.url}/v1/events`, { headers: { 'last-event-id': String(last) } })
        for await (const { id, event } of readFrames(reply)) {
          this.frames.push({ id, event })
          for (const wake of this.#waiting) wake()
          if (this.isOver) return
        }
      } catch {
        // The server was killed. The next one is about to listen.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }

  async until(count: number): Promise<void> {
    while (this.frames.length < count)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake)
          resolve()
        }
        this.#waiting.add(wake)
      })
  }
}

/**
 * A reader of the feed sees each number once and in order, while its server is killed again and again. The killed process
 * also executes the runs that the feed tells of.
 */
export async function followThroughKills(location: string, kills: number, seed: number): Promise<void> {
  const random = seeded(seed)
  const program = await bundle(new URL('../../programs/http-server.ts', import.meta.url).pathname)
  const client = createClient({ store: openStore(location) })
  const reader = new Reader()
  let server = await ServerProcess.start(program, location)
  reader.url = server.url
  const answering = answerAll(client)
  const following = reader.follow()
  let runs = 0
  for (let kill = 0; kill <= kills; kill++) {
    const before = reader.frames.length
    for (let n = 0; n < runsPerServer; n++) await client.run(asking, undefined, { id: `run:${runs++}` })
    // Sometimes in the middle of what the runs write, sometimes after all of it.
    if (kill < kills) {
      await reader.until(Math.min(runs * 3, before + 1 + Math.floor(random() * 3 * runsPerServer)))
      await server.kill()
      server = await ServerProcess.start(program, location)
      reader.url = server.url
    }
  }
  await reader.until(runs * 3)
  reader.isOver = true
  const ids = reader.frames.map(({ id }) => id)
  expect(ids, `seed ${seed}`).toEqual(Array.from({ length: runs * 3 }, (_, index) => index + 1))
  expect(new Set(reader.frames.map(({ event }) => event))).toEqual(
    new Set(['ask.opened', 'ask.closed', 'run.ended']),
  )
  await server.kill()
  await following
  await client.stop()
  await answering
}

/** Answers each ask as soon as it is open, until the client stops. */
async function answerAll(client: ReturnType<typeof createClient>): Promise<void> {
  try {
    for await (const { event, ask } of client.inbox.watch({ after: 0 }))
      if (event === 'ask.opened') await client.inbox.answer(ask, { approved: true }, { as: 'user:ana' })
  } catch (error) {
    if (!PawlError.is(error, 'engine-stopped')) throw error
  }
}
