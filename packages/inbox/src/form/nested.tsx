import type { JSX } from 'preact'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'
import { type Draft, draftOf, type Pair, type Row } from './draft.ts'
import { type FieldProps, idOf } from './field-props.ts'
import { IssueList } from './issue-list.tsx'

/** `Field` draws a part. It is passed in, because it draws nested controls itself. */
export interface NestedProps extends FieldProps {
  readonly Field: (props: FieldProps) => JSX.Element | null
}

/** A group of fields: an object, a list, a record, a union, or a value that may be null. */
export function NestedField(props: NestedProps) {
  const { control, label, path, isRequired, issues, onChange } = props
  const id = idOf(path)
  const own = issues.filter((issue) => issue.path === path)
  return (
    <fieldset class="nested" aria-describedby={own.length > 0 ? `${id}-i` : undefined}>
      <legend class="label" id={id} tabIndex={-1} aria-invalid={own.length > 0 ? 'true' : undefined}>
        <Text>{control.title ?? label}</Text>
        {!isRequired && (
          <>
            <span class="faint"> {en.optional}</span>{' '}
            <button type="button" class="link" onClick={() => onChange(null)}>
              {en.remove}
              <span class="hidden"> {label}</span>
            </button>
          </>
        )}
      </legend>
      {control.description && (
        <p class="hint" dir="auto">
          <Text>{control.description}</Text>
        </p>
      )}
      <IssueList id={`${id}-i`} issues={own} path={path} />
      <NestedParts {...props} />
    </fieldset>
  )
}

/** The parts of a nested control, without a frame around them. */
export function NestedParts(props: NestedProps) {
  switch (props.control.kind) {
    case 'object':
      return <ObjectParts {...props} />
    case 'list':
    case 'tuple':
      return <Rows {...props} />
    case 'record':
      return <Pairs {...props} />
    case 'nullable':
      return <Nullable {...props} />
    case 'union':
      return <Union {...props} />
    default:
      return <props.Field {...props} />
  }
}

function ObjectParts({ Field, control, draft, onChange, path, issues }: NestedProps) {
  if (control.kind !== 'object') return null
  const drafts = typeof draft === 'object' && draft !== null && 'fields' in draft ? draft.fields : {}
  return (
    <>
      {control.fields.map((field) => (
        <Field
          key={field.name}
          control={field.control()}
          draft={Object.hasOwn(drafts, field.name) ? (drafts[field.name] ?? null) : null}
          onChange={(next) =>
            onChange({ fields: Object.fromEntries([...Object.entries(drafts), [field.name, next]]) })
          }
          path={path === '' ? field.name : `${path}.${field.name}`}
          label={field.name}
          isRequired={field.isRequired}
          issues={issues}
        />
      ))}
    </>
  )
}

function Rows({ Field, control, draft, onChange, path, label, issues }: NestedProps) {
  if (control.kind !== 'list' && control.kind !== 'tuple') return null
  const rows = typeof draft === 'object' && draft !== null && 'rows' in draft ? draft.rows : []
  const change = (next: readonly Row[]) => onChange({ rows: next })
  const isList = control.kind === 'list'
  return (
    <>
      {rows.map((row, index) => {
        const item = isList ? control.item() : control.items[index]?.()
        if (item === undefined) return null
        return (
          <div class="row" key={row.id}>
            <Field
              control={item}
              draft={row.draft}
              onChange={(next) => change(rows.with(index, { id: row.id, draft: next }))}
              path={`${path}[${index}]`}
              label={en.item(index + 1)}
              isRequired={true}
              issues={issues}
            />
            {isList && <RowButtons rows={rows} index={index} change={change} min={control.min} />}
          </div>
        )
      })}
      {isList && rows.length < control.max && (
        <button
          type="button"
          class="small"
          aria-label={en.addItem(control.title ?? label)}
          onClick={() => change([...rows, { id: nextId(rows), draft: draftOf(control.item()) }])}
        >
          <Icon name="plus" />
          {en.add}
        </button>
      )}
    </>
  )
}

