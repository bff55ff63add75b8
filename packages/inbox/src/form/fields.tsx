import { type Control, isNested } from '@pawl/core/json-schema'
import type { Issue } from '../api/types.ts'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import { type Draft, draftOf } from './draft.ts'
import { Entry } from './entry.tsx'
import { NestedField } from './nested.tsx'
import { mostRadios } from './options.tsx'

export interface FieldProps {
  readonly control: Control
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
  /** As the server writes the paths of its issues. */
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

/** One control with its label, its description and what is wrong with it. */
export function Field(props: FieldProps) {
  const { control, draft, onChange, label, isRequired } = props
  if (control.kind === 'fixed') return null
  if (!isNested(control)) return <SingleField {...props} />
  if (draft === null && !isRequired)
    return (
      <div class="field">
        <span class="label">
          <Text>{control.title ?? label}</Text> <span class="faint">{en.optional}</span>
        </span>
        <div>
          <button type="button" class="small" onClick={() => onChange(openedDraft(control))}>
            {en.openNested}
            <span class="hidden"> {label}</span>
          </button>
        </div>
      </div>
    )
  return <NestedField {...props} draft={draft ?? draftOf(control)} />
}

function openedDraft(control: Control): Draft {
  return draftOf(control)
}

/** Groups radios and checkboxes under a legend; everything else has a label. */
function SingleField(props: FieldProps) {
  const { control, label, path, isRequired, issues } = props
  const own = issuesAt(issues, path)
  const id = idOf(path)
  const describedBy = [control.description && `${id}-d`, own.length > 0 && `${id}-i`]
    .filter(Boolean)
    .join(' ')
  const title = <Text>{control.title ?? label}</Text>
  const mark = isRequired ? null : <span class="faint"> {en.optional}</span>
  const notes = (
    <>
      {control.description && (
        <p class="hint" id={`${id}-d`} dir="auto">
          <Text>{control.description}</Text>
        </p>
      )}
      <IssueList id={`${id}-i`} issues={own} path={path} />
    </>
  )
  if (isGroup(control, isRequired))
    return (
      <fieldset class="field group" aria-describedby={describedBy || undefined}>
        <legend class="label">
          {title}
          {mark}
        </legend>
        <Entry {...props} id={id} describedBy={describedBy} isInvalid={own.length > 0} />
        {notes}
      </fieldset>
    )
  if (control.kind === 'boolean')
    return (
      <div class="field">
        <div class="check">
          <Entry {...props} id={id} describedBy={describedBy} isInvalid={own.length > 0} />
          <label for={id}>{title}</label>
        </div>
        {notes}
      </div>
    )
  return (
    <div class="field">
      <label class="label" for={id}>
        {title}
        {mark}
      </label>
      <Entry {...props} id={id} describedBy={describedBy} isInvalid={own.length > 0} />
      {notes}
    </div>
  )
}

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

function isGroup(control: Control, isRequired: boolean): boolean {
  if (control.kind === 'boolean') return !isRequired
  return control.kind === 'checkboxes' || (control.kind === 'choice' && control.options.length <= mostRadios)
}
