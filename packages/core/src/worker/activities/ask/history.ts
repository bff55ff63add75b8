import type { AskSpec } from '../../../authoring/operations.ts'
import { maxPayloadBytes } from '../../../events/codec.ts'
import { unnamedDecision } from '../../../events/event.ts'
import { decode, encodeRecord } from '../../../events/payload.ts'
import type { AgentResult, AskPayload, DecisionPayload } from '../../../events/payloads.ts'
import type { StepHistory, StepResult } from '../activity.ts'

/** Returns the earlier step results that an ask shows; synchronously if they are in memory. */
export function gatherHistory(
  history: StepHistory,
  wanted: AskSpec['history'],
): readonly StepResult[] | Promise<readonly StepResult[]> {
  if ('steps' in wanted) return history.named(wanted.steps)
  return wanted.last === 0 ? [] : history.last(wanted.last)
}

/** Formats results for people: the newest that fit into the remaining space, oldest first. */
export function showHistory(
  results: readonly StepResult[],
  beside: object,
): NonNullable<AskPayload['history']> {
  return fitting(results, beside).map(shown)
}

/** In bytes. Even with an ask of the maximum size, this fits into the extra space of a record. */
const smallHistory = 32 * 1024

function fitting(history: readonly StepResult[], beside: object): readonly StepResult[] {
  const bytesOf = ({ name, payload }: StepResult): number => 100 + 3 * name.length + (payload?.length ?? 0)
  let bytes = history.reduce((sum, step) => sum + bytesOf(step), 0)
  if (bytes <= smallHistory && !('judged' in beside)) return history
  const room = maxPayloadBytes - encodeRecord(beside, 'ask').length
  let first = 0
  for (; bytes > room && first < history.length; first++) bytes -= bytesOf(history[first] as StepResult)
  return history.slice(first)
}

/** Returns a result for display: of an agent its output, without usage. A log of an earlier version has no questions of decisions. */
function shown({ kind, name, payload, tookMs }: StepResult): {
  readonly step: string
  readonly result: unknown
  readonly durationMs: number
} {
  const result = decode(payload)
  if (kind === 'ail_decision') return { ...decided(name, result as DecisionPayload), durationMs: tookMs }
  return {
    step: name,
    result: kind === 'llm' ? (result as AgentResult).output : result,
    durationMs: tookMs,
  }
}

/** Shows what was decided, and by whom. An unnamed decision is called by its question. */
function decided(
  name: string,
  { question, choice, rationale, confidence, by }: DecisionPayload,
): { readonly step: string; readonly result: unknown } {
  const sure = confidence === undefined ? {} : { confidence }
  return {
    step: name === unnamedDecision ? (question ?? name) : name,
    result: { choice, rationale, ...sure, by },
  }
}
