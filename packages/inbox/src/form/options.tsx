import type { ComponentChildren } from 'preact'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import type { EntryProps } from './field-props.ts'

/** A choice with more options is a list. */
export const mostRadios = 5

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
export function YesNo({ draft, onChange, id, isInvalid }: EntryProps) {
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

export function Choice({
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

export function Checkboxes({ control, draft, onChange, isInvalid }: EntryProps) {
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
