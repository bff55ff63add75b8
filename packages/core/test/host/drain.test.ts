import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { allowGrace, type Driven, drain } from '../../src/host/drain.ts'
import { turns } from '../../src/host/turn.ts'

/** Something to drive: so many deliveries, each of which does some work in a turn of its own. */
class Load implements Driven {
  readonly id: string
  readonly determinism = 'virtual'
  delivered = 0
  readonly #deliveries: number
  readonly #work: (load: Load) => void

  constructor(id: string, deliveries: number, work: (load: Load) => void = () => {}) {
    this.id = id
    this.#deliveries = deliveries
    this.#work = work
  }

  get outstanding(): number {
    return this.#deliveries - this.delivered
  }
  deliverNext(): void {
    this.delivered++
    this.#work(this)
  }
  get hasTurn(): boolean {
    return turns.current === this
  }
  now = () => 0
  random = () => 0
  uuid = () => ''
  onEscaped = () => {}
  onUnhandled = () => {}
  onHandled = () => {}
  onTimer = () => () => {}
}

const drained = (load: Load, through = drain): Promise<void> =>
  new Promise((resolve) => through(load, resolve))

/** Counts where it finds itself in a turn. */
class Watch {
  looked = 0
  inTurns = 0
  readonly look = (): void => {
    this.looked++
    if (turns.current !== null) this.inTurns++
  }
}

describe('a drain', () => {
  test('delivers one event per turn, drains all queues in between, and calls back outside turns', async () => {
    const order: string[] = []
    const load = new Load('run', 3, ({ delivered }) => {
      order.push(`delivery ${delivered}`)
      process.nextTick(() => {
        void Promise.resolve().then(() =>
          process.nextTick(() => order.push(`tick ${delivered} ${load.hasTurn}`)),
        )
      })
    })
    await drained(load)
    expect(turns.current).toBeNull()
    expect(order).toEqual([
      'delivery 1',
      'tick 1 true',
      'delivery 2',
      'tick 2 true',
      'delivery 3',
      'tick 3 true',
    ])
  })

  test('calls back even if there is nothing to deliver', async () => {
    const idle = Array.from({ length: 100 }, (_, i) => new Load(`idle ${i}`, 0))
    await Promise.all([drained(new Load('busy', 2000)), ...idle.map((load) => drained(load))])
    expect(turns.current).toBeNull()
  })

  test('delivers events that are added in a callback', async () => {
    const load = new Load('run', 1)
    await new Promise<void>((resolve) => drain(new Load('first', 1), () => drain(load, resolve)))
    expect(load.delivered).toBe(1)
  })

  test('gives every turn to its own run, with many runs interleaved', async () => {
    let wrong = 0
    const check = async (load: Load): Promise<void> => {
      for (let hops = load.delivered % 5; hops > 0; hops--) await null
      if (!load.hasTurn) wrong++
      process.nextTick(() => {
        if (!load.hasTurn) wrong++
      })
    }
    const loads = Array.from(
      { length: 300 },
      (_, i) => new Load(`run ${i}`, 1 + ((i * 37) % 50), (load) => void check(load)),
    )
    await Promise.all(loads.map((load) => drained(load)))
    expect(wrong).toBe(0)
    expect(loads.every(({ outstanding }) => outstanding === 0)).toBe(true)
  })

  test('never holds a turn together with another copy of the package', async () => {
    vi.resetModules()
    const copy = await import('../../src/host/drain.ts')
    expect(copy.drain).not.toBe(drain)
    let mixed = 0
    const work = async (load: Load): Promise<void> => {
      await null
      if (!load.hasTurn) mixed++
    }
    const loads = ['one', 'two'].map((id) => new Load(id, 5000, (load) => void work(load)))
    await Promise.all([drained(loads[0] as Load), drained(loads[1] as Load, copy.drain)])
    expect(mixed).toBe(0)
  })
})

