import type { Failure } from '@pawl/server/internal'

/** What failed, the cause first: a list has no room for the whole message of a failed step. */
export function shortFailure({ code, message }: Failure): string {
  if (code !== 'step-failed') return message
  const [, step, cause] = /^Step (.+?) failed after \d+ attempts?: (.+)$/s.exec(message) ?? []
  if (step === undefined || cause === undefined) return message
  const short = cause.replace(/\. The failure is recorded\..*$/s, '').replace(/^Error: /, '')
  return `${short} · ${step.replace(/^(['"])(.*)\1$/, '$2')}`
}
