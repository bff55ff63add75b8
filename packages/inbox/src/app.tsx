import type { Me } from '@pawl/server/internal'
import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isOnline, lastReplyAt, sinceServerTime } from './api/connection.ts'
import { listHref } from './ask/filter.ts'
import { countOpenAsks, openAsks } from './ask/open-count.ts'
import { en } from './en.ts'
import { listenToKeys } from './keys.ts'
import { announcement } from './live/announce.ts'
import { isLive, startFeed } from './live/feed.ts'
import { useLive } from './live/poll.ts'
import { NotLoaded } from './load/not-loaded.tsx'
import { countUnread, unreadNotices } from './notices/unread.ts'
import { inboxHref, noticesHref, route, runsHref, workersHref } from './router.ts'
import { runsListHref } from './runs/filter.ts'
import { InboxScreen } from './screens/inbox.tsx'
import { Login } from './screens/login.tsx'
import { currentGrant, currentUser, endSession, loadMe, session } from './session.ts'
import { nameOf } from './text/plain.ts'
import { Text } from './text/text.tsx'
import { Empty, Loading } from './ui/empty.tsx'
import { Icon } from './ui/icons.tsx'
import { useKeptScroll } from './ui/kept-scroll.ts'
import { lazy, type Retryable } from './ui/lazy.tsx'
import { Shortcuts } from './ui/shortcuts.tsx'
import { formatAge } from './ui/time.ts'

// An approver may never open a run: its screens are loaded when they are first needed.
type Screens = typeof import('./screens/run-screens.ts')
const lazyScreen = <P extends object>(pick: (screens: Screens) => FunctionComponent<P>) =>
  lazy(async () => pick(await import('./screens/run-screens.ts')), Loading, NotFetched)
const RunsScreen = lazyScreen(({ RunsScreen }) => RunsScreen)
const WorkersScreen = lazyScreen(({ WorkersScreen }) => WorkersScreen)
const NoticesScreen = lazyScreen(({ NoticesScreen }) => NoticesScreen)
const RunScreen = lazyScreen(({ RunScreen }) => RunScreen)

/** The code of a screen was not loaded. */
function NotFetched({ onRetry }: Retryable) {
  return <NotLoaded failure={{ why: 'offline' }} onRetry={onRetry} />
}

export function App() {
  const { state } = session.value
  return (
    <>
      {state === 'in' ? <Shell /> : <Outside />}
      <div class="hidden" role="status" aria-live="polite">
        {announcement.value}
      </div>
    </>
  )
}

function Outside() {
  const { value } = session
  useEffect(() => {
    if (value.state !== 'offline') return
    const timer = setInterval(() => void loadMe(), 5_000)
    return () => clearInterval(timer)
  }, [value.state])
  return (
    <main class="outside">
      {value.state === 'loading' && <Loading />}
      {value.state === 'offline' && (
        <Empty title={en.offlineStart} icon="alert">
          <button type="button" onClick={() => void loadMe()}>
            {en.reload}
          </button>
        </Empty>
      )}
      {value.state === 'out' && <Login reason={value.reason} />}
    </main>
  )
}

const allTabs = [
  { href: inboxHref, label: en.inbox, screens: ['inbox', 'ask'] },
  { href: noticesHref, label: en.notices, screens: ['notices'] },
  { href: runsHref, label: en.runs, screens: ['runs', 'run'] },
  { href: workersHref, label: en.workers, screens: ['workers'] },
]

