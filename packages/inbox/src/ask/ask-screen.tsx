import type { Ask } from '@pawl/server/internal'
import { useRef, useState } from 'preact/hooks'
import { getAsk } from '../api/calls.ts'
import { ApiError } from '../api/request.ts'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'
import { useLive } from '../live/poll.ts'
import { inboxHref } from '../router.ts'
import { noteEnded } from '../session.ts'
import { Empty, Loading } from '../ui/empty.tsx'
import { Icon } from '../ui/icons.tsx'
import { AskPage } from './ask-page.tsx'

/** One ask, read again when something happens to it: another person may answer it meanwhile. */
export function AskScreen({ id }: { readonly id: string }) {
  const [ask, setAsk] = useState<Ask | null>(null)
  const [isMissing, setMissing] = useState(false)
  const known = useRef<Ask | null>(null)
  const load = async () => {
    try {
      const next = await getAsk(id)
      if (JSON.stringify(next) === JSON.stringify(known.current)) return
      if (known.current?.status === 'open' && next.status !== 'open') announce(en.closedMeanwhile)
      known.current = next
      setAsk(next)
    } catch (error) {
      noteEnded(error)
      if (error instanceof ApiError && error.problem.status === 404) setMissing(true)
    }
  }
  useLive(load, [id], { hears: (bell) => bell.ask === id || bell.ask === known.current?.id })
  return (
    <div class="page ask-page">
      <a class="back" href={inboxHref}>
        <Icon name="back" />
        {en.back}
      </a>
      {ask ? (
        <AskPage ask={ask} onChange={setAsk} />
      ) : isMissing ? (
        <Empty title={en.notFound} />
      ) : (
        <Loading />
      )}
    </div>
  )
}
