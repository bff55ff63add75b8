import type { Notice, RiskLevel, Run } from '@pawl/server/internal'
import { en } from '../en.ts'
import { Icon } from './icons.tsx'

type Severity = Notice['severity']

export function RiskBadge({ level, long = false }: { readonly level: RiskLevel; readonly long?: boolean }) {
  return (
    <span class={`badge risk-${level}`}>
      {level === 'critical' && <Icon name="alert" />}
      {long ? en.risks[level] : en.riskMarks[level]}
    </span>
  )
}

export function SeverityBadge({ severity }: { readonly severity: Severity }) {
  return <span class={`badge severity-${severity}`}>{en.severities[severity]}</span>
}

/** The status of a run. One that waits for the next attempt of a step is not as healthy as one that waits for a person. */
export function StatusBadge({ run: { status, waitingFor } }: { readonly run: Run }) {
  const isRetrying = status === 'waiting' && waitingFor.some(({ kind }) => kind === 'step')
  return (
    <span class={`status status-${isRetrying ? 'retrying' : status}`}>
      <span class="dot" aria-hidden="true" />
      {isRetrying ? en.retrying : en.runStatuses[status]}
    </span>
  )
}
