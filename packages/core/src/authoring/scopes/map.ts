import { checkArray, checkFunction } from '../../checks/options.ts'
import { oneOf, optional, readOptions, type Spec, type Values, whole } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { createScope, type Scope } from '../../kernel/scope.ts'
import type { MapOptions } from './scope-ops.ts'
import type { Scoped } from './scoped.ts'

type Each<C> = (item: unknown, ctx: C, index: number) => unknown

const mapOptions = {
  concurrency: optional(whole(1, 1_000), 10),
  onError: optional(oneOf(['stop', 'collect']), 'stop'),
} satisfies Spec<MapOptions>

type MapSettings = Values<typeof mapOptions>

/** Calls `each` for every item, in a separate scope, with limited concurrency. */
export function map<C>(
  scoped: Scoped<C>,
  given: unknown,
  each: unknown,
  options: unknown,
): Promise<readonly unknown[]> {
  scoped.bodies.check(scoped.scope)
  const items = [...checkArray('items of map', given)]
  checkFunction('function of map', each)
  const settings = readOptions('of map', options, mapOptions)
  return new Promise((resolve, reject) => {
    new Mapping(scoped, items, each as Each<C>, settings, resolve, reject).goOn()
  })
}

/**
 * A running map. The number of hops between the promise of an item and the next item, or the end, is part of the log
 * format: a change would break golden logs.
 */
class Mapping<C> {
  readonly #scoped: Scoped<C>
  readonly #items: readonly unknown[]
  readonly #each: Each<C>
  readonly #settings: MapSettings
  readonly #resolve: (results: readonly unknown[]) => void
  readonly #reject: (error: unknown) => void
  /** The scope of all items, so that they are closed together. */
  readonly #scope: Scope
  readonly #results: unknown[]
  #next = 0
  #atWork = 0
  #isOver = false

  constructor(
    scoped: Scoped<C>,
    items: readonly unknown[],
    each: Each<C>,
    settings: MapSettings,
    resolve: (results: readonly unknown[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#scoped = scoped
    this.#items = items
    this.#each = each
    this.#settings = settings
    this.#resolve = resolve
    this.#reject = reject
    this.#scope = createScope(scoped.scope)
    this.#results = new Array(items.length)
  }

  /** Starts items up to the concurrency; the last to settle ends the map. */
  goOn(): void {
    if (this.#isOver) return
    const { concurrency } = this.#settings
    while (this.#next < this.#items.length && this.#atWork < concurrency) this.#call(this.#next++)
    if (this.#atWork > 0) return
    this.#isOver = true
    this.#resolve(this.#results)
  }

  #call(index: number): void {
    const { bodies, ctxOf } = this.#scoped
    const own = createScope(this.#scope)
    const isCollecting = this.#settings.onError === 'collect'
    this.#atWork++
    bodies
      .call(own, `item ${index} of map`, () => this.#each(this.#items[index], ctxOf(own), index))
      .then(
        (value) => this.#onSettled(index, isCollecting ? { status: 'fulfilled', value } : value),
        (reason: unknown) =>
          isCollecting ? this.#onSettled(index, { status: 'rejected', reason }) : this.#stop(index, reason),
      )
  }

  #onSettled(index: number, result: unknown): void {
    if (this.#isOver) return
    this.#results[index] = result
    this.#atWork--
    if (this.#next < this.#items.length) this.#giveUpIfClosed()
    this.goOn()
  }

  /** Starts no further item in a closed scope, where its operations would be refused. */
  #giveUpIfClosed(): void {
    const refusal = this.#scoped.scopes.refusalOf(this.#scope)
    if (refusal === null) return
    const { error } = refusal
    if (error === null) this.#isOver = true
    else if (this.#settings.onError === 'stop') this.#fail(error())
    else
      for (; this.#next < this.#items.length; this.#next++)
        this.#results[this.#next] = { status: 'rejected', reason: error() }
  }

  #stop(index: number, reason: unknown): void {
    if (this.#isOver) return
    this.#scoped.scopes.close([this.#scope], () => stoppedBy(index))
    this.#fail(reason)
  }

  #fail(reason: unknown): void {
    this.#isOver = true
    this.#reject(reason)
  }
}

function stoppedBy(index: number): PawlError {
  return new PawlError(
    'cancelled',
    { reason: `item ${index} of the map failed` },
    {
      what: `Item ${index} of a \`ctx.map\` failed, which closed the others.`,
      next: 'Every pending operation of the other items rejects with this error.',
    },
  )
}
