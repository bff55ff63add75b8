import {
  type ChildRun,
  type Effect,
  messageKindCode,
  type NewAsk,
  type NewCheckpoint,
  type NewNotice,
  type OutgoingMessage,
  unreachable,
} from '@pawl/core/storage'
import {
  listBooleans,
  listBytes,
  listIntegers,
  listSmallints,
  listTexts,
  writeLiteral,
} from '../connection/fast-path/lists.ts'
import type { Value } from '../connection/fast-path/values.ts'
import { EventColumns } from './columns.ts'
import { bindNotices } from './notices.ts'

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
    listSmallints(sends.map(({ value }) => messageKindCode.numberOf[value.kind])),
    listTexts(sends.map(({ value }) => value.name)),
    listTexts(sends.map(({ value }) => value.key)),
    listBytes(sends.map(({ value }) => value.payload)),
    listBooleans(sends.map(({ value }) => value.must)),
  ]
}

function bindChildren(children: readonly Item<ChildRun>[]): readonly Value[] {
  const events = new EventColumns()
  for (const [index, { value }] of children.entries()) events.add(index + 1, 0, value.started, null)
  return [
    listIntegers(children.map(({ i }) => i)),
    listIntegers(children.map(({ item }) => item)),
    listTexts(children.map(({ value }) => value.id)),
    listTexts(children.map(({ value }) => value.procedure)),
    listIntegers(children.map(({ value }) => value.version)),
    listBytes(children.map(({ value }) => value.link)),
    listTexts(children.map(({ value }) => value.startedBy)),
    // A list in a list: `unnest` would flatten them.
    listTexts(children.map(({ value }) => writeLiteral(value.tags))),
    listTexts(children.map(({ value }) => value.parent.run)),
    listIntegers(children.map(({ value }) => value.parent.position)),
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
