import type { FunctionTool, ToolInputParameters } from '@openai/agents-core'
import type { AttemptOptions, Ctx } from '@pawl/core'

/** Options of {@link durableTool}. */
export type ToolOptions = AttemptOptions

/**
 * Makes a function tool durable: every call is a step `tool <name>` of the run, with retries. A recorded call does not run
 * again.
 *
 * The tool receives the input that the person approved. Pass an idempotency key of your own from the input if the tool
 * calls a service.
 * @example const tools = [durableTool(ctx, refund), durableTool(ctx, lookUp, { timeout: '10s' })]
 */
export function durableTool<Context, Parameters extends ToolInputParameters, Result>(
  ctx: Pick<Ctx, 'step'>,
  tool: FunctionTool<Context, Parameters, Result>,
  options: ToolOptions = {},
): FunctionTool<Context, Parameters, Result> {
  return {
    ...tool,
    invoke: (context, input, details) =>
      ctx.step(
        `tool ${tool.name}`,
        ({ signal }) => tool.invoke(context, input, { ...details, signal }),
        options,
      ),
  }
}
