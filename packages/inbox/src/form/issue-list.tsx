import type { Issue } from '@pawl/server/internal'
import { Text } from '../text/text.tsx'

export function IssueList(props: {
  readonly id: string
  readonly issues: readonly Issue[]
  readonly path: string
}) {
  const { id, issues, path } = props
  if (issues.length === 0) return null
  return (
    <ul class="issues" id={id}>
      {issues.slice(0, 5).map((issue) => (
        <li key={`${issue.path} ${issue.message}`}>
          <Text>{`${issue.path === path ? '' : `${issue.path.slice(path.length).replace(/^\./, '')} `}${issue.message}`}</Text>
        </li>
      ))}
    </ul>
  )
}
