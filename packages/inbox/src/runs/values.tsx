import type { Run } from '@pawl/server/internal'
import { Value } from '../text/value.tsx'
import { runTexts } from './texts.ts'

/** Shows the input and the output of a run, if its procedure has them. */
export function Values({ run: { id, values } }: { readonly run: Run }) {
  if (values === undefined) return null
  const shown = (['input', 'output'] as const).filter(
    (name) => values[name] !== undefined || values.omitted.includes(name),
  )
  return shown.map((name) => (
    <section key={name} class={`run-${name}`}>
      <h2>{runTexts[name]}</h2>
      {values.omitted.includes(name) ? (
        <p class="faint">
          {runTexts.tooLarge}{' '}
          <code>
            pawl {name === 'output' ? 'result' : 'export'} {id}
          </code>
        </p>
      ) : (
        <Value value={values[name] ?? null} />
      )}
    </section>
  ))
}