function RowButtons(props: {
  readonly rows: readonly Row[]
  readonly index: number
  readonly change: (rows: readonly Row[]) => void
  readonly min: number
}) {
  const { rows, index, change, min } = props
  const swap = (a: number, b: number) => {
    const [one, other] = [rows[a], rows[b]]
    if (one && other) change(rows.with(a, other).with(b, one))
  }
  return (
    <span class="row-buttons">
      <button
        type="button"
        class="quiet"
        aria-label={en.moveUp(index + 1)}
        disabled={index === 0}
        onClick={() => swap(index, index - 1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={en.moveDown(index + 1)}
        disabled={index === rows.length - 1}
        onClick={() => swap(index, index + 1)}
      >
        <Icon name="down" />
      </button>
      <button
        type="button"
        class="quiet"
        aria-label={en.removeItem(index + 1)}
        disabled={rows.length <= min}
        onClick={() => change(rows.toSpliced(index, 1))}
      >
        <Icon name="cross" />
      </button>
    </span>
  )
}

function Pairs({ Field, control, draft, onChange, path, label, issues }: NestedProps) {
  if (control.kind !== 'record') return null
  const pairs = typeof draft === 'object' && draft !== null && 'pairs' in draft ? draft.pairs : []
  const change = (next: readonly Pair[]) => onChange({ pairs: next })
  return (
    <>
      {pairs.map((pair, index) => (
        <div class="row" key={pair.id}>
          <div class="field">
            <label class="label" for={`${idOf(path)}-k${pair.id}`}>
              {en.key}
            </label>
            <input
              id={`${idOf(path)}-k${pair.id}`}
              type="text"
              dir="auto"
              value={pair.key}
              onInput={(event) => change(pairs.with(index, { ...pair, key: event.currentTarget.value }))}
            />
          </div>
          <Field
            control={control.item()}
            draft={pair.draft}
            onChange={(next) => change(pairs.with(index, { ...pair, draft: next }))}
            path={path === '' ? pair.key : `${path}.${pair.key}`}
            label={en.value}
            isRequired={true}
            issues={issues}
          />
          <span class="row-buttons">
            <button
              type="button"
              class="quiet"
              aria-label={en.removeItem(index + 1)}
              onClick={() => change(pairs.toSpliced(index, 1))}
            >
              <Icon name="cross" />
            </button>
          </span>
        </div>
      ))}
      <button
        type="button"
        class="small"
        aria-label={en.addItem(control.title ?? label)}
        onClick={() => change([...pairs, { id: nextId(pairs), key: '', draft: draftOf(control.item()) }])}
      >
        <Icon name="plus" />
        {en.add}
      </button>
    </>
  )
}

function nextId(rows: readonly Row[]): number {
  return rows.reduce((most, row) => Math.max(most, row.id + 1), 0)
}

function Nullable(props: NestedProps) {
  const { Field, control, draft, onChange, label, path } = props
  if (control.kind !== 'nullable') return null
  const state: { readonly isNull: boolean; readonly inner: Draft } =
    typeof draft === 'object' && draft !== null && 'isNull' in draft ? draft : { isNull: false, inner: null }
  const inner = control.inner()
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={state.isNull}
          onChange={(event) => onChange({ isNull: event.currentTarget.checked, inner: state.inner })}
        />
        {en.noValue}
      </label>
      {!state.isNull && (
        <Field
          {...props}
          control={inner}
          draft={state.inner ?? draftOf(inner)}
          onChange={(next) => onChange({ isNull: false, inner: next })}
          path={path}
          label={inner.title ?? label}
          isRequired={true}
        />
      )}
    </>
  )
}

function Union(props: NestedProps) {
  const { control, draft, onChange, path } = props
  if (control.kind !== 'union') return null
  const state =
    typeof draft === 'object' && draft !== null && 'variant' in draft ? draft : { variant: null, drafts: [] }
  const chosen = state.variant === null ? undefined : control.variants[state.variant]
  const pick = (text: string) => {
    const variant = text === '' ? null : Number(text)
    const drafts = control.variants.map((one, index) => {
      const kept = state.drafts[index] ?? null
      return index === variant && kept === null ? draftOf(one.control()) : kept
    })
    onChange({ variant, drafts })
  }
  const inner = chosen?.control()
  return (
    <>
      <div class="field">
        <label class="label" for={`${idOf(path)}-v`}>
          {en.variant}
        </label>
        <select
          id={`${idOf(path)}-v`}
          value={state.variant === null ? '' : String(state.variant)}
          onChange={(event) => pick(event.currentTarget.value)}
        >
          <option value="">{en.pick}</option>
          {control.variants.map((variant, index) => (
            <option key={variant.label} value={String(index)}>
              {variant.label}
            </option>
          ))}
        </select>
      </div>
      {inner !== undefined && state.variant !== null && (
        <NestedParts
          {...props}
          key={state.variant}
          control={inner}
          draft={state.drafts[state.variant] ?? draftOf(inner)}
          onChange={(next) =>
            onChange({ variant: state.variant, drafts: state.drafts.with(state.variant ?? 0, next) })
          }
          isRequired={true}
        />
      )}
    </>
  )
}
