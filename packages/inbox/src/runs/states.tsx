import type { LogEntry, State } from '@pawl/server/internal'
import { useEffect, useState } from 'preact/hooks'
import { listStates } from '../api/calls.ts'
import { noteEnded } from '../session.ts'
import { Text } from '../text/text.tsx'
import { Value } from '../text/value.tsx'
import { formatInstant } from '../ui/time.ts'
import { runTexts } from './texts.ts'

/** Reads what a run exposes, and again whenever its log was read. */
export function useStates(run: string, entries: readonly LogEntry[]): readonly State[] {
  const [states, setStates] = useState<readonly State[]>([])
  useEffect(() => {
    let isCurrent = true
    listStates(run)
      .then(({ items }) => isCurrent && setStates(items))
      .catch(noteEnded)
    return () => {
      isCurrent = false
    }
  }, [run, entries])
  return states
}

/** The values that a run exposes. Those of Pawl itself are shown in ways of their own. */
export function States({ states }: { readonly states: readonly State[] }) {
  const own = states.filter(({ name }) => !name.startsWith('pawl.'))
  if (own.length === 0) return null
  return (
    <section>
      <h2>{runTexts.state}</h2>
      <div class="params">
        {own.map(({ name, at, value }) => (
          <div class="param" key={name} title={formatInstant(at)}>
            <span class="label">
              <Text>{name}</Text>
            </span>
            <div class="param-value">
              <Value value={value ?? null} />
            </div>
          </div>
        ))}
      </div>
    </section>
  )
}
