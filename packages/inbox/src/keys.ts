import { listHref } from './ask/filter.ts'
import { go, inboxHref, route, runsHref } from './router.ts'
import { runsListHref } from './runs/filter.ts'
import { currentGrant } from './session.ts'

/** Keys that move or prepare. None of them settles an ask: that takes a focused button. */
export function listenToKeys(onHelp: () => void): () => void {
  let isAfterG = false
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') return leaveField(event.target)
    if (isTyping(event.target) || document.querySelector('dialog[open]')) return
    const wasAfterG = isAfterG
    isAfterG = event.key === 'g'
    if (press(event.key, wasAfterG, onHelp)) event.preventDefault()
  }
  document.addEventListener('keydown', listen)
  return () => document.removeEventListener('keydown', listen)
}

function press(key: string, isAfterG: boolean, onHelp: () => void): boolean {
  if (isAfterG && (key === 'i' || key === 'r')) {
    if (key === 'r' && !currentGrant().listsRuns) return false
    go(key === 'i' ? inboxHref : runsHref)
    return true
  }
  switch (key) {
    case 'j':
      return moveFocus(1)
    case 'k':
      return moveFocus(-1)
    case 'ArrowDown':
      return isOnRow() && moveFocus(1)
    case 'ArrowUp':
      return isOnRow() && moveFocus(-1)
    case 'u':
      return goBack()
    case '?':
      onHelp()
      return true
    case 'a':
    case 'r':
      return focusOn(`[data-shortcut="${key}"]`)
    case 'e':
      return focusOn(
        '.ask-page :is(.params, .fields, .artifact, .cards) :is(input, textarea, select), .ask-page [data-shortcut="e"]',
      )
    case 'c':
      return focusOn('#comment')
    default:
      return false
  }
}

/** Letters are shortcuts again. */
function leaveField(target: EventTarget | null): void {
  if (isTyping(target) && target instanceof HTMLElement) target.blur()
}

function isOnRow(): boolean {
  return document.activeElement?.matches('[data-row]') === true
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.dataset['quiet'] === 'true') return true
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'button'].includes(target.type)
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
}

/** Moves along the rows of the list; where an ask is open beside the list, it opens the next one. */
function moveFocus(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(
    (row) => row.offsetParent !== null,
  )
  if (rows.length === 0) return false
  const { activeElement } = document
  const focused = activeElement instanceof HTMLElement ? rows.indexOf(activeElement) : -1
  const current =
    focused >= 0 ? focused : rows.findIndex((row) => row.getAttribute('aria-current') === 'true')
  const next = rows[Math.min(rows.length - 1, Math.max(0, current + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  if (route.value.screen === 'ask' && next instanceof HTMLAnchorElement) location.hash = next.hash
  return true
}

function goBack(): boolean {
  const { screen } = route.value
  if (screen === 'ask') go(listHref())
  else if (screen === 'run') go(currentGrant().listsRuns ? runsListHref() : inboxHref)
  else return false
  return true
}

function focusOn(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector)
  element?.focus()
  element?.scrollIntoView({ block: 'nearest' })
  return element !== null
}
