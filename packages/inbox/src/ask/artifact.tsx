import type { Signal } from '@preact/signals'
import type { Ask, Issue } from '../api/types.ts'
import { Formatted } from '../text/formatted.tsx'
import type { AskDraft } from './draft.ts'

export function Artifact({
  ask,
}: {
  readonly ask: Ask
  readonly draft: AskDraft
  readonly onChange: (draft: AskDraft) => void
  readonly issues: Signal<readonly Issue[]>
  readonly isOpen: boolean
}) {
  return (
    <section>
      <Formatted value={ask.artifact ?? null} as={ask.as} />
    </section>
  )
}
