import type { FunctionTool, RunToolApprovalItem } from '@openai/agents-core'
import { prepareFunctionToolInput } from '@openai/agents-core/utils/internal'
import { originalOf } from './tool.ts'

/** The arguments of a call as its tool gets them, or why it gets none. */
type Arguments =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly why: string }

/** Reads the arguments that the model wrote, with the schema of the tool: with its defaults, and without keys it does not know. */
export function readArguments(item: RunToolApprovalItem): Arguments {
  const written = item.arguments || '{}'
  const tool = item.agent.tools.find(
    (one): one is FunctionTool => one.type === 'function' && one.name === item.name,
  )
  try {
    const prepared = tool && prepareFunctionToolInput(originalOf(tool), written)
    if (prepared?.result.success === false) return refusal(prepared.result.error)
    const value: unknown = prepared === undefined ? JSON.parse(written) : prepared.result.value
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject
      ? { ok: true, value: value as Record<string, unknown> }
      : { ok: false, why: 'they must be an object' }
  } catch (error) {
    return refusal(error)
  }
}

function refusal(error: unknown): Arguments {
  return { ok: false, why: error instanceof Error ? error.message : String(error) }
}
