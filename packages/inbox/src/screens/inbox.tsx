import type { AskBrief, AskKind, RiskLevel } from '@pawl/server/internal'
import { useEffect } from 'preact/hooks'
import { AskScreen } from '../ask/ask-screen.tsx'
import {
  gone,
  hasMore,
  isFiltered,
  isLoaded,
  listFailure,
  loadMoreAsks,
  newCount,
  refreshAsks,
  showFresh,
  shown,
} from '../ask/asks.ts'
import { askInListHref, filter, noFilter, setFilter } from '../ask/filter.ts'
import { openAsks } from '../ask/open-count.ts'
import { isRejected, outcomeOf } from '../ask/outcome.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { NotLoaded } from '../load/not-loaded.tsx'
import { currentGrant } from '../session.ts'
import { nameOf } from '../text/plain.ts'
import { marked, Text } from '../text/text.tsx'
import { RiskBadge, SeverityBadge } from '../ui/badges.tsx'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, sinceNow } from '../ui/time.ts'

/** The list, and beside it on a wide screen the ask that is open. */
export function InboxScreen({ open }: { readonly open: string | null }) {
  useLive(refreshAsks, [filter.value], { hears: ({ ask }) => ask !== undefined })
  return (
    <div class={open === null ? 'split' : 'split has-open'}>
      <section class="list-pane" aria-label={en.inbox}>
        {isLoaded.value && newCount.value > 0 && (
          <div class="fresh">
            <button type="button" onClick={showFresh}>
              <Icon name="up" />
              {en.newItems(newCount.value)}
            </button>
          </div>
        )}
        <ListHead />
        <List open={open} />
      </section>
      <div class="detail-pane">
        {open === null ? (
          <Empty title={en.nothingChosen} icon="inbox">
            <p class="faint keys-hint">
              <kbd>j</kbd> <kbd>k</kbd> <kbd>Enter</kbd> <kbd>?</kbd>
            </p>
          </Empty>
        ) : (
          <AskScreen key={open} id={open} />
        )}
      </div>
    </div>
  )
}

