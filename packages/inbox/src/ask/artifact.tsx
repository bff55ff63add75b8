import { isNested } from '@pawl/core/json-schema'
import type { Json } from '@pawl/server/internal'
import { useState } from 'preact/hooks'
import { en } from '../en.ts'
import { type Draft, draftOf } from '../form/draft.ts'
import { issuesAt } from '../form/field-props.ts'
import { Field, Parts } from '../form/fields.tsx'
import { Changes, Formatted, textOf } from '../text/formatted.tsx'
import { type AskPartProps, artifactControl, readArtifact } from './draft.ts'

type View = 'text' | 'changes' | 'edit'

/** Shows the reviewed artifact as it is, as changes, or as a form if it is editable. */
export function Artifact(props: AskPartProps) {
  const { ask, draft, isOpen } = props
  const artifact = ask.artifact ?? null
  const edited = isOpen ? readArtifact(ask, draft).value : undefined
  const before = ask.baseline ?? (edited === undefined ? undefined : artifact)
  const isEditable = isOpen && ask.editable.length > 0
  const [chosen, setView] = useState<View>(ask.baseline === undefined ? 'text' : 'changes')
  const view = chosen === 'changes' && before === undefined ? 'text' : chosen
  const views: readonly View[] = [
    'text',
    ...(before === undefined ? [] : (['changes'] as const)),
    ...(isEditable ? (['edit'] as const) : []),
  ]
  return (
    <section class="artifact" aria-label={en.artifact}>
      {views.length > 1 && (
        <fieldset class="segments">
          <legend class="hidden">{en.view}</legend>
          {views.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={view === one ? 'true' : 'false'}
              data-shortcut={one === 'edit' ? 'e' : undefined}
              onClick={() => setView(one)}
            >
              {en[one]}
            </button>
          ))}
        </fieldset>
      )}
      {view === 'text' && (
        <div class="sheet">
          <Formatted value={edited ?? artifact} as={ask.as} />
        </div>
      )}
      {view === 'changes' && before !== undefined && (
        <Changes text={textOf(edited ?? artifact)} before={textOf(before)} />
      )}
      {view === 'edit' && <Edit {...props} artifact={artifact} />}
    </section>
  )
}

function Edit({ ask, draft, onChange, issues, artifact }: AskPartProps & { readonly artifact: Json }) {
  const control = artifactControl(ask)
  const props = {
    control,
    draft: draft.artifact ?? draftOf(control, artifact),
    onChange: (next: Draft) => onChange({ ...draft, artifact: next }),
    path: 'artifact',
    label: en.editArtifact,
    isRequired: true,
    issues: issuesAt(issues.value, 'artifact'),
  }
  return <div class="fields">{isNested(control) ? <Parts {...props} /> : <Field {...props} />}</div>
}
