import { type Control, isNested } from '@pawl/core/json-schema'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import { type Draft, draftOf } from './draft.ts'
import { Entry } from './entry.tsx'
import { type FieldProps, idOf, issuesAt } from './field-props.ts'
import { IssueList } from './issue-list.tsx'
import { NestedField, NestedParts } from './nested.tsx'
import { mostRadios } from './options.tsx'

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
  return <NestedField {...props} draft={draft ?? draftOf(control)} Field={Field} />
}

/** The parts of a nested control, without a frame around them. */
export function Parts(props: FieldProps) {
  return <NestedParts {...props} Field={Field} />
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

function isGroup(control: Control, isRequired: boolean): boolean {
  if (control.kind === 'boolean') return !isRequired
  return control.kind === 'checkboxes' || (control.kind === 'choice' && control.options.length <= mostRadios)
}
