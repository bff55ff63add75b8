import type { Ask } from '@pawl/server/internal'
import { useRef, useState } from 'preact/hooks'
import { getAsk } from '../api/calls.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { failureOf, type LoadFailure } from '../load/failure.ts'
import { NotLoaded } from '../load/not-loaded.tsx'
import { noteEnded } from '../session.ts'
import { Icon } from '../ui/icons.tsx'
import { AskPage } from './ask-page.tsx'
import { listHref } from './filter.ts'

/** One ask, read again when something happens to it: another person may answer it meanwhile. */
export function AskScreen({ id }: { readonly id: string }) {
  const [ask, setAsk] = useState<Ask | null>(null)
  const [failure, setFailure] = useState<LoadFailure | null>(null)
  const known = useRef<Ask | null>(null)
  const show = (next: Ask) => {
    known.current = next
    setAsk(next)
  }
  const load = async () => {
    try {
      const next = await getAsk(id)
      if (JSON.stringify(next) === JSON.stringify(known.current)) return
      show(next)
    } catch (error) {
      noteEnded(error)
      setFailure(failureOf(error))
    }
  }
  useLive(load, [id], { hears: (bell) => bell.ask === id || bell.ask === known.current?.id })
  return (
    <div class="page ask-page">
      <a class="back" href={listHref()}>
        <Icon name="back" />
        {en.back}
      </a>
      {ask ? (
        <AskPage ask={ask} onChange={show} />
      ) : (
        <NotLoaded failure={failure} onRetry={() => void load()} />
      )}
    </div>
  )
}
