import type { Duration } from '../../base/duration.ts'
import type { Actor } from '../../base/people.ts'
import type { NoOthers } from '../../base/refused.ts'
import { checkFunction, checkName, checkObject, checkSchema } from '../../checks/options.ts'
import { readOptions, required, type Spec } from '../../checks/spec.ts'
import type { Schema } from '../../schemas/schema.ts'
import type { AskOptions, Choice, ValueOf } from '../human/ask.ts'
import type { InputOf, ParsedOf } from '../procedure-types.ts'
import { attemptOptions, defaultPolicy, policyOf, type StepPolicy } from '../step/options.ts'
import type { AttemptOptions, StepCall } from '../step/step.ts'
import { type Question, type Verdict, verdictSchema } from './verdict.ts'

declare const types: unique symbol

/** A model or tool call with typed input and output. Created by {@link agent}. */
export interface Agent<Input, Output> {
  readonly name: string
  readonly [types]?: { readonly input: (input: Input) => void; readonly output: Output }
}

/** Cost of a call to a model. */
export interface Usage {
  readonly model?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly costUsd?: number | undefined
}

/** The second argument of an agent's body: a step call that also reports usage. */
export interface AgentCall extends StepCall {
  /**
   * Reports the cost of the call and stores it in the log, with any other field the provider returns. Values that are
   * undefined, null or NaN are omitted. May be called several times: after 20 reports, further ones are added up by
   * model. Range: at most 1,000 bytes for each report, no negative numbers.
   * @throws PawlError 'option-invalid', 'payload-refused'
   */
  usage(usage: Usage): void
}

// biome-ignore-start lint/suspicious/noExplicitAny: a schema of anything
/** The options of `agent`. */
export interface AgentSpec extends AttemptOptions {
  /** Name in the log, and in tests that replace the agent. Range: 1 to 200 characters. */
  readonly name: string
  /** Schema of the input. */
  readonly input: Schema<any, any>
  /** Schema of the output. */
  readonly output: Schema<any, any>
}
type AgentBody<S> = S extends { readonly output: Schema<infer Returned, any> }
  ? (input: ParsedOf<S>, call: AgentCall) => Promise<Returned>
  : never
type AgentOutput<S> = S extends { readonly output: Schema<any, infer Out> } ? Out : never
// biome-ignore-end lint/suspicious/noExplicitAny: a schema of anything

// In the symbol registry, so that an agent created by another copy of the package is recognized.
const definition = Symbol.for('@pawl/core/agent')

/** The code of an agent, as the worker calls it. */
export interface AgentDefinition {
  readonly name: string
  /** Undefined for a decider: the engine creates its questions. */
  readonly input: Schema | undefined
  readonly output: Schema
  /** The policy of a call without options. */
  readonly policy: StepPolicy
  readonly body: (input: unknown, call: AgentCall) => Promise<unknown>
}

const agentOptions = {
  name: required(checkName),
  input: required(checkSchema),
  output: required(checkSchema),
  ...attemptOptions,
} satisfies Spec<AgentSpec>

/**
 * Defines an agent: a call to a model or tool with typed input and output. Procedures use it directly; it is not
 * registered with the engine. Tests replace it by name.
 * @throws PawlError 'option-invalid', 'duration-invalid'
 * @example
 * export const writer = agent(
 *   { name: 'writer', input: z.object({ topic: z.string() }), output: z.object({ text: z.string() }) },
 *   async ({ topic }, { signal, usage }) => { … },
 * )
 */
export function agent<const S extends AgentSpec>(
  spec: S & NoOthers<S, AgentSpec, 'agent'>,
  body: AgentBody<S>,
): Agent<InputOf<S>, AgentOutput<S>> {
  const given = checkObject('options of agent', spec)
  const named = checkName('name of agent', given['name'])
  const options = readOptions(`of agent '${named}'`, given, agentOptions, 'the options of agent')
  const { name, input, output } = options
  return makeAgent({
    name,
    input,
    output,
    policy: policyOf(options),
    body: body as AgentDefinition['body'],
  })
}

/**
 * Defines an agent that makes decisions, for `ctx.agent.decide` and the `decider` of an engine.
 * @throws PawlError 'option-invalid'
 * @example
 * const critic = decider('critic', async ({ question, choices, material }) => ({ choice: 'approve', rationale: '…' }))
 */
