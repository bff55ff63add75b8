import type { RunToolApprovalItem } from '@openai/agents-core'
import type { Approval, ApproveOptions, Ctx, RiskLevel } from '@pawl/core'
import { askUnderFreeKey } from '@pawl/core/internal'
import { readArguments } from './arguments.ts'

type Params = Record<string, unknown>
type Options = ApproveOptions<Params, RiskLevel>
/** `Omit` for each member of a union. */
type Without<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never

/** Options of the questions of {@link answerInterruptions}. The key and the params come from the call. */
export type InterruptionOptions = Without<Options, 'params' | 'key' | 'editable'> & {
  /** The question. Default: 'Run <tool>?'. */
  readonly message?: string
}

/** The part of a run's result that has interruptions. */
interface Interrupted {
  readonly interruptions: readonly RunToolApprovalItem[]
  readonly state: {
    approve(item: RunToolApprovalItem): void
    reject(item: RunToolApprovalItem, options?: { message?: string }): void
  }
}

/**
 * Asks people about the tool calls that interrupted a run of the SDK, all at once, and notes their answers in its state. A
 * rejection or a timeout reaches the model as a rejection with the reason. So do arguments that the schema of the tool refuses:
 * no person is asked about them. What is shown is what the schema makes of the arguments, as the SDK does before it runs the
 * tool, so the params cannot be edited.
 * @returns whether there were interruptions: run the agent again with the state
 * @example
 * let result = await runner.run(desk, question)
 * while (await answerInterruptions(ctx, result, { to: 'group:support' }))
 *   result = await runner.run(desk, result.state)
 */
export async function answerInterruptions(
  ctx: Pick<Ctx, 'human'>,
  { interruptions, state }: Interrupted,
  { message, ...options }: InterruptionOptions = {},
): Promise<boolean> {
  const refusals = interruptions.map((item) => ask(ctx, item, message ?? `Run ${item.name}?`, options))
  for (const [index, refusal] of (await Promise.all(refusals)).entries()) {
    const item = interruptions[index] as RunToolApprovalItem
    if (refusal === null) state.approve(item)
    else state.reject(item, { message: refusal })
  }
  return interruptions.length > 0
}

function reasonOf(answer: Extract<Approval<Params>, { approved: false }>): string {
  return answer.timedOut ? 'The approval timed out.' : answer.comment || 'A person rejected the call.'
}

/** Asks with the id of the tool call as the key. Returns why the call does not run, or null. */
async function ask(
  ctx: Pick<Ctx, 'human'>,
  item: RunToolApprovalItem,
  message: string,
  options: Without<InterruptionOptions, 'message'>,
): Promise<string | null> {
  const read = readArguments(item)
  if (!read.ok) return `The arguments are invalid, so the tool did not run: ${read.why}`
  const { callId, id } = item.rawItem as { readonly callId?: string; readonly id?: string }
  const answer = await askUnderFreeKey(callId ?? id ?? item.name ?? 'tool', (key) =>
    ctx.human.approve(message, { ...options, params: read.value, key } as Options),
  )
  return answer.approved ? null : reasonOf(answer)
}
