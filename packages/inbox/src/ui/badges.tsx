import type { RiskLevel, RunStatus } from '@pawl/server/internal'
import { en } from '../en.ts'
import { Icon } from './icons.tsx'

export function RiskBadge({ level, long = false }: { readonly level: RiskLevel; readonly long?: boolean }) {
  return (
    <span class={`badge risk-${level}`}>
      {level === 'critical' && <Icon name="alert" />}
      {long ? en.risks[level] : en.riskMarks[level]}
    </span>
  )
}

export function StatusBadge({ status }: { readonly status: RunStatus }) {
  return (
    <span class={`status status-${status}`}>
      <span class="dot" aria-hidden="true" />
      {en.runStatuses[status]}
    </span>
  )
}