function Shell() {
  const [isHelpOpen, setHelpOpen] = useState(false)
  useEffect(() => listenToKeys(() => setHelpOpen((isOpen) => !isOpen)), [])
  const { actor } = currentUser()
  useEffect(() => startFeed(actor), [actor])
  useLive(countUnread, [actor], { hears: ({ event }) => event === 'notice' })
  useLive(countOpenAsks, [actor], { hears: ({ ask }) => ask !== undefined })
  const { value: at } = route
  const scroll = useKeptScroll(
    at.screen === 'inbox' ? listHref() : at.screen === 'runs' ? runsListHref() : null,
  )
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {en.skipToContent}
      </button>
      <Top actor={actor} screen={at.screen} onHelp={() => setHelpOpen(true)} />
      {!isOnline.value && (
        <p class="offline-bar">
          <Icon name="alert" />
          {en.offlineSince(formatAge(sinceServerTime(lastReplyAt.value)))}
        </p>
      )}
      <main id="main" tabIndex={-1} {...scroll}>
        {(at.screen === 'inbox' || at.screen === 'ask') && (
          <InboxScreen open={at.screen === 'ask' ? at.id : null} />
        )}
        {at.screen === 'notices' && <NoticesScreen />}
        {at.screen === 'runs' && <RunsScreen />}
        {at.screen === 'workers' && <WorkersScreen />}
        {at.screen === 'run' && <RunScreen key={at.id} id={at.id} />}
      </main>
      {isHelpOpen && <Shortcuts onClose={() => setHelpOpen(false)} />}
    </div>
  )
}

interface TopProps extends Pick<Me, 'actor'> {
  readonly screen: string
  readonly onHelp: () => void
}

function Top({ actor, screen, onHelp }: TopProps) {
  const grant = currentGrant()
  const tabs = allTabs.filter(
    ({ href }) => (href !== runsHref || grant.listsRuns) && (href !== workersHref || grant.seesWorkers),
  )
  const counts: Readonly<Record<string, Count>> = {
    [inboxHref]: { count: openAsks.value, word: en.openAsksWord },
    [noticesHref]: { count: unreadNotices.value, word: en.unreadNotices },
  }
  return (
    <header class="top">
      <a class="brand" href={inboxHref}>
        <span class="logo" aria-hidden="true">
          <Icon name="check" />
        </span>
        <span class="brand-word">{en.product}</span>
      </a>
      <nav>
        {tabs.map(({ href, label, screens }) => (
          <a key={href} href={href} aria-current={screens.includes(screen) ? 'page' : undefined}>
            {label}
            <Badge {...counts[href]} />
          </a>
        ))}
      </nav>
      <span class="spacer" />
      <ConnectionState />
      <button
        type="button"
        class="quiet keys-button"
        aria-label={en.keyboard}
        title={`${en.keyboard} (?)`}
        onClick={onHelp}
      >
        <Icon name="keyboard" />
      </button>
      <span class="who">
        <Text>{nameOf(actor)}</Text>
      </span>
      <button type="button" class="quiet log-out" onClick={() => void endSession()}>
        {en.logOut}
      </button>
      <Menu actor={actor} />
    </header>
  )
}

/** On a phone: who is logged in, the state of the connection, and the way out. */
function Menu({ actor }: Pick<Me, 'actor'>) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="quiet menu-button" popovertarget="menu" aria-label={en.menu}>
        <ConnectionDot />
        <Icon name="menu" />
      </button>
      <div
        id="menu"
        popover="auto"
        class="menu"
        onBeforeToggle={(event) => setOpen(event.newState === 'open')}
      >
        {isOpen && (
          <>
            <p class="menu-who">
              <Text>{nameOf(actor)}</Text>
            </p>
            <ConnectionState />
            <button type="button" onClick={() => void endSession()}>
              {en.logOut}
            </button>
          </>
        )}
      </div>
    </>
  )
}

interface Count {
  readonly count?: string
  readonly word?: string
}

function Badge({ count = '', word = '' }: Count) {
  if (count === '') return null
  return (
    <span class="count" title={word}>
      {count}
      <span class="hidden"> {word}</span>
    </span>
  )
}

const connectionState = () => (!isOnline.value ? 'offline' : isLive.value ? 'live' : 'polling')

/** Beside the menu, which has the word. */
function ConnectionDot() {
  const state = connectionState()
  return (
    <span class={`menu-state ${state}`}>
      <span class="dot" aria-hidden="true" />
      {state !== 'live' && <span>{en.connections[state]}</span>}
    </span>
  )
}

function ConnectionState() {
  const state = connectionState()
  const word = en.connections[state]
  return (
    <span class={`connection ${state}`} title={en.connectionHelp[state]}>
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  )
}
