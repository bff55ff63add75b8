import type { Me } from '@pawl/server/internal'
import { useEffect, useState } from 'preact/hooks'
import { isOnline, lastReplyAt, serverNow } from './api/connection.ts'
import { en } from './en.ts'
import { listenToKeys } from './keys.ts'
import { announcement } from './live/announce.ts'
import { isLive, startFeed } from './live/feed.ts'
import { useLive } from './live/poll.ts'
import { countUnread, unreadNotices } from './notices/unread.ts'
import { inboxHref, noticesHref, route, runsHref, workersHref } from './router.ts'
import { InboxScreen } from './screens/inbox.tsx'
import { Login } from './screens/login.tsx'
import { currentGrant, currentUser, endSession, loadMe, session } from './session.ts'
import { Text } from './text/text.tsx'
import { Empty, Loading } from './ui/empty.tsx'
import { Icon } from './ui/icons.tsx'
import { lazy } from './ui/lazy.tsx'
import { Shortcuts } from './ui/shortcuts.tsx'
import { formatAge } from './ui/time.ts'

// An approver may never open a run: its screens are loaded when they are first needed.
const RunsScreen = lazy(async () => (await import('./screens/run-screens.ts')).RunsScreen, Loading)
const WorkersScreen = lazy(async () => (await import('./screens/run-screens.ts')).WorkersScreen, Loading)
const NoticesScreen = lazy(async () => (await import('./screens/run-screens.ts')).NoticesScreen, Loading)
const RunScreen = lazy(async () => (await import('./screens/run-screens.ts')).RunScreen, Loading)

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
  const { value: at } = route
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {en.skipToContent}
      </button>
      <Top actor={actor} screen={at.screen} onHelp={() => setHelpOpen(true)} />
      {!isOnline.value && (
        <p class="offline-bar">
          <Icon name="alert" />
          {en.offlineSince(formatAge(serverNow() - lastReplyAt.value))}
        </p>
      )}
      <main id="main" tabIndex={-1}>
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
  const tabs = currentGrant().seesWorkers ? allTabs : allTabs.filter(({ href }) => href !== workersHref)
  return (
    <header class="top">
      <a class="brand" href={inboxHref}>
        <span class="logo" aria-hidden="true">
          <Icon name="check" />
        </span>
        {en.product}
      </a>
      <nav>
        {tabs.map(({ href, label, screens }) => (
          <a key={href} href={href} aria-current={screens.includes(screen) ? 'page' : undefined}>
            {label}
            {href === noticesHref && unreadNotices.value !== '' && (
              <span class="count" title={en.unreadNotices}>
                {unreadNotices.value}
                <span class="hidden"> {en.unreadNotices}</span>
              </span>
            )}
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
        <Text>{actor.replace(/^user:/, '')}</Text>
      </span>
      <button type="button" class="quiet log-out" onClick={() => void endSession()}>
        {en.logOut}
      </button>
    </header>
  )
}

function ConnectionState() {
  const state = !isOnline.value ? 'offline' : isLive.value ? 'live' : 'polling'
  const word = en.connections[state]
  return (
    <span class={`connection ${state}`} title={en.connectionHelp[state]}>
      <span class="dot" aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  )
}
