import type { AttemptOptions, Ctx, StepCall } from '@pawl/core'
import { payloadText } from '@pawl/core/internal'
import type { ToolSet } from 'ai'
import { type ApprovalOptions, type Approvals, createApprovals, type ToolCall } from './approvals.ts'
import { checkCtx, checkOptionNames } from './checks.ts'

/** The part of a context that tools need. */
export type ToolCtx = Pick<Ctx, 'step' | 'human'>

/** Options of {@link durableTools}: the policy of each tool's step, and the approvals. */
export interface ToolOptions extends AttemptOptions {
  /**
   * Options of the question to people for a tool that needs approval, or a function of the call that returns them.
   * Default: addressed to everyone, without a timeout, no value editable.
   */
  readonly approve?: ApprovalOptions | ((call: ToolCall) => ApprovalOptions)
}

/** Returned by {@link durableTools}. */
export interface DurableTools<Tools extends ToolSet> {
  /** The tools, each execution a step of the run. */
  readonly tools: Tools
  /** Asks people before a tool runs. AI SDK 7 calls it; with AI SDK 6 the question comes before the tool's step. */
  readonly toolApproval: Approvals['toolApproval']
}

const keys = new WeakMap<object, string>()

/**
 * Returns the idempotency key of a durable tool's execution: every attempt gets the same key, and no other call does.
 * Returns undefined for the options of a tool that is not durable.
 * @param options the second argument of `execute`
 * @example execute: ({ cents }, options) => payments.refund(cents, { idempotencyKey: idempotencyKeyOf(options) })
 */
export function idempotencyKeyOf(options: object): string | undefined {
  return keys.get(options)
}

/**
 * Makes tools durable: every execution is a step `tool <name>` of the run, with retries and an idempotency key. A tool
 * that needs approval becomes a question to people with the input as `params`: what is shown is what runs. A person may
 * change the values that `approve.editable` names, within the schema of the tool, and the model is told what ran; a rejection or
 * a timeout reaches the model as a denial.
 *
 * A tool without `execute` stays as it is. Spread the result into `generateText`, `streamText` or `ToolLoopAgent`.
 * @example
 * await generateText({
 *   model: durableModel(ctx, model),
 *   ...durableTools(ctx, { lookUp, refund }, { approve: { to: 'group:support', editable: ['cents'], risk: 'high' } }),
 *   stopWhen: isStepCount(8),
 *   prompt,
 * })
 */
export function durableTools<Tools extends ToolSet>(
  ctx: ToolCtx,
  tools: Tools,
  options: ToolOptions = {},
): DurableTools<Tools> {
  checkCtx('durableTools', ctx, 'step')
  checkOptionNames('durableTools', options, ['approve', 'retry', 'timeout'])
  const { approve = {}, ...policy } = options
  const optionsOf = typeof approve === 'function' ? approve : () => approve
  const approvals = createApprovals(ctx, tools, optionsOf)
  const durable: Record<string, unknown> = {}
  for (const [name, tool] of Object.entries(tools))
    durable[name] = tool.execute === undefined ? tool : durableTool(ctx, name, tool, approvals, policy)
  return { tools: durable as Tools, toolApproval: approvals.toolApproval }
}

type AnyTool = ToolSet[string]
type Execute = (input: unknown, options: object) => unknown

function durableTool(
  ctx: ToolCtx,
  name: string,
  tool: AnyTool,
  approvals: Approvals,
  policy: AttemptOptions,
): object {
  const run = tool.execute as Execute
  /** Inputs of calls that a person has edited, by the ids of the calls. */
  const edits = new Map<string, unknown>()
  const execute = async (input: unknown, given: { toolCallId: string; messages: readonly unknown[] }) => {
    const verdict = await approvals.decide({
      toolName: name,
      toolCallId: given.toolCallId,
      input,
      messages: given.messages,
    })
    if (verdict.denied !== undefined) return denied(verdict.denied)
    if (verdict.isEdited === true) edits.set(given.toolCallId, verdict.input)
    else edits.delete(given.toolCallId)
    const { abortSignal: _, ...rest } = given as { abortSignal?: AbortSignal } & typeof given
    return ctx.step(`tool ${name}`, (call) => settle(run(verdict.input, optionsOf(rest, call))), policy)
  }
  // The question is asked by `decide`, in every version of the SDK.
  const { needsApproval: _, ...rest } = tool
  return { ...rest, execute, toModelOutput: outputOf(tool, edits) }
}

function optionsOf(given: object, { signal, idempotencyKey }: StepCall): object {
  const options = { ...given, abortSignal: signal }
  keys.set(options, idempotencyKey)
  return options
}

/** Returns the last value of a tool that yields intermediate ones. */
async function settle(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let last: unknown
  for await (const value of result as AsyncIterable<unknown>) last = value
  return last
}

// ── what the model is told

// AI SDK 6 has no `toolApproval`, so a denial is the output of a call.
const deniedType = 'pawl-denied'

function denied(reason: string): object {
  return { type: deniedType, reason }
}

/** The output of a tool in the form in which a model reads it. */
interface ModelOutput {
  readonly type: string
  readonly value?: unknown
}

interface OutputOptions {
  readonly toolCallId: string
  readonly output: unknown
}

function outputOf(
  tool: AnyTool,
  edits: ReadonlyMap<string, unknown>,
): (options: OutputOptions) => object | Promise<object> {
  const original = tool.toModelOutput as
    | ((options: OutputOptions) => ModelOutput | Promise<ModelOutput>)
    | undefined
  return (options) => {
    const output = options.output as { type?: unknown; reason?: string } | null
    if (typeof output === 'object' && output?.type === deniedType)
      return { type: 'execution-denied', reason: output.reason }
    const told = original?.(options) ?? usualOutput(options.output)
    if (!edits.has(options.toolCallId)) return told
    const note = `A person changed the input before the tool ran. It ran with: ${payloadText(edits.get(options.toolCallId))}`
    return told instanceof Promise ? told.then((one) => withNote(one, note)) : withNote(told, note)
  }
}

function usualOutput(output: unknown): ModelOutput {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output ?? null }
}

/** The model has its own input in its history, and would continue as if that had run. */
function withNote(output: ModelOutput, note: string): ModelOutput {
  const { type, value } = output
  if (type === 'content' && Array.isArray(value))
    return { ...output, value: [{ type: 'text', text: note }, ...(value as readonly unknown[])] }
  const isError = type.startsWith('error')
  return { ...output, type: isError ? 'error-text' : 'text', value: `${note}\nResult: ${payloadText(value)}` }
}
