import type { RepeatedOperation, RepeatPreview } from '@pawl/server/internal'
import { useEffect, useRef, useState } from 'preact/hooks'
import { runHref } from '../../router.ts'
import { Text } from '../../text/text.tsx'
import { repeatTexts as texts } from './texts.ts'

/** Says what is kept of a run and what runs again. It takes the focus, since it is what has to be read next. */
export function Preview(props: {
  readonly preview: RepeatPreview
  /** Warns about effects that run again. */
  readonly effects: (count: number) => string
}) {
  const { kept, operations, more, undone, children } = props.preview
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const repeated = operations.filter(({ becomes }) => becomes === 'repeated')
  const effects = repeated.filter(({ does }) => does === 'effect').length
  return (
    <section class="preview">
      <h3 ref={title} tabIndex={-1}>
        {texts.again}
      </h3>
      <p class="faint">{operations.length === 0 ? texts.nothingAgain : texts.kept(kept)}</p>
      {(['edited', 'repeated', 'depends'] as const).map((one) => (
        <Operations key={one} becomes={one} all={operations} />
      ))}
      {more > 0 && <p class="faint">{texts.more(more)}</p>}
      {effects > 0 && <p class="notice">{props.effects(effects)}</p>}
      {undone.length > 0 && (
        <p class="notice overdue" dir="auto">
          {texts.undone}: <Text>{undone.join(', ')}</Text>
        </p>
      )}
      <Children runs={children} />
    </section>
  )
}

const firstOperations = 8

function Operations(props: {
  readonly becomes: RepeatedOperation['becomes']
  readonly all: readonly RepeatedOperation[]
}) {
  const [isOpen, setOpen] = useState(false)
  const found = props.all.filter(({ becomes }) => becomes === props.becomes)
  if (found.length === 0) return null
  const shown = isOpen ? found : found.slice(0, firstOperations)
  return (
    <>
      <h4>{texts.becomes[props.becomes]}</h4>
      <ul class="operations">
        {shown.map(({ position, name, does, becomes }) => (
          <li key={position}>
            <span class="number faint">{position}</span>
            <span class="clip">
              <Text>{name}</Text>
            </span>
            {becomes !== 'edited' && <span class="faint">{texts.does[does]}</span>}
          </li>
        ))}
      </ul>
      {shown.length < found.length && (
        <button type="button" class="small" onClick={() => setOpen(true)}>
          {texts.more(found.length - shown.length)}
        </button>
      )}
    </>
  )
}

function Children({ runs }: { readonly runs: readonly string[] }) {
  if (runs.length === 0) return null
  return (
    <>
      <h4>{texts.children}</h4>
      <ul>
        {runs.map((run) => (
          <li key={run}>
            <a href={runHref(run)}>
              <Text>{run}</Text>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
