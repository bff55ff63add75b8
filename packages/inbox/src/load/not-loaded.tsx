import { en } from '../en.ts'
import { inboxHref } from '../router.ts'
import { Text } from '../text/text.tsx'
import { Empty, Loading } from '../ui/empty.tsx'
import type { LoadFailure } from './failure.ts'

interface Props {
  readonly failure: LoadFailure | null
  readonly onRetry: () => void
}

/** What a screen shows while it has nothing: that it is being loaded, or why it could not be, and what to do. */
export function NotLoaded({ failure, onRetry }: Props) {
  if (failure === null) return <Loading />
  return (
    <Empty title={titleOf(failure)} icon="alert">
      {'detail' in failure && (
        <p class="faint">
          <Text>{failure.detail}</Text>
        </p>
      )}
      {failure.why === 'offline' && <p class="faint">{en.loadsWhenOnline}</p>}
      <p class="empty-actions">
        {(failure.why === 'offline' || failure.why === 'refused') && (
          <button type="button" onClick={onRetry}>
            {en.reload}
          </button>
        )}
        {(failure.why === 'missing' || failure.why === 'denied') && (
          <a class="button" href={inboxHref}>
            {en.toInbox}
          </a>
        )}
      </p>
    </Empty>
  )
}

function titleOf({ why }: LoadFailure): string {
  switch (why) {
    case 'missing':
      return en.notFound
    case 'denied':
      return en.notAllowed
    case 'offline':
      return en.offlineStart
    case 'refused':
      return en.notLoaded
  }
}
