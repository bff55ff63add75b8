import type { Claimant, Claimed, NewMessage, RunKey, WholeStore, WorkerKey } from '@pawl/core/storage'
import { allAsks, allRuns, answerTo, bytes, hex, newRun, started } from '../builders.ts'
import type { Dump } from '../subject.ts'
import { type Model, pickMarked, pickOwner, pickRun, planUnits } from './model.ts'
import type { Operation, PlannedMessage, PlannedRun } from './operations.ts'

/** A worker number that no store ever assigns. */
const noWorker: WorkerKey = -1

/** Plays operations on one store and reports their outcomes in a form that is equal for every store. */
export class Player {
  readonly #port: WholeStore
  readonly #workers: WorkerKey[] = []
  readonly #keys = new Map<string, RunKey>()
  readonly #ids = new Map<RunKey, string>()

  constructor(port: WholeStore) {
    this.#port = port
  }

  /** Plays an operation. `model` is the state before it, the same for every store. */
  async play(operation: Operation, model: Model): Promise<unknown> {
    const port = this.#port
    switch (operation.do) {
      case 'register':
        this.#workers.push(
          await port.workers.register({ name: 'test', leaseMs: operation.isDoomed ? -1000 : 600_000 }),
        )
        return null
      case 'beat':
        return port.workers.beat(this.#worker(operation.worker))
      case 'release':
        await port.workers.release(this.#worker(operation.worker))
        return null
      case 'sweep':
        return port.workers.sweep()
      case 'create':
        return this.#create(operation.runs)
      case 'commit': {
        const owner = pickOwner(model, operation.worker)
        const worker = this.#workers[owner] ?? noWorker
        const units = planUnits(model, owner, operation.units)
        return this.#show(
          await port.log.commit(
            worker,
            units.map(({ id, ...unit }) => ({ ...unit, run: this.#key(id) })),
          ),
        )
      }
      case 'send': {
        const messages = operation.messages.map((message) =>
          showMessage(pickRun(model, message.run), message),
        )
        return this.#show(await port.mail.send(messages, this.#claimant(operation.claimant)))
      }
      case 'answer': {
        const answers = operation.answers.map(({ run, position, by, payload }) =>
          answerTo(pickRun(model, run), position, { by: `user:${by}`, payload }),
        )
        return this.#show(await port.asks.answer(answers, this.#claimant(operation.claimant)))
      }
      case 'mark': {
        const run = model.runs[operation.run % Math.max(1, model.runs.length)]
        if (!run) return false
        const mark = operation.isStuck ? 'stuck' : 'quarantined'
        const epoch = run.epoch + operation.epochOff
        return port.runs.mark(
          this.#workers[run.worker ?? 0] ?? noWorker,
          this.#key(run.id),
          epoch,
          mark,
          bytes('why'),
          operation.isStuck ? undefined : 'crashes',
        )
      }
      case 'retry':
        return port.runs.retry(
          this.#key(pickMarked(model, operation.run)),
          operation.isStuck ? 'stuck' : 'quarantined',
        )
      case 'claim': {
        const { runs } = await port.claims.claim(this.#claimantOf(operation), 1000)
        return this.#show([...runs].sort(byId))
      }
      case 'suspects': {
        const found = await port.suspects.list(this.#claimantOf(operation), 1000)
        return this.#show(found.map((one) => ({ ...one, id: this.#ids.get(one.run) ?? '' })).sort(byId))
      }
      case 'take': {
        const runs = operation.runs.map((number) => this.#key(pickRun(model, number)))
        const taken = await port.claims.take(
          { worker: this.#worker(operation.worker), procedures: [{ name: 'refund', versions: [1, 2] }] },
          [...new Set(runs)],
        )
        return this.#show([...taken].sort(byId))
      }
      case 'endTest':
        await port.suspects.endTest(this.#worker(operation.worker))
        return null
      case 'retryStuck':
        return port.claims.retryStuck(this.#claimantOf(operation))
      case 'read':
        return this.#read(pickRun(model, operation.run), operation.from)
    }
  }

  async #create(runs: readonly PlannedRun[]): Promise<unknown> {
    const created = await this.#port.runs.create(
      runs.map(({ name, procedure, version, worker, payload }) =>
        newRun(`run ${name}`, {
          procedure,
          version,
          worker: worker === null ? null : this.#worker(worker),
          started: started({ payload }),
          tags: [`tag ${name % 3}`],
        }),
      ),
    )
    for (const [index, { run }] of created.entries()) {
      const id = `run ${runs[index]?.name}`
      this.#keys.set(id, run)
      this.#ids.set(run, id)
    }
    return this.#show(created)
  }

  async #read(id: string, from: number): Promise<unknown> {
    const key = this.#key(id)
    const asks = await this.#port.asks.list(allAsks({ limit: 1000 }))
    const byName = await this.#port.asks.list(allAsks({ to: ['team:finance'], limit: 1000 }))
    return this.#show([
      await this.#port.runs.find(id),
      await this.#port.log.load(key, from, 5),
      await this.#port.mail.list(key, from),
      await this.#port.asks.find(id, from),
      await this.#port.asks.findByKey(id, `key ${from}`),
      await this.#port.runs.list(allRuns({ statuses: ['waiting', 'stuck', 'completed'], limit: 1000 })),
      await this.#port.runs.list(allRuns({ tag: `tag ${from}`, limit: 3 })),
      // The order of asks of one urgency depends on the clock of each store.
      ...[asks, byName].map((rows) =>
        [...rows].sort((a, b) => byId({ id: a.run }, { id: b.run }) || a.position - b.position),
      ),
    ])
  }

  /** Returns the state, with workers as numbers. */
  readModel(dump: Dump): Model {
    return {
      runs: dump.runs.map((run) => ({ ...run, worker: run.worker && this.#workers.indexOf(run.worker) })),
    }
  }

  /** Returns a dump in the same form. */
  showDump(dump: Dump): unknown {
    return this.#show({ ...dump, ...this.readModel(dump) })
  }

  /** Returns one of the newest workers; older ones are mostly dead. */
  #worker(number: number): WorkerKey {
    return this.#workers.at(-1 - number) ?? noWorker
  }

  #key(id: string): RunKey {
    return this.#keys.get(id) ?? noWorker
  }

  #claimantOf({ worker, ...claimant }: Omit<Claimant, 'worker'> & { readonly worker: number }): Claimant {
    return { ...claimant, worker: this.#worker(worker) }
  }

  #claimant(worker: number | null): Claimant | null {
    return worker === null
      ? null
      : { worker: this.#worker(worker), procedures: [{ name: 'refund', versions: [1, 2] }] }
  }

  /** Removes what differs between stores: times, keys of runs and kinds of byte arrays. */
  #show(value: unknown): unknown {
    return JSON.parse(
      JSON.stringify(value, (name, one: unknown) => {
        if (one instanceof Uint8Array) return hex(one)
        if (typeof one !== 'number') return isBufferJson(one) ? Buffer.from(one.data).toString('hex') : one
        if (name === 'run' || name === 'runKey') return this.#ids.get(one) ?? 'unknown run'
        return one > 1_600_000_000_000 && one < 8_000_000_000_000 ? 'now' : one
      }),
    )
  }
}

function showMessage(run: string, { isEarly, name, key, payload }: PlannedMessage): NewMessage {
  const kind = isEarly ? 'early' : 'signal'
  const by = isEarly ? null : `user:${name}`
  return { run, kind, name: `key ${name}`, key: key === null ? null : `message ${key}`, by, payload }
}

/** The JSON form of a Buffer, which `toJSON` produces before a replacer runs. */
function isBufferJson(value: unknown): value is { readonly data: readonly number[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value
  )
}

function byId(a: Pick<Claimed, 'id'>, b: Pick<Claimed, 'id'>): number {
  return a.id < b.id ? -1 : Number(a.id > b.id)
}
