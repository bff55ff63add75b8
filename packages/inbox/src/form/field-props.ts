import type { Control } from '@pawl/core/json-schema'
import type { Issue } from '@pawl/server/internal'
import type { Draft } from './draft.ts'

export interface FieldProps {
  readonly control: Control
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** The path, in the notation of the server's issues. */
  readonly path: string
  readonly label: string
  readonly isRequired: boolean
  readonly issues: readonly Issue[]
}

/** The id of the field of a path; spaces would end it. */
export function idOf(path: string): string {
  return `f-${encodeURIComponent(path).replaceAll('%', '_')}`
}

/** Issues of this path, and of what is in it. */
export function issuesAt(issues: readonly Issue[], path: string): readonly Issue[] {
  return issues.filter(
    (issue) => issue.path === path || issue.path.startsWith(`${path}.`) || issue.path.startsWith(`${path}[`),
  )
}

/** The props of the controls of a field, with the id by which a label refers to them. */
export interface EntryProps extends FieldProps {
  readonly id: string
  readonly describedBy: string
  readonly isInvalid: boolean
}
