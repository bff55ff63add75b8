import type { Control } from '@pawl/core/json-schema'
import { grouped, withPoint } from '../text/number.ts'
import type { EntryProps } from './field-props.ts'
import { Checkboxes, Choice, YesNo } from './options.tsx'

/** The controls of a field, without its label. */
export function Entry(props: EntryProps) {
  const { control, draft, onChange, isRequired } = props
  const common = attributesOf(props)
  const typed = {
    ...common,
    value: typeof draft === 'string' ? draft : '',
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange(event.currentTarget.value),
  }
  switch (control.kind) {
    case 'text':
      return <TextEntry control={control} typed={typed} />
    case 'number': {
      const mode = control.isInteger ? 'numeric' : 'decimal'
      const range = rangeOf(control)
      return (
        <span class="with-note">
          <input
            {...typed}
            type="text"
            class="number"
            inputMode={mode}
            autoComplete="off"
            placeholder={range}
          />
          <Echo typed={typed.value} />
        </span>
      )
    }
    case 'marked':
      return <input {...typed} type="text" autoComplete="off" />
    case 'date':
    case 'time':
      return <input {...typed} type={control.kind} step={control.kind === 'time' ? 1 : undefined} />
    case 'date-time':
      return (
        <span class="with-note">
          <input {...typed} type="datetime-local" />
          <span class="faint">{Intl.DateTimeFormat().resolvedOptions().timeZone}</span>
        </span>
      )
    case 'boolean':
      if (!isRequired) return <YesNo {...props} />
      return (
        <input
          {...common}
          type="checkbox"
          checked={draft === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return <Choice {...props} common={common} />
    case 'checkboxes':
      return <Checkboxes {...props} />
    case 'json':
      return <textarea {...typed} class="code" rows={6} spellcheck={false} />
    default:
      return null
  }
}

function attributesOf({ control, id, describedBy, isInvalid, isRequired }: EntryProps) {
  return {
    id,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': isInvalid ? ('true' as const) : undefined,
    'aria-required': isRequired && control.kind !== 'boolean' ? ('true' as const) : undefined,
  }
}

/** What a number means that was typed with a comma. */
function Echo({ typed }: { readonly typed: string }) {
  const value = Number(withPoint(typed.trim()))
  if (!typed.includes(',') || Number.isNaN(value)) return null
  return <span class="faint number">= {grouped(value)}</span>
}

interface TextEntryProps {
  readonly control: Extract<Control, { readonly kind: 'text' }>
  readonly typed: { readonly value: string }
}

function TextEntry({ control, typed }: TextEntryProps) {
  if (control.isLong)
    return (
      <textarea {...typed} rows={Math.min(24, Math.max(5, typed.value.split('\n').length + 1))} dir="auto" />
    )
  // Not `type`: browsers rewrite what is entered into fields for addresses.
  return <input {...typed} type="text" inputMode={control.type} dir="auto" autoComplete="off" />
}

function rangeOf({ min, max }: { readonly min?: number; readonly max?: number }): string | undefined {
  if (min !== undefined && max !== undefined) return `${min} – ${max}`
  if (min !== undefined) return `≥ ${min}`
  return max === undefined ? undefined : `≤ ${max}`
}