function ListHead() {
  const { value } = filter
  const { answers, seesOthers } = currentGrant()
  return (
    <header class="list-head">
      <h1 class="pane-title">{en.inbox}</h1>
      <div class="filters">
        {answers && seesOthers && (
          <fieldset class="tabs">
            <legend class="hidden">{en.whoseFilter}</legend>
            {(['mine', 'all'] as const).map((whose) => (
              <Toggle
                key={whose}
                label={en.whose[whose]}
                isOn={value.whose === whose}
                onChange={() => setFilter({ ...value, whose })}
              />
            ))}
          </fieldset>
        )}
        <select
          aria-label={en.statusFilter}
          value={value.status}
          onChange={(event) =>
            setFilter({ ...value, status: event.currentTarget.value === 'answered' ? 'answered' : 'open' })
          }
        >
          <option value="open">{en.openAsks}</option>
          <option value="answered">{en.closedAsks}</option>
        </select>
        <select
          aria-label={en.kindFilter}
          value={value.kind}
          onChange={(event) => setFilter({ ...value, kind: event.currentTarget.value as AskKind | '' })}
        >
          <option value="">{en.allKinds}</option>
          {Object.entries(en.kinds).map(([kind, label]) => (
            <option key={kind} value={kind}>
              {label}
            </option>
          ))}
        </select>
        <select
          aria-label={en.riskFilter}
          value={value.risk}
          onChange={(event) => setFilter({ ...value, risk: event.currentTarget.value as RiskLevel | '' })}
        >
          <option value="">{en.allRisks}</option>
          {Object.entries(en.riskMarks).map(([level, label]) => (
            <option key={level} value={level}>
              {label}
            </option>
          ))}
        </select>
        <Toggle
          label={en.onlyOverdue}
          isOn={value.isOverdue}
          onChange={(isOverdue) => setFilter({ ...value, isOverdue })}
        />
      </div>
    </header>
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

function List({ open }: { readonly open: string | null }) {
  useEffect(() => {
    const { value: count } = openAsks
    if (open === null) document.title = `${count === '' ? '' : `(${count}) `}${en.inbox} · ${en.product}`
  }, [open, openAsks.value])
  if (!isLoaded.value) return <NotLoaded failure={listFailure.value} onRetry={() => void refreshAsks()} />
  // A page of a filter can be empty although asks follow.
  if (shown.value.length === 0 && !hasMore.value) return <EmptyList />
  const stop = (shown.value.find(({ id }) => id === open) ?? shown.value[0])?.id
  return (
    <>
      <ul class="asks">
        {shown.value.map((ask) => (
          <Row
            key={ask.id}
            ask={ask}
            isOpen={ask.id === open}
            isGone={gone.value.has(ask.id)}
            isStop={ask.id === stop}
          />
        ))}
      </ul>
      <footer class="list-foot">
        {hasMore.value && (
          <button type="button" onClick={() => void loadMoreAsks()}>
            {en.loadMore}
          </button>
        )}
        <span class="faint">{en.shownOf(shown.value.length, hasMore.value)}</span>
      </footer>
    </>
  )
}

function EmptyList() {
  const { whose, status } = filter.value
  if (isFiltered.value)
    return (
      <Empty title={en.nothingFound}>
        <button type="button" onClick={() => setFilter({ ...noFilter, whose, status })}>
          {en.clearFilters}
        </button>
      </Empty>
    )
  const { answers, seesOthers } = currentGrant()
  const isMine = whose === 'mine' && answers
  return (
    <Empty title={status === 'open' ? en.nothingOpen : en.nothingAnswered} icon="approve">
      {status === 'open' && <p class="faint">{isMine ? en.nothingOpenHelp : en.nothingOpenAnywhere}</p>}
      {isMine && seesOthers && (
        <button type="button" onClick={() => setFilter({ ...noFilter, status, whose: 'all' })}>
          {en.showAllAsks}
        </button>
      )}
    </Empty>
  )
}

interface RowProps {
  readonly ask: AskBrief
  readonly isOpen: boolean
  readonly isGone: boolean
  /** Whether Tab stops here. It stops once in the list, where arrows and `j`, `k` move on. */
  readonly isStop: boolean
}

function Row({ ask, isOpen, isGone, isStop }: RowProps) {
  const isClosed = isGone || ask.status !== 'open'
  return (
    <li class={isGone ? 'gone' : undefined}>
      <a
        class="ask-row"
        href={askInListHref(ask.id)}
        aria-current={isOpen ? 'true' : undefined}
        tabIndex={isStop ? 0 : -1}
        data-row
      >
        <span class={ask.overdue && !isGone ? 'row-icon overdue' : 'row-icon'} title={en.kinds[ask.kind]}>
          <Icon name={isClosed ? (isRejected(ask) ? 'cross' : 'check') : ask.kind} />
          <span class="hidden">{en.kinds[ask.kind]}. </span>
        </span>
        <span class="row-message" dir="auto">
          {marked(ask.message)}
        </span>
        <span class="row-due">
          <Due ask={ask} isGone={isGone} />
        </span>
        <span class="row-facts">
          {ask.status !== 'open' && <Ended ask={ask} />}
          {ask.severity && <SeverityBadge severity={ask.severity} />}
          {ask.risk && ask.risk.level !== 'low' && <RiskBadge level={ask.risk.level} />}
          <span class="clip">
            <Text>{ask.procedure}</Text>
            {ask.to.length > 0 && (
              <>
                {' · '}
                <Text>{ask.to.join(', ')}</Text>
              </>
            )}
          </span>
        </span>
      </a>
    </li>
  )
}

/** How an ask ended, and by whom. */
function Ended({ ask }: { readonly ask: AskBrief }) {
  return (
    <span class={isRejected(ask) ? 'outcome rejected' : 'outcome'}>
      <Text>{outcomeOf(ask)}</Text>
      {ask.answer !== undefined && (
        <>
          {' · '}
          <Text>{nameOf(ask.answer.by)}</Text>
        </>
      )}
    </span>
  )
}

function Due({ ask, isGone }: { readonly ask: AskBrief; readonly isGone: boolean }) {
  if (isGone) return <>{en.closedElsewhere}</>
  if (ask.status !== 'open') return <>{en.ago(formatAge(sinceNow(ask.answer?.at ?? ask.askedAt)))}</>
  if (ask.dueAt === undefined) return <span class="faint">{en.waits(formatAge(sinceNow(ask.askedAt)))}</span>
  if (ask.overdue) return <span class="overdue">{en.overdueBy(formatAge(sinceNow(ask.dueAt)))}</span>
  return <span class="due-soon">{en.dueIn(formatAge(-sinceNow(ask.dueAt)))}</span>
}
