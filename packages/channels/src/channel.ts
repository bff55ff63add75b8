import type {
  Actor,
  Ask,
  AskKind,
  Audience,
  LinkOptions,
  Notice,
  ResumeResolution,
  StepCall,
} from '@pawl/core'

/**
 * Delivers asks and notices to another place, such as a mailbox or a chat. Each delivery is a run of a built-in procedure, so it is retried,
 * survives crashes and has a log. A channel that fails settles nothing.
 * @example
 * const desk: Channel = {
 *   name: 'desk',
 *   can: { form: 'none', identity: 'none' },
 *   deliver: async (ask, { idempotencyKey }) => ({ ref: await tickets.open(idempotencyKey, ask.message) }),
 *   update: (ref, ask) => tickets.close(ref, ask.status),
 * }
 */
export interface Channel {
  /** Name of the channel. It is also the `via` of its answers. Range: 1 to 40 characters of `a-z`, `0-9` and `-`; unique in an engine. */
  readonly name: string
  /** What the channel can show and prove. */
  readonly can: ChannelAbilities
  /** Whether the channel takes an ask that names no channels. Default: it takes every ask it can show. */
  wants?(ask: Ask): boolean
  /**
   * Lists who receives the ask. It runs as a step, and each recipient has a delivery. Default: one delivery, to the channel as a
   * whole. Range: at most 1,000, each name once.
   */
  recipients?(ask: Ask): readonly Recipient[] | Promise<readonly Recipient[]>
  /**
   * Delivers an ask, at least once: pass `idempotencyKey` on, or make the effect repeatable. It runs as a step, with 30 s for each
   * attempt, and is retried for about a day while the ask is open. `ref` is kept for `update`. After a crash the
   * ask may be closed already: `update` follows.
   */
  deliver(ask: Ask, call: DeliverCall): Promise<Delivered | undefined | void>
  /** Says that the ask is settled, at least once. It runs as a step, for each delivery that returned a `ref`. Default: nothing is said. */
  update?(ref: string, ask: Ask, call: UpdateCall): Promise<void>
  /** How the channel delivers notices. Default: it delivers none. */
  readonly notices?: NoticeDelivery
  /** Receives replies. It is called when the engine starts, and the function that it returns when the engine stops. Default: no replies. */
  start?(submit: Submit): () => void | Promise<void>
}

/** How a channel delivers what people are told and need not answer. Each delivery is a run, as that of an ask is. */
export interface NoticeDelivery {
  /** Whether the channel takes a notice. Default: it takes every notice. */
  wants?(notice: Notice): boolean
  /**
   * Lists who receives the notice. It runs as a step, and each recipient has a delivery. Default: one delivery, to the channel as a
   * whole. Range: at most 1,000, each name once.
   */
  recipients?(notice: Notice): readonly Recipient[] | Promise<readonly Recipient[]>
  /**
   * Delivers a notice, at least once: pass `idempotencyKey` on, or make the effect repeatable. It runs as a step, with 30 s for each
   * attempt, and is retried for about a day while the notice exists.
   */
  deliver(notice: Notice, call: NoticeCall): Promise<void>
}

/** What a channel can show and prove. */
export interface ChannelAbilities {
  /** Kinds of asks that the channel can show. Default: all. */
  readonly kinds?: readonly AskKind[]
  /** Forms that people can fill in: none, with scalar fields only, or any. Asks of kind 'input' whose form it cannot show are not delivered. */
  readonly form: 'none' | 'flat' | 'full'
  /**
   * How answers prove who gave them. 'verified': the channel authenticates people, and may submit their answers. 'link': people
   * answer behind a link that Pawl signs. 'none': it only informs. Replies through the last two are comments.
   */
  readonly identity: 'verified' | 'link' | 'none'
}

/** Who receives a delivery. */
export interface Recipient {
  /** The person, group, role or queue. With `identity: 'link'`, a person gets a link of their own. */
  readonly name: Audience
  /** Where the channel reaches them, such as a mail address. Default: the name says it. */
  readonly address?: string | undefined
}

/** The result of `deliver`. */
export interface Delivered {
  /** Names what was delivered, for `update`. Default: `update` is not called. Range: at most 2,000 characters. */
  readonly ref?: string | undefined
}

/** The second argument of `deliver`. */
export interface DeliverCall extends StepCall {
  /** Who receives it; undefined for a channel without `recipients`. */
  readonly recipient: Recipient | undefined
  /** Link with which the recipient answers without a login; undefined without the option `links`, or for no person. */
  readonly link: string | undefined
  /** Address of the ask in the inbox, which asks for a login; undefined without the option `links`. */
  readonly page: string | undefined
}

/** The second argument of `deliver` for a notice. */
export interface NoticeCall extends StepCall {
  /** Who receives it; undefined for a channel whose `notices` have no `recipients`. */
  readonly recipient: Recipient | undefined
  /** Address of the notices in the inbox, which asks for a login; undefined without the option `links`. */
  readonly page: string | undefined
}

/** The third argument of `update`. */
export interface UpdateCall extends StepCall {
  /** Who received it; undefined for a channel without `recipients`. */
  readonly recipient: Recipient | undefined
}

/** A text that is no answer. It is kept in the log of the delivery, and settles nothing. */
export interface Comment {
  readonly comment: string
}

/** Who replies, as the channel knows them. */
export interface Sender {
  /** The person. Range: begins with `user:`. */
  readonly as: Actor
  /** Groups, roles and queues of the person, which decide with the name whether the ask is addressed to them. Default: none. */
  readonly names?: readonly Audience[]
  /** The `digest` of the ask as the person was shown it: an answer to a question that differs now is refused. Default: not compared. */
  readonly digest?: string | undefined
  /**
   * The `ref` of the delivery that is replied to, as `deliver` returned it. A comment on another one is refused: a sender who only
   * knows the id of the ask has not received it. Default: not compared.
   */
  readonly ref?: string | undefined
}

/**
 * Passes a reply on. A comment is kept with the delivery, and any other reply is an answer.
 * @throws PawlError 'answer-forbidden' (the channel proves no identity, or the ask is not addressed to the sender), 'ask-closed', 'ask-changed',
 * 'answer-invalid', 'ask-not-found', 'option-invalid', 'payload-refused', 'engine-stopped'
 */
export type Submit = (ask: string, reply: ResumeResolution | Comment, sender: Sender) => Promise<void>

/** The options of `channels`. */
export interface ChannelsOptions {
  /** For the links of deliveries: the address of the server, and the keys that it verifies with. Default: deliveries have no links. */
  readonly links?: LinkOptions
}
