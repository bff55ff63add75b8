import { PawlError } from '@pawl/core'
import { type BodyOperation, encode, failureOf, recordFailure } from '@pawl/core/internal'
import type { Called } from '../doubles.ts'
import { brief, failing, type ListOutcomes, type Outcome } from './outcome.ts'

/** The outcomes of a step, an agent call or an undo: those of its double, and the failure if it may fail. */
export const listBodyOutcomes: ListOutcomes<BodyOperation> = async (pending, { settings, doubles }) => {
  const { operation } = pending
  const what = operation.kind === 'undo' ? `undo ${operation.name}` : operation.name
  const called = await doubles.call(pending)
  const found = called.map((one) => outcomeOf(operation, what, one))
  if (!settings.failures.has(what)) return found
  return [...found, failing(`${what} fails`, failureOfBody(operation, new Error('explored')))]
}

function outcomeOf(operation: BodyOperation, what: string, { failed, value }: Called): Outcome {
  if (failed) return failing(`${what} fails`, failureOfBody(operation, value))
  const payload = encode(operation.kind === 'llm' ? { output: value, usage: [] } : value, 'result')
  return { label: `${what} returns ${brief(value)}`, failed: false, payload }
}

function failureOfBody({ name, retry }: BodyOperation, error: unknown): PawlError {
  const cause = failureOf(recordFailure(error))
  return new PawlError('step-failed', { step: name, attempts: retry.attempts, cause }, { cause: error })
}
