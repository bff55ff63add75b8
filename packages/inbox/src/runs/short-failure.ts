import type { Failure } from '@pawl/server/internal'

/** What went wrong, the cause first: without what the page says in other words, and in a line of a list. */
export function shortFailure({ code, message }: Failure): string {
  if (code === 'procedure-broken') {
    const [, cause] =
      /^Run .+? stopped at a bug in its procedure: (.+?)\. The run is now /s.exec(message) ?? []
    return cause ?? message
  }
  if (code !== 'step-failed') return message
  const [, step, cause] = /^Step (.+?) failed after \d+ attempts?: (.+)$/s.exec(message) ?? []
  if (step === undefined || cause === undefined) return message
  const short = cause.replace(/\. The failure is recorded\..*$/s, '').replace(/^Error: /, '')
  return `${short} · ${step.replace(/^(['"])(.*)\1$/, '$2')}`
}