describe('a long replay', () => {
  test('serves timers and sockets during a long replay, between turns only', async () => {
    const watch = new Watch()
    const spin = (): void => {
      for (let until = performance.now() + 0.1; performance.now() < until; );
    }
    const load = new Load('long', 2_000, spin)
    const timer = setInterval(watch.look, 1)
    const server = createServer((socket) => void socket.pipe(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
    let echoes = 0
    socket.on('data', () => {
      watch.look()
      if (load.outstanding > 0) socket.write('x')
      echoes++
    })
    socket.write('x')
    await drained(load)
    clearInterval(timer)
    socket.end()
    await new Promise((resolve) => server.close(resolve))
    // 200 ms of work in rounds of 4 ms; the bound is loose for a busy machine.
    expect(watch.looked - echoes).toBeGreaterThan(5)
    expect(echoes).toBeGreaterThan(5)
    expect(watch.inTurns).toBe(0)
  })

  test('gives turns to other runs during a long replay', async () => {
    const long = new Load('long', 100_000)
    const order: string[] = []
    const ending = drained(long).then(() => order.push('long'))
    await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 3; i++) await drained(new Load(`short ${i}`, 1)).then(() => order.push(`short ${i}`))
    await ending
    expect(order).toEqual(['short 0', 'short 1', 'short 2', 'long'])
  })
})

describe('code outside turns', () => {
  test('keeps code outside turns out of every turn', async () => {
    const watch = new Watch()
    const { look } = watch
    let over = false
    const repeat = async (once: () => Promise<unknown>): Promise<void> => {
      while (!over) {
        await once()
        look()
      }
    }
    const noise = [
      repeat(() => new Promise((resolve) => setTimeout(resolve, 0))),
      repeat(() => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))),
      repeat(() => stat('/')),
      repeat(() => crypto.subtle.digest('SHA-256', new Uint8Array(10))),
      repeat(() => new Promise((resolve) => randomBytes(8, resolve))),
      repeat(async () => {
        await new Promise((resolve) => setTimeout(resolve, 0))
        process.nextTick(look)
        queueMicrotask(() => {
          look()
          process.nextTick(look)
        })
      }),
    ]
    let wrong = 0
    const check = async (load: Load): Promise<void> => {
      for (let hops = load.delivered % 5; hops > 0; hops--) await null
      if (!load.hasTurn) wrong++
    }
    for (let round = 0; round < 300; round++) {
      const loads = Array.from(
        { length: 5 },
        (_, i) => new Load(`run ${i}`, 1 + i, (load) => void check(load)),
      )
      await Promise.all(loads.map((load) => drained(load)))
    }
    over = true
    await Promise.all(noise)
    expect(wrong).toBe(0)
    expect(watch.inTurns).toBe(0)
    expect(watch.looked).toBeGreaterThan(300)
  })
})

describe('an internal error', () => {
  const emit = process.emit
  afterEach(() => {
    process.emit = emit
  })

  /** Keeps exceptions from the test runner; they come as they would come to an application. */
  function keepExceptions(): string[] {
    const kept: string[] = []
    const keep: (this: NodeJS.Process, event: string, ...details: unknown[]) => boolean = function (
      event,
      ...details
    ) {
      if (event === 'uncaughtException')
        kept.push(`${(details[0] as Error).message}, turn of ${turns.current?.id}`)
      return event.startsWith('uncaughtException') || Reflect.apply(emit as never, this, [event, ...details])
    }
    process.emit = keep as typeof process.emit
    return kept
  }

  test('surfaces outside turns if a delivery fails, and stops driving the run', async () => {
    const exceptions = keepExceptions()
    const faulty = new Load('faulty', 3, () => {
      throw new Error('fault')
    })
    drain(faulty, () => expect.unreachable())
    const others = Array.from({ length: 3 }, (_, i) => new Load(`run ${i}`, 2))
    await Promise.all(others.map((load) => drained(load)))
    await drained(new Load('later', 1))
    expect(exceptions).toEqual(['fault, turn of undefined'])
    expect(faulty.delivered).toBe(1)
    expect(others.map(({ delivered }) => delivered)).toEqual([2, 2, 2])
  })

  test('surfaces outside turns if a callback fails, and calls the other ones', async () => {
    const exceptions = keepExceptions()
    drain(new Load('one', 1), () => {
      throw new Error('fault')
    })
    await Promise.all([drained(new Load('two', 1)), drained(new Load('three', 1))])
    await new Promise((resolve) => setImmediate(resolve))
    await drained(new Load('later', 1))
    expect(exceptions).toEqual(['fault, turn of undefined'])
  })
})

describe('the grace period', () => {
  test('lets activity outside turns finish first', async () => {
    const came: string[] = []
    setTimeout(() => came.push('timer'), 10)
    await new Promise<void>((resolve) => allowGrace(resolve))
    expect(came).toEqual(['timer'])
  })

  test('processes events that arrived while the event loop was blocked', async () => {
    const came: string[] = []
    // Behind an immediate it is the turn of the timers, before what has come in.
    await new Promise((resolve) => setImmediate(resolve))
    const grace = new Promise<void>((resolve) => allowGrace(resolve))
    void crypto.subtle.digest('SHA-256', new Uint8Array(3)).then(() => came.push('digest'))
    void stat('/').then(() => came.push('file'))
    for (const until = performance.now() + 60; performance.now() < until; );
    await grace
    expect(came.sort()).toEqual(['digest', 'file'])
  })
})
