import type { FunctionTool, ToolInputParameters } from '@openai/agents-core'
import type { AttemptOptions, Ctx } from '@pawl/core'

/** Options of {@link durableTool}. */
export type ToolOptions = AttemptOptions

// A property, because the SDK copies the details of a call to a tool with a timeout.
const idempotencyKey: unique symbol = Symbol('idempotency key')

/**
 * Returns the idempotency key of a durable tool's execution: every attempt gets the same key, and no other call does.
 * Returns undefined for the details of a tool that is not durable.
 * @param details the third argument of `execute`
 * @example execute: ({ cents }, context, details) => payments.refund(cents, { idempotencyKey: idempotencyKeyOf(details) })
 */
export function idempotencyKeyOf(details: object | undefined): string | undefined {
  return (details as { readonly [idempotencyKey]?: string } | undefined)?.[idempotencyKey]
}

const originals = new WeakMap<object, AnyFunctionTool>()

/** A function tool of any types. */
type AnyFunctionTool = Pick<FunctionTool, 'invoke' | 'needsApproval'>

/** Returns the tool that a durable tool was made of; any other tool is returned itself. */
export function originalOf(tool: AnyFunctionTool): AnyFunctionTool {
  return originals.get(tool) ?? tool
}

/**
 * Makes a function tool durable: every call is a step `tool <name>` of the run, with retries and an idempotency key. A
 * recorded call does not run again.
 * @example const tools = [durableTool(ctx, refund), durableTool(ctx, lookUp, { timeout: '10s' })]
 */
export function durableTool<Context, Parameters extends ToolInputParameters, Result>(
  ctx: Pick<Ctx, 'step'>,
  tool: FunctionTool<Context, Parameters, Result>,
  options: ToolOptions = {},
): FunctionTool<Context, Parameters, Result> {
  const durable: FunctionTool<Context, Parameters, Result> = {
    ...tool,
    invoke: (context, input, details) =>
      ctx.step(
        `tool ${tool.name}`,
        (call) => {
          const own = { ...details, signal: call.signal, [idempotencyKey]: call.idempotencyKey }
          return tool.invoke(context, input, own)
        },
        options,
      ),
  }
  originals.set(durable, tool as AnyFunctionTool)
  return durable
}
