import type { LogEntry, Run, Waiting } from '@pawl/server/internal'
import { en } from '../en.ts'
import { askHref } from '../router.ts'
import { Text } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, formatInstant, sinceNow } from '../ui/time.ts'
import { runTexts } from './texts.ts'

interface Props {
  readonly run: Run
  readonly entries: readonly LogEntry[]
}

/** What a run waits for. Children of one name are one line; a step that is retried says why. */
export function WaitingFor({ run: { waitingFor }, entries }: Props) {
  if (waitingFor.length === 0) return null
  return (
    <section>
      <h2>{en.waitingFor}</h2>
      <ul class="waiting">
        {groupsOf(waitingFor).map((group) => (
          <li key={`${group[0].position} ${group[0].kind}`}>
            <One one={group[0]} count={group.length} />
            <Failed one={group[0]} entries={entries} />
          </li>
        ))}
      </ul>
    </section>
  )
}

type Group = [Waiting, ...Waiting[]]

function groupsOf(waitingFor: readonly Waiting[]): readonly Group[] {
  const groups: Group[] = []
  for (const one of waitingFor) {
    const alike =
      one.kind === 'child'
        ? groups.find(([{ kind, name }]) => kind === 'child' && name === one.name)
        : undefined
    if (alike === undefined) groups.push([one])
    else alike.push(one)
  }
  return groups
}

function One({ one, count }: { readonly one: Waiting; readonly count: number }) {
  return (
    <>
      <Icon name={one.kind === 'ask' ? 'approve' : 'runs'} />
      <span>
        {en.waitingKinds[one.kind]}{' '}
        {one.ask === undefined ? (
          <Text>{one.name}</Text>
        ) : (
          <a href={askHref(one.ask)}>
            <Text>{one.name}</Text>
          </a>
        )}
        {count > 1 && <span class="number"> {runTexts.times(count)}</span>}
      </span>
      {one.until !== undefined && (
        <span class="faint" title={formatInstant(one.until)}>
          {en.until(formatAge(-sinceNow(one.until)))}
        </span>
      )}
    </>
  )
}

/** The last failure of a step that is retried. */
function Failed({ one, entries }: { readonly one: Waiting; readonly entries: readonly LogEntry[] }) {
  if (one.kind !== 'step') return null
  const last = entries.find(({ position }) => position === one.position)?.attempts?.at(-1)
  if (last === undefined) return null
  return (
    <span class="last-failure">
      {runTexts.retrying(last.attempt)}: <Text>{last.error.message}</Text>
    </span>
  )
}
