import type { AskBrief, AskKind, RiskLevel } from '@pawl/server/internal'
import { useEffect } from 'preact/hooks'
import { AskScreen } from '../ask/ask-screen.tsx'
import {
  filter,
  gone,
  hasMore,
  isFiltered,
  isLoaded,
  loadMoreAsks,
  newCount,
  noFilter,
  refreshAsks,
  setFilter,
  showFresh,
  shown,
} from '../ask/asks.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { askHref } from '../router.ts'
import { marked, Text } from '../text/text.tsx'
import { RiskBadge } from '../ui/badges.tsx'
import { Empty, Loading } from '../ui/empty.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, sinceNow } from '../ui/time.ts'

/** The list, and beside it on a wide screen the ask that is open. */
export function InboxScreen({ open }: { readonly open: string | null }) {
  useLive(refreshAsks, [filter.value], { hears: ({ ask }) => ask !== undefined })
  return (
    <div class={open === null ? 'split' : 'split has-open'}>
      <section class="list-pane" aria-label={en.inbox}>
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
  return (
    <header class="list-head">
      <h1 class="pane-title">{en.inbox}</h1>
      <div class="filters">
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
          label={en.onlyMine}
          isOn={value.isMine}
          onChange={(isMine) => setFilter({ ...value, isMine })}
        />
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
    const count = shown.value.filter(({ id }) => !gone.value.has(id)).length
    if (open === null) document.title = count > 0 ? `${en.inbox} (${count}) · ${en.product}` : en.product
  }, [open, shown.value, gone.value])
  if (!isLoaded.value) return <Loading />
  // A page of a filter can be empty although asks follow.
  if (shown.value.length === 0 && !hasMore.value) return <EmptyList />
  return (
    <>
      {newCount.value > 0 && (
        <div class="fresh">
          <button type="button" onClick={showFresh}>
            <Icon name="up" />
            {en.newItems(newCount.value)}
          </button>
        </div>
      )}
      <ul class="asks">
        {shown.value.map((ask) => (
          <Row key={ask.id} ask={ask} isOpen={ask.id === open} isGone={gone.value.has(ask.id)} />
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
  if (isFiltered.value)
    return (
      <Empty title={en.nothingFound}>
        <button type="button" onClick={() => setFilter(noFilter)}>
          {en.clearFilters}
        </button>
      </Empty>
    )
  return (
    <Empty title={en.nothingOpen} icon="approve">
      <p class="faint">{en.nothingOpenHelp}</p>
    </Empty>
  )
}

function Row(props: { readonly ask: AskBrief; readonly isOpen: boolean; readonly isGone: boolean }) {
  const { ask, isOpen, isGone } = props
  const isClosed = isGone || ask.status !== 'open'
  return (
    <li class={isGone ? 'gone' : undefined}>
      <a class="ask-row" href={askHref(ask.id)} aria-current={isOpen ? 'true' : undefined} data-row>
        <span class={ask.overdue && !isGone ? 'row-icon overdue' : 'row-icon'} title={en.kinds[ask.kind]}>
          <Icon name={isClosed ? 'check' : ask.kind} />
          <span class="hidden">{en.kinds[ask.kind]}. </span>
        </span>
        <span class="row-message" dir="auto">
          {marked(ask.message)}
        </span>
        <span class="row-due">
          <Due ask={ask} isGone={isGone} />
        </span>
        <span class="row-facts">
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

function Due({ ask, isGone }: { readonly ask: AskBrief; readonly isGone: boolean }) {
  if (isGone) return <>{en.closedElsewhere}</>
  if (ask.status !== 'open') return <>{en.ago(formatAge(sinceNow(ask.answer?.at ?? ask.askedAt)))}</>
  if (ask.dueAt === undefined) return <span class="faint">{formatAge(sinceNow(ask.askedAt))}</span>
  if (ask.overdue) return <span class="overdue">{en.overdueBy(formatAge(sinceNow(ask.dueAt)))}</span>
  return <span class="due-soon">{en.dueIn(formatAge(-sinceNow(ask.dueAt)))}</span>
}
