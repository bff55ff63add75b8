import {
  type ChildRun,
  type Effect,
  type NewAsk,
  type NewCheckpoint,
  type NewNotice,
  type OutgoingMessage,
  unreachable,
} from '@pawl/core/storage'
import { listBooleans, listBytes, listIntegers, listTexts } from '../connection/fast-path/lists.ts'
import type { Value } from '../connection/fast-path/values.ts'
import { EventColumns } from './columns.ts'
import { bindNotices } from './notices.ts'
import { infoColumns, messageColumns, runColumns } from './rows.ts'

/** Collects the effects that only the widest statement writes as its lists. */
export class WideEffects {
  readonly #sends: Item<OutgoingMessage>[] = []
  readonly #children: Item<ChildRun>[] = []
  readonly #replies: Item<Reply>[] = []
  readonly #states: Item<Exposed>[] = []
  readonly #checkpoints: Item<NewCheckpoint>[] = []
  readonly #notices: Item<NewNotice>[] = []
  readonly #replacing: Item<NewAsk>[] = []
  readonly #bases: (number | null)[]

  constructor(units: number) {
    this.#bases = new Array(units).fill(null)
  }

  add(place: Place, effect: Effect): void {
    switch (effect.do) {
      case 'send':
        this.#sends.push({ ...place, value: effect.message })
        return
      case 'create-run':
        this.#children.push({ ...place, value: effect.run })
        return
      case 'reply':
      case 'give-back':
        this.#replies.push({ ...place, value: effect })
        return
      case 'expose':
        this.#states.push({ ...place, value: effect })
        return
      case 'checkpoint':
        this.#checkpoints.push({ ...place, value: effect.checkpoint })
        return
      case 'notify':
        this.#notices.push({ ...place, value: effect.notice })
        return
      case 'begin-generation':
        this.#bases[place.i - 1] = effect.base
        return
      case 'open-ask':
        if (effect.ask.replaces === true) this.#replacing.push({ ...place, value: effect.ask })
        return
      // The full statement binds these.
      case 'close-ask':
      case 'consume':
      case 'show':
        return
      default:
        unreachable(effect)
    }
  }

  values(): readonly Value[] {
    const [replacing, checkpoints] = [this.#replacing, this.#checkpoints]
    return [
      ...bindSends(this.#sends),
      ...bindChildren(this.#children),
      ...bindReplies(this.#replies),
      ...bindStates(this.#states),
      listIntegers(replacing.map(({ i }) => i)),
      listIntegers(replacing.map(({ value }) => value.position)),
      listTexts(replacing.map(({ value }) => value.key)),
      listIntegers(this.#bases),
      listIntegers(checkpoints.map(({ i }) => i)),
      listIntegers(checkpoints.map(({ value }) => value.slot)),
      listIntegers(checkpoints.map(({ value }) => value.position)),
      listTexts(checkpoints.map(({ value }) => value.name)),
      listBytes(checkpoints.map(({ value }) => value.payload)),
      listIntegers(this.#notices.map(({ i }) => i)),
      ...bindNotices(this.#notices.map(({ value }) => value)),
    ]
  }
}

/** `i`: the place of the unit, from 1. `item`: the index of the effect. */
interface Place {
  readonly i: number
  readonly item: number
}

interface Item<Value> extends Place {
  readonly value: Value
}

type Reply = Effect & { readonly do: 'reply' | 'give-back' }
type Exposed = Effect & { readonly do: 'expose' }

function bindSends(sends: readonly Item<OutgoingMessage>[]): readonly Value[] {
  return [
    listIntegers(sends.map(({ i }) => i)),
    listIntegers(sends.map(({ item }) => item)),
    listTexts(sends.map(({ value }) => value.run)),
    listBooleans(sends.map(({ value }) => value.must)),
    ...messageColumns.lists(sends.map(({ value }) => value)),
  ]
}

function bindChildren(children: readonly Item<ChildRun>[]): readonly Value[] {
  const events = new EventColumns()
  const runs = children.map(({ value }) => value)
  for (const [index, { started }] of runs.entries()) events.add(index + 1, 0, started, null)
  return [
    listIntegers(children.map(({ i }) => i)),
    listIntegers(children.map(({ item }) => item)),
    listTexts(runs.map(({ parent }) => parent.run)),
    listIntegers(runs.map(({ parent }) => parent.position)),
    ...runColumns.lists(runs),
    ...infoColumns.lists(runs),
    ...events.values(),
  ]
}

function bindReplies(replies: readonly Item<Reply>[]): readonly Value[] {
  return [
    listIntegers(replies.map(({ i }) => i)),
    listIntegers(replies.map(({ value }) => value.n)),
    listBytes(replies.map(({ value }) => value.payload)),
    listBooleans(replies.map(({ value }) => value.do === 'reply')),
  ]
}

function bindStates(states: readonly Item<Exposed>[]): readonly Value[] {
  return [
    listIntegers(states.map(({ i }) => i)),
    listTexts(states.map(({ value }) => value.name)),
    listBytes(states.map(({ value }) => value.payload)),
  ]
}