export function decider(
  name: string,
  body: (question: Question, call: AgentCall) => Promise<Verdict>,
): Agent<Question, Verdict> {
  checkName('name of decider', name)
  checkFunction(`body of decider '${name}'`, body)
  return makeAgent({
    name,
    input: undefined,
    output: verdictSchema,
    policy: defaultPolicy,
    body: body as AgentDefinition['body'],
  })
}

function makeAgent(defined: AgentDefinition): { readonly name: string } {
  checkFunction(`body of agent '${defined.name}'`, defined.body)
  const made = { name: defined.name, [definition]: Object.freeze(defined) }
  Object.defineProperty(made, definition, { enumerable: false })
  return Object.freeze(made)
}

/** Returns the code of an agent; undefined if neither {@link agent} nor {@link decider} created the value. */
export function agentDefinitionOf(value: unknown): AgentDefinition | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as { readonly [definition]?: AgentDefinition })[definition]
}

/** The options of `ctx.agent.decide`. */
export interface DecideOptions<C extends string> extends Pick<AskOptions, 'key' | 'details' | 'history'> {
  /**
   * Outcome if the agent throws, times out, answers outside the choices or is unsure. A choice is used as the decision;
   * `{ ask }` asks people, with the options of any question, and rejects with 'ask-timed-out' if its `timeout` passes;
   * `{ fail: 'reason' }` rejects with 'step-failed'.
   */
  readonly fallback: C | { readonly ask: AskOptions } | { readonly fail: string }
  /** Payload that the decision is about, shown to the agent and to people. Default: none. */
  readonly material?: unknown
  /** Agent that decides. Default: the `decider` of the engine. */
  readonly agent?: Agent<Question, Verdict>
  /** Confidence below which the fallback is used; a verdict without a confidence counts as 0. Default: 0. Range: from 0 to 1. */
  readonly minConfidence?: number
  /** Maximum duration of each attempt. Default: '1m'. */
  readonly timeout?: Duration
  /** Maximum number of attempts, including the first. Default: 2. Range: whole numbers from 1. */
  readonly attempts?: number
}

/** The outcome of `ctx.agent.decide`. */
export interface Decision<C extends string> {
  /** Value of the choice. */
  readonly choice: C
  /** Who decided. */
  readonly source: 'agent' | 'person' | 'fallback'
  /** What the agent did: 'unsure' is below `minConfidence`, 'invalid' is outside the choices. */
  readonly why: 'decided' | 'unsure' | 'timed-out' | 'failed' | 'invalid'
  /** Reason of the agent, or the comment of the person; '' if there is none. */
  readonly rationale: string
  /** Confidence of the agent; undefined if a person decided. */
  readonly confidence: number | undefined
  /** The agent or the person who decided. */
  readonly by: Actor
}

/** The options of a call to an agent. */
export interface AgentCallOptions extends AttemptOptions {
  /** Name of this call in the log. Default: the name of the agent. Range: 1 to 200 characters. */
  readonly name?: string
}

/** Calls to agents. */
export interface AgentOps {
  /**
   * Calls an agent and records its output and usage. Replay returns the recorded output without a call.
   * @throws PawlError 'step-failed', 'step-timed-out', 'payload-refused' (also of the input)
   * @example const draft = await ctx.agent(writer, { topic })
   */
  <In, Out>(agent: Agent<In, Out>, input: NoInfer<In>, options?: AgentCallOptions): Promise<Out>
  /**
   * Lets an agent choose, and falls back if it cannot.
   * @throws PawlError 'step-failed' (with `fallback: { fail }`), 'ask-timed-out' (if `fallback.ask` has a timeout)
   * @example
   * const verdict = await ctx.agent.decide('Is the list plausible?', ['continue', 'abort'], {
   *   material: files.slice(0, 20), minConfidence: 0.8, fallback: { ask: { to: 'group:ops' } },
   * })
   */
  decide<const C extends readonly Choice[]>(
    question: string,
    choices: C,
    options: DecideOptions<ValueOf<C[number]>>,
  ): Promise<Decision<ValueOf<C[number]>>>
}
