import { implementCallable } from '../../base/implement.ts'
import { checkName, checkObject, checkShown, refuse } from '../../checks/options.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import { listIssues } from '../../errors/catalogue.ts'
import { FinalError } from '../../errors/final-error.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { unnamedDecision } from '../../events/event.ts'
import { decode, encode } from '../../events/payload.ts'
import type { Effects } from '../../ports/effects.ts'
import { outputJsonSchemaOf, type Schema, validate } from '../../schemas/schema.ts'
import { createDecideAsk } from '../human/context.ts'
import { readChoices } from '../human/options.ts'
import type { BodyOperation, DecideOperation, IssueOperation } from '../operations.ts'
import { readAgentOutput, readDecision } from '../results.ts'
import { attemptOptions, policyOf } from '../step/options.ts'
import {
  type AgentCall,
  type AgentCallOptions,
  type AgentDefinition,
  type AgentOps,
  agentDefinitionOf,
} from './agent.ts'
import { type DecideSettings, readDecideOptions } from './decide-options.ts'
import { verdictSchema } from './verdict.ts'

/** The services of the engine for agent calls. */
interface WorkerServices {
  readonly effects: Effects
  /** The default agent for `decide`. */
  readonly decider: AgentDefinition | undefined
}

/** Builds `ctx.agent`: calls to agents, and decisions made by them. */
export function createAgentOps(issue: IssueOperation, services: WorkerServices): AgentOps {
  return implementCallable<AgentOps>(
    (agent: unknown, input: unknown, given?: unknown) => issue(agentCall(agent, input, given, services)),
    {
      decide: (question: unknown, choices: unknown, given: unknown) =>
        issue(decision(question, choices, given, services)),
    },
  )
}

const agentCallOptions = { name: optional(checkName), ...attemptOptions } satisfies Spec<AgentCallOptions>

/** Builds the operation of a call to an agent. */
export function agentCall(
  agent: unknown,
  input: unknown,
  given: unknown,
  { effects }: WorkerServices,
): BodyOperation {
  const definition =
    agentDefinitionOf(agent) ??
    refuse('agent of ctx.agent', agent, 'It must be created by agent() or decider().')
  const options = checkObject('options of ctx.agent', given)
  const { name: renamed } = options
  const name = renamed === undefined ? definition.name : checkName('name of ctx.agent', renamed)
  const policy = policyOf(readOptions(`of agent '${name}'`, options, agentCallOptions), definition.policy)
  const bytes = encode(input, 'input')
  const body = effects.agent(definition.name, definition.body)
  return {
    ...{ kind: 'llm', name, read: readAgentOutput },
    ...policy,
    input: bytes,
    outputSchema: () => jsonOutputOf(definition),
    // Each attempt gets its own copy, so that the procedure never sees an agent's changes to its input.
    body: (call: AgentCall) => callAgent({ ...definition, body }, decode(bytes), call),
  }
}

/** By agent, since calls are many. */
const outputSchemas = new WeakMap<AgentDefinition, object>()

function jsonOutputOf(definition: AgentDefinition): object | undefined {
  const known = outputSchemas.get(definition) ?? outputJsonSchemaOf(definition.output)
  if (known !== undefined) outputSchemas.set(definition, known)
  return known
}

async function callAgent(
  { name, input: accepts, output: returns, body }: AgentDefinition,
  input: unknown,
  call: AgentCall,
): Promise<unknown> {
  const given = await check(accepts, input)
  if (!given.ok)
    throw new FinalError(`the input of agent "${name}" does not match its schema: ${listIssues(given)}`, {
      code: 'input-invalid',
    })
  return checkOutput(name, returns, await body(given.value, call))
}

async function checkOutput(name: string, returns: Schema, value: unknown): Promise<unknown> {
  const output = await validate(returns, value)
  if (output.ok) return output.value
  throw Object.assign(
    new Error(`the output of agent "${name}" does not match its schema: ${listIssues(output)}`),
    { code: 'output-invalid' },
  )
}

function check(schema: Schema | undefined, value: unknown): ReturnType<typeof validate> {
  return schema === undefined ? { ok: true, value } : validate(schema, value)
}

/** Builds the operation of `ctx.agent.decide`. */
export function decision(
  question: unknown,
  given: unknown,
  options: unknown,
  { effects, decider }: WorkerServices,
): DecideOperation {
  const asked = checkShown('question of decide', question)
  const of = `of decide '${asked.slice(0, 60)}'`
  const choices = readChoices(`choices ${of}`, given)
  const settings = readDecideOptions(of, options, choices)
  const { material, agent, key, details, history } = settings
  const chosen = readDecider(of, agent, decider)
  const body = effects.agent(chosen.name, chosen.body)
  const values = choices.map(({ value }) => value)
  const bytes = encode(material, 'material')
  return {
    ...{
      kind: 'ail_decision',
      name: key ?? unnamedDecision,
      read: readDecision,
    },
    question: asked,
    material: bytes,
    agentName: chosen.name,
    assess: async (call) => {
      const given = { question: asked, choices: [...values], material: decode(bytes) }
      // An agent with its own output schema may return something other than a verdict.
      return checkOutput(chosen.name, verdictSchema, await callAgent({ ...chosen, body }, given, call))
    },
    choices: values,
    minConfidence: settings.minConfidence,
    timeoutMs: settings.timeoutMs,
    attempts: settings.attempts,
    fallback: readFallback(settings, () =>
      createDecideAsk(asked, choices, material, askOptionsOf(settings), { key, details, history }),
    ),
  }
}

function readDecider(
  of: string,
  given: unknown,
  engineDecider: AgentDefinition | undefined,
): AgentDefinition {
  if (given === undefined) return engineDecider ?? refuseWithoutDecider(of)
  return (
    agentDefinitionOf(given) ?? refuse(`agent ${of}`, given, 'It must be created by decider() or agent().')
  )
}

function refuseWithoutDecider(of: string): never {
  throw new PawlError(
    'option-invalid',
    { option: `agent ${of}`, given: 'undefined' },
    {
      what: `There is no agent ${of}: the option \`agent\` is missing, and the engine has no decider.`,
      remedy: 'Pass `agent`, created by decider(), to `decide`, or set `decider` in createEngine.',
    },
  )
}

function askOptionsOf({ fallback }: DecideSettings): { readonly [name: string]: unknown } {
  return fallback.do === 'ask' ? fallback.options : {}
}

function readFallback(
  { fallback }: DecideSettings,
  ask: () => ReturnType<typeof createDecideAsk>,
): DecideOperation['fallback'] {
  return fallback.do === 'ask' ? { do: 'ask', ask: ask() } : fallback
}
