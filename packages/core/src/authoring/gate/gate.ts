import type { Duration } from '../../base/duration.ts'
import type { Actor } from '../../base/people.ts'
import type { PolicyVerdict } from '../../base/words.ts'
import type { DecideOptions } from '../agent/agent.ts'
import type { ConsentAsk } from '../human/human.ts'
import type { ActionClass } from '../policy/policy.ts'
import type { AttemptOptions, StepCall } from '../step/step.ts'

/** The options of `ctx.gate`. `P`: what is approved. `F`: the facts that the approval depends on. `R`: the result of the action. */
export interface Gate<P extends object, F, R> extends AttemptOptions {
  /** What will be done: shown to the person or agent, and passed to `run` as approved. */
  readonly params: P
  /** Kinds of the action, for the `policy` of the engine. Default: none. */
  readonly classes?: readonly ActionClass[]
  /**
   * Who must agree. The stricter of this and the `policy` of the engine counts: 'allow' < 'agent' < 'human' < 'deny'. A policy
   * that throws means 'human'. Default: 'human'.
   */
  readonly policy?: (params: NoInfer<P>) => PolicyVerdict
  /** How an agent is asked, for the verdict 'agent'. Without an agent here and in the engine, a person is asked. Default: the `decider` of the engine. */
  readonly agent?: GateAgent
  /** How people are asked, for the verdict 'human'. Default: the message is the name of the gate with a question mark. */
  readonly human?: ConsentAsk<NoInfer<P>>
  /**
   * Reads what the approval depends on: when asking, and again before acting, also before each later attempt and in a retried run. If
   * it has changed, the question is asked again with the difference, at most 3 times. Default: none.
   */
  readonly facts?: () => F | Promise<F>
  /** Time after which a yes is asked again, judged when an attempt of the action begins. Default: none. */
  readonly validFor?: Duration
  /** The action. It runs with the params as approved and the facts as read last. */
  readonly run: (params: NoInfer<P>, call: StepCall, facts: NoInfer<F>) => R
  /** Undoes the action, as the `undo` of a step. Default: none. */
  readonly undo?: (result: NoInfer<Awaited<R>>, call: StepCall) => unknown
}

/** How an agent decides for a gate: 'approve', 'reject' or 'ask-human'. */
export interface GateAgent
  extends Omit<DecideOptions<'approve' | 'reject' | 'ask-human'>, 'material' | 'fallback' | 'key'> {
  /** Text of the question. Default: the name of the gate with a question mark. */
  readonly question?: string
  /** Outcome if the agent cannot decide. Default: 'ask-human'. */
  readonly fallback?: 'reject' | 'ask-human'
}

/** The result of `ctx.gate`. */
export type Gated<P, R> = Done<P, R> | NotDone

/** The action was carried out. */
interface Done<P, R> {
  readonly done: true
  /** The result of the action. */
  readonly value: R
  /** The params as approved. */
  readonly params: P
  /** Who agreed to it. */
  readonly by: Actor
}

/** The action was not carried out. */
export interface NotDone {
  readonly done: false
  /** Why: a policy forbids it, an agent or a person said no, no person answered in time, or the facts changed in each of 3 rounds. */
  readonly reason: 'denied' | 'rejected' | 'timed-out' | 'changing'
  /** Who refused it. */
  readonly by: Actor
  /** Set if an attempt of the action has failed before: it may have had its effect. */
  readonly attempted?: boolean
}
