import type { Usage } from '../../../authoring/agent/agent.ts'
import { checkNumber, checkObject, checkText } from '../../../checks/options.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { decode, encode } from '../../../events/payload.ts'

/** The number of reports that are stored separately. */
const reportsKept = 20
const reportBytes = 1_000
const amounts = ['inputTokens', 'outputTokens', 'costUsd'] as const
/** The model of a sum over several models. */
const severalModels = 'several models'

const checks: { readonly [part in keyof Usage]-?: (option: string, value: unknown) => unknown } = {
  model: checkText,
  inputTokens: checkAmount,
  outputTokens: checkAmount,
  costUsd: checkAmount,
}

function checkAmount(option: string, value: unknown): number {
  return checkNumber(option, value, 0, Number.MAX_VALUE)
}

/** Values with which providers say that a number is unknown. */
const unknowns: readonly unknown[] = [undefined, null, Number.NaN, '']

/**
 * Copies a usage report without unknown values. Other fields of the provider are kept.
 * @throws PawlError 'option-invalid' if it is not a usage report, 'payload-refused' if it cannot be stored
 */
export function copyUsage(usage: Usage): Usage {
  const known = Object.entries(checkObject('usage', usage)).filter(([, value]) => !unknowns.includes(value))
  for (const [part, value] of known)
    if (Object.hasOwn(checks, part)) checks[part as keyof Usage](`${part} of usage`, value)
  const bytes = encode(Object.fromEntries(known), 'usage')
  if (bytes !== null && bytes.length > reportBytes)
    throw new PawlError(
      'payload-refused',
      { path: 'usage' },
      { what: `usage has ${bytes.length} bytes; the limit is ${reportBytes}.` },
    )
  return decode(bytes) as Usage
}

/**
 * Combines usage reports: the ones after the twentieth are added up by model. A body that reports every chunk of a stream,
 * or retries for days, must not exceed the size of a log entry.
 */
export function gatherUsage(reports: readonly Usage[]): readonly Usage[] {
  const kept = reports.slice(0, reportsKept)
  for (const report of reports.slice(reportsKept)) {
    const same = kept.findLastIndex(({ model }) => model === report.model)
    const at = same === -1 ? kept.length - 1 : same
    kept[at] = addUp(kept[at] as Usage, report)
  }
  return kept
}

function addUp(a: Usage, b: Usage): Usage {
  const model = a.model === b.model ? a.model : severalModels
  const sums = amounts.flatMap((amount) => {
    const given = [a[amount], b[amount]].filter((value) => Number.isFinite(value)) as number[]
    return given.length === 0 ? [] : [[amount, given.reduce((sum, value) => sum + value)]]
  })
  return { ...(model === undefined ? {} : { model }), ...Object.fromEntries(sums) }
}

/** Returns the usage as a member of a record; empty if there are no reports. */
export function usageMember(reports: readonly Usage[]): { readonly usage?: readonly Usage[] } {
  return reports.length === 0 ? {} : { usage: gatherUsage(reports) }
}
