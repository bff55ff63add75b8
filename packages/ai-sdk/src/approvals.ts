import type { ApproveOptions, Ctx, RiskLevel } from '@pawl/core'
import { askUnderFreeKey } from '@pawl/core/internal'
import type { ToolSet } from 'ai'
import { issuesOf, schemaOf } from './tool-schema.ts'

type Options = ApproveOptions<Record<string, unknown>, RiskLevel>
/** `Omit` for each member of a union. */
type Without<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never

/** Options of the question before a tool runs. The key and the params come from the call. */
export type ApprovalOptions = Without<Options, 'params' | 'key'> & {
  /** The question. Default: 'Run <tool>?'. */
  readonly message?: string
}

/** A call to a tool, as the model made it. */
export interface ToolCall {
  readonly toolName: string
  readonly toolCallId: string
  readonly input: unknown
}

interface ApprovalRequest extends ToolCall {
  readonly messages: readonly unknown[]
}

/** The input to run the tool with, or why it does not run. */
type Verdict =
  | {
      readonly input: unknown
      readonly denied?: undefined
      readonly by?: string
      /** Whether a person has changed the input. */
      readonly isEdited?: boolean
    }
  | { readonly denied: string; readonly by?: string }

/** The status that AI SDK 7 expects from `toolApproval`. */
type ApprovalStatus =
  | 'not-applicable'
  | { readonly type: 'approved'; readonly reason?: string }
  | { readonly type: 'denied'; readonly reason?: string }

/** Asks people about tool calls, once for each call. */
export interface Approvals {
  /** Returns the verdict on a call, and asks people if `toolApproval` has not. */
  decide(request: ApprovalRequest): Promise<Verdict>
  readonly toolApproval: (options: {
    readonly toolCall: ToolCall
    readonly messages: readonly unknown[]
  }) => Promise<ApprovalStatus>
}

/** Creates the approvals of one set of tools. */
export function createApprovals(
  ctx: Pick<Ctx, 'human'>,
  tools: ToolSet,
  optionsOf: (call: ToolCall) => ApprovalOptions,
): Approvals {
  // Verdicts that wait for the execution they belong to. Two calls may share an id, so the input decides as well.
  const waiting: { readonly request: ApprovalRequest; readonly verdict: Verdict }[] = []

  const ask = async (request: ApprovalRequest): Promise<Verdict | null> => {
    const tool = tools[request.toolName]
    if (!(await needsApproval(tool, request))) return null
    const { message = `Run ${request.toolName}?`, ...options } = optionsOf(request)
    const params = request.input as Record<string, unknown>
    const schema = (options.editable ?? []).length === 0 ? {} : await schemaOf(tool)
    const answer = await askUnderFreeKey(request.toolCallId, (key) =>
      ctx.human.approve(message, { ...schema, ...options, params, key } as Options),
    )
    if (!answer.approved)
      return {
        denied: answer.timedOut ? 'The approval timed out.' : answer.comment || 'A person rejected the call.',
      }
    const issues = answer.modified ? await issuesOf(tool, answer.params) : null
    return issues === null
      ? { input: answer.params, by: answer.by, isEdited: answer.modified }
      : { denied: `The edited input is invalid: ${issues}` }
  }

  return {
    async decide(request) {
      const index = waiting.findIndex(({ request: asked }) => isSameCall(asked, request))
      const [decided] = index === -1 ? [] : waiting.splice(index, 1)
      return decided?.verdict ?? (await ask(request)) ?? { input: request.input }
    },
    async toolApproval({ toolCall: { toolName, toolCallId, input }, messages }) {
      const request = { toolName, toolCallId, input, messages }
      const verdict = await ask(request)
      if (verdict === null) return 'not-applicable'
      if (verdict.denied !== undefined) return { type: 'denied', reason: verdict.denied }
      waiting.push({ request, verdict })
      return { type: 'approved', ...(verdict.by === undefined ? {} : { reason: verdict.by }) }
    },
  }
}

type NeedsApproval =
  | boolean
  | undefined
  | ((input: unknown, options: object) => boolean | PromiseLike<boolean>)

async function needsApproval(
  tool: ToolSet[string] | undefined,
  { input, toolCallId, messages }: ApprovalRequest,
): Promise<boolean> {
  const needs = tool?.needsApproval as NeedsApproval
  return typeof needs === 'function' ? needs(input, { toolCallId, messages }) : (needs ?? false)
}

function isSameCall(a: ApprovalRequest, b: ApprovalRequest): boolean {
  return (
    a.toolCallId === b.toolCallId &&
    a.toolName === b.toolName &&
    JSON.stringify(a.input) === JSON.stringify(b.input)
  )
}
