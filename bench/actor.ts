import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** Channel between a bench process and the process that started it. */
export interface Line {
  tell(message: unknown): void
  /** Resolves with the next message, the oldest first. */
  hear(): Promise<unknown>
}

/** Another process of the bench, playing a role (see programs/actor.ts). */
export interface Actor extends Line {
  /** Resolves with the result of its role. */
  result(): Promise<unknown>
  /** Kills it with SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>
}

type Message = { readonly logged: unknown } | { readonly result: unknown }

/** The program of all actors. Actors that it starts use the same build. */
const ownProgram: URL = new URL('./programs/actor.js', import.meta.url)

/** @param program the actors' program of another build of the bench. Default: that of this one. */
export function startActor(role: string, input: unknown, program: URL = ownProgram): Actor {
  const child = fork(program, [role], { execArgv: ['--expose-gc'], serialization: 'advanced' })
  const gone = once(child, 'exit') as Promise<[number | null, string | null]>
  let finish: (result: unknown) => void = () => {}
  const finished = new Promise<unknown>((resolve) => {
    finish = resolve
  })
  const line = createLine(child, finish)
  line.tell(input)
  return {
    ...line,
    hear: () => Promise.race([line.hear(), gone.then(([code]) => failEarly(role, code))]),
    async result() {
      const result = await Promise.race([finished, gone.then(([code]) => failEarly(role, code))])
      await gone
      return result
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function failEarly(role: string, code: number | null): never {
  throw new Error(`the process for "${role}" ended with ${code}`)
}

/** The child's end of the channel. */
export function openLine(): Line & { finish(result: unknown): void } {
  const line = createLine(process, () => {})
  // The parent has ended or needs nothing more.
  process.once('disconnect', () => process.exit())
  return {
    ...line,
    finish: (result) => {
      process.send?.({ result }, () => process.disconnect())
    },
  }
}

function createLine(other: ChildProcess | NodeJS.Process, onResult: (result: unknown) => void): Line {
  const received: unknown[] = []
  const waiting: ((message: unknown) => void)[] = []
  other.on('message', (message: Message) => {
    if ('result' in message) return onResult(message.result)
    const next = waiting.shift()
    if (next === undefined) received.push(message.logged)
    else next(message.logged)
  })
  return {
    tell: (logged) => void other.send?.({ logged }),
    hear: () =>
      received.length > 0
        ? Promise.resolve(received.shift())
        : new Promise((resolve) => waiting.push(resolve)),
  }
}
