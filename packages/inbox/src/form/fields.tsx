import type { ComponentChildren } from 'preact'
import type { Issue } from '../api/types.ts'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import type { Control } from './control.ts'
import { type Draft, draftOf, isNested } from './draft.ts'
import { NestedField } from './nested.tsx'

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

const mostRadios = 5

function isGroup(control: Control, isRequired: boolean): boolean {
  if (control.kind === 'boolean') return !isRequired
  return control.kind === 'checkboxes' || (control.kind === 'choice' && control.options.length <= mostRadios)
}

interface EntryProps extends FieldProps {
  readonly id: string
  readonly describedBy: string
  readonly isInvalid: boolean
}

/** What a person types or clicks, without its label. */
function Entry(props: EntryProps) {
  const { control, draft, onChange, id, describedBy, isInvalid, isRequired } = props
  const text = typeof draft === 'string' ? draft : ''
  const common = {
    id,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': isInvalid ? ('true' as const) : undefined,
    'aria-required': isRequired && control.kind !== 'boolean' ? ('true' as const) : undefined,
  }
  const onInput = (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange(event.currentTarget.value)
  switch (control.kind) {
    case 'text':
      return control.isLong ? (
        <textarea
          {...common}
          rows={Math.min(24, Math.max(5, text.split('\n').length + 1))}
          value={text}
          onInput={onInput}
          dir="auto"
        />
      ) : (
        <input
          {...common}
          // Not `type`: browsers rewrite what is entered into fields for addresses.
          type="text"
          inputMode={control.type}
          value={text}
          onInput={onInput}
          dir="auto"
          autoComplete="off"
        />
      )
    case 'number':
      return (
        <input
          {...common}
          type="text"
          class="number"
          inputMode={control.isInteger ? 'numeric' : 'decimal'}
          value={text}
          onInput={onInput}
          autoComplete="off"
          placeholder={rangeOf(control)}
        />
      )
    case 'marked':
      return <input {...common} type="text" value={text} onInput={onInput} autoComplete="off" />
    case 'date':
    case 'time':
      return (
        <input
          {...common}
          type={control.kind}
          value={text}
          onInput={onInput}
          step={control.kind === 'time' ? 1 : undefined}
        />
      )
    case 'date-time':
      return (
        <span class="with-note">
          <input {...common} type="datetime-local" value={text} onInput={onInput} />
          <span class="faint">{Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
        </span>
      )
    case 'boolean':
      return isRequired ? (
        <input
          {...common}
          type="checkbox"
          checked={draft === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      ) : (
        <YesNo {...props} />
      )
    case 'choice':
      return <Choice {...props} common={common} />
    case 'checkboxes':
      return <Checkboxes {...props} />
    case 'json':
      return <textarea {...common} class="code" rows={6} value={text} onInput={onInput} spellcheck={false} />
    default:
      return null
  }
}

function rangeOf({ min, max }: { readonly min?: number; readonly max?: number }): string | undefined {
  if (min !== undefined && max !== undefined) return `${min} – ${max}`
  if (min !== undefined) return `≥ ${min}`
  return max === undefined ? undefined : `≤ ${max}`
}

function Radio(props: {
  readonly name: string
  readonly isChecked: boolean
  readonly isInvalid: boolean
  readonly onPick: () => void
  readonly children: ComponentChildren
}) {
  return (
    <label class="check">
      <input
        type="radio"
        name={props.name}
        checked={props.isChecked}
        aria-invalid={props.isInvalid ? 'true' : undefined}
        onChange={props.onPick}
      />
      {props.children}
    </label>
  )
}

/** An optional boolean has three states. */
function YesNo({ draft, onChange, id, isInvalid }: EntryProps) {
  const states = [
    [null, en.noValue],
    [true, en.yes],
    [false, en.no],
  ] as const
  return (
    <div class="options">
      {states.map(([value, text]) => (
        <Radio
          key={text}
          name={id}
          isChecked={draft === value}
          isInvalid={isInvalid}
          onPick={() => onChange(value)}
        >
          {text}
        </Radio>
      ))}
    </div>
  )
}

function Choice({
  control,
  draft,
  onChange,
  id,
  isInvalid,
  isRequired,
  common,
}: EntryProps & { readonly common: object }) {
  if (control.kind !== 'choice') return null
  const chosen = typeof draft === 'object' && draft !== null && 'option' in draft ? draft.option : null
  if (control.options.length > mostRadios)
    return (
      <select
        {...common}
        value={chosen === null ? '' : String(chosen)}
        onChange={(event) =>
          onChange({ option: event.currentTarget.value === '' ? null : Number(event.currentTarget.value) })
        }
      >
        <option value="">{isRequired ? en.pick : en.noValue}</option>
        {control.options.map((option, index) => (
          <option key={option.label} value={String(index)}>
            {option.label}
          </option>
        ))}
      </select>
    )
  return (
    <div class="options">
      {!isRequired && (
        <Radio
          name={id}
          isChecked={chosen === null}
          isInvalid={isInvalid}
          onPick={() => onChange({ option: null })}
        >
          {en.noValue}
        </Radio>
      )}
      {control.options.map((option, index) => (
        <Radio
          key={option.label}
          name={id}
          isChecked={chosen === index}
          isInvalid={isInvalid}
          onPick={() => onChange({ option: index })}
        >
          <Text>{option.label}</Text>
        </Radio>
      ))}
    </div>
  )
}

function Checkboxes({ control, draft, onChange, isInvalid }: EntryProps) {
  if (control.kind !== 'checkboxes') return null
  const checked = typeof draft === 'object' && draft !== null && 'checked' in draft ? draft.checked : []
  const toggle = (index: number) =>
    onChange({
      checked: checked.includes(index)
        ? checked.filter((one) => one !== index)
        : [...checked, index].sort((a, b) => a - b),
    })
  return (
    <div class="options">
      {control.options.map((option, index) => (
        <label class="check" key={option.label}>
          <input
            type="checkbox"
            checked={checked.includes(index)}
            aria-invalid={isInvalid ? 'true' : undefined}
            onChange={() => toggle(index)}
          />
          <Text>{option.label}</Text>
        </label>
      ))}
    </div>
  )
}
