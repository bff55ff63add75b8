import type { Ask } from '@pawl/server/internal'
import { isObject } from '../api/json.ts'
import { en } from '../en.ts'
import { draftOf } from '../form/draft.ts'
import { issuesAt } from '../form/field-props.ts'
import { Field } from '../form/fields.tsx'
import { readDraft } from '../form/read.ts'
import { Text } from '../text/text.tsx'
import { Value } from '../text/value.tsx'
import { Change } from './change.tsx'
import { type AskPartProps, isSame, paramControl, paramsOf } from './draft.ts'

/** Shows the values of an approval. Editable ones are fields with the old and the new value. */
export function Params(props: AskPartProps) {
  const { ask, isOpen } = props
  const names = Object.keys(paramsOf(ask))
  if (names.length === 0) return null
  return (
    <section class="params">
      <h2 class="hidden">{en.values}</h2>
      {names.map((name) =>
        isOpen && ask.editable.includes(name) ? (
          <EditableParam key={name} {...props} name={name} />
        ) : (
          <div class="param" key={name}>
            <span class="label">
              <Text>{name}</Text>
            </span>
            <div class="param-value">
              <Shown ask={ask} name={name} />
            </div>
          </div>
        ),
      )}
    </section>
  )
}

/** A value that is no field; once the ask is answered with another one, both. */
function Shown({ ask, name }: { readonly ask: Ask; readonly name: string }) {
  const asked = paramsOf(ask)[name] ?? null
  const given = isObject(ask.answer?.params) ? ask.answer.params[name] : undefined
  if (given === undefined || isSame(given, asked)) return <Value value={asked} />
  return (
    <span class="change">
      <Change before={asked} after={given} />
    </span>
  )
}

function EditableParam({ ask, draft, onChange, issues, name }: AskPartProps & { readonly name: string }) {
  const control = paramControl(ask, name)
  const shown = paramsOf(ask)[name] ?? null
  const first = draftOf(control, shown)
  const own = Object.hasOwn(draft.params, name) ? (draft.params[name] ?? null) : first
  const isEdited = !isSame(own, first)
  const path = `params.${name}`
  const read = readDraft(control, own, path, true)
  const undo = () => {
    const { [name]: _, ...rest } = draft.params
    onChange({ ...draft, params: rest })
  }
  return (
    <div class={isEdited ? 'param edited' : 'param'}>
      <Field
        control={control}
        draft={own}
        onChange={(next) => onChange({ ...draft, params: { ...draft.params, [name]: next } })}
        path={path}
        label={name}
        isRequired={true}
        issues={issuesAt(issues.value, path)}
      />
      {isEdited && (
        <p class="change">
          <Change before={shown} after={read.value ?? null} />
          <button type="button" class="link" onClick={undo}>
            {en.undoEdit}
            <span class="hidden"> {name}</span>
          </button>
        </p>
      )}
    </div>
  )
}
