import type { Notice } from '@pawl/server/internal'
import { useEffect, useRef, useState } from 'preact/hooks'
import { listNotices, readNotices } from '../api/calls.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { failureOf, type LoadFailure } from '../load/failure.ts'
import { NotLoaded } from '../load/not-loaded.tsx'
import { noticeTexts } from '../notices/texts.ts'
import { countUnread } from '../notices/unread.ts'
import { runHref } from '../router.ts'
import { noteEnded } from '../session.ts'
import { Formatted } from '../text/formatted.tsx'
import { OutsideLink } from '../text/link.tsx'
import { marked, Text } from '../text/text.tsx'
import { SeverityBadge } from '../ui/badges.tsx'
import { Empty } from '../ui/empty.tsx'
import { formatAge, formatInstant, sinceNow } from '../ui/time.ts'

const pageSize = 50

/** Notices, which need no answer, newest first. A notice that was read stays until the filter changes. */
export function NoticesScreen() {
  const [notices, setNotices] = useState<readonly Notice[] | null>(null)
  const [isMine, setMine] = useState(true)
  const [isUnread, setUnread] = useState(false)
  const [failure, setFailure] = useState<LoadFailure | null>(null)
  const [cursor, setCursor] = useState<string | undefined>(undefined)
  const count = useRef(pageSize)
  useEffect(() => {
    document.title = `${en.notices} · ${en.product}`
  }, [])
  const filter = { ...(isMine ? { mine: true } : {}), ...(isUnread ? { unread: true } : {}) }
  const load = async () => {
    try {
      const page = await listNotices({ ...filter, limit: Math.min(500, count.current) })
      setNotices(page.items)
      setCursor(page.cursor)
    } catch (error) {
      noteEnded(error)
      setFailure(failureOf(error))
    }
  }
  useLive(load, [isMine, isUnread], { hears: ({ event }) => event === 'notice' })
  const older = async () => {
    const page = await listNotices({ ...filter, limit: pageSize, cursor }).catch(noteEnded)
    if (!page) return
    count.current += page.items.length
    setNotices((now) => [...(now ?? []), ...page.items])
    setCursor(page.cursor)
  }
  const read = async (ids: readonly string[]) => {
    await readNotices(ids).catch(noteEnded)
    setNotices((now) => now?.map((one) => (ids.includes(one.id) ? { ...one, isRead: true } : one)) ?? null)
    await countUnread()
  }
  const unread = (notices ?? []).filter((one) => !one.isRead).map(({ id }) => id)
  return (
    <div class="page wide">
      <header class="list-head">
        <h1 class="pane-title">{en.notices}</h1>
        <div class="filters">
          <Toggle label={en.onlyMine} isOn={isMine} onChange={setMine} />
          <Toggle label={noticeTexts.onlyUnread} isOn={isUnread} onChange={setUnread} />
          {unread.length > 0 && (
            <button type="button" onClick={() => void read(unread.slice(0, 200))}>
              {noticeTexts.readAll}
            </button>
          )}
        </div>
      </header>
      {notices !== null ? (
        <List notices={notices} isUnread={isUnread} onRead={(id) => void read([id])} />
      ) : (
        <NotLoaded failure={failure} onRetry={() => void load()} />
      )}
      {cursor !== undefined && (
        <button type="button" onClick={() => void older()}>
          {noticeTexts.older}
        </button>
      )}
    </div>
  )
}

function Toggle(props: {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}) {
  return (
    <button
      type="button"
      class="toggle"
      aria-pressed={props.isOn ? 'true' : 'false'}
      onClick={() => props.onChange(!props.isOn)}
    >
      {props.label}
    </button>
  )
}

function List(props: {
  readonly notices: readonly Notice[]
  readonly isUnread: boolean
  readonly onRead: (id: string) => void
}) {
  if (props.notices.length === 0)
    return <Empty title={props.isUnread ? noticeTexts.noneUnread : noticeTexts.none} />
  return (
    <ol class="notices">
      {props.notices.map((notice) => (
        <li key={notice.id} class={notice.isRead ? 'read' : 'unread'}>
          <Item notice={notice} onRead={props.onRead} />
        </li>
      ))}
    </ol>
  )
}

function Item({ notice, onRead }: { readonly notice: Notice; readonly onRead: (id: string) => void }) {
  const { id, run, severity, message, to, details, links, at, isRead } = notice
  return (
    <article>
      <p class="notice-head">
        <SeverityBadge severity={severity} />
        {!isRead && <span class="badge">{noticeTexts.unread}</span>}
        <span class="faint" title={formatInstant(at)}>
          {en.ago(formatAge(sinceNow(at)))}
        </span>
        {to.length > 0 && (
          <span class="faint">
            <Text>{to.join(', ')}</Text>
          </span>
        )}
      </p>
      <h2 dir="auto">{marked(message)}</h2>
      {details.map(({ title, body, as }, index) => (
        <details key={`${index} ${title}`}>
          <summary dir="auto">{marked(title)}</summary>
          <Formatted value={body ?? null} as={as} />
        </details>
      ))}
      <p class="notice-links">
        <a href={runHref(run)}>
          <Text>{run}</Text>
        </a>
        {links.map((link) => (
          <OutsideLink key={link.url} {...link} />
        ))}
        {!isRead && (
          <button type="button" class="small" onClick={() => onRead(id)}>
            {noticeTexts.read}
            <span class="hidden"> {marked(message)}</span>
          </button>
        )}
      </p>
    </article>
  )
}
