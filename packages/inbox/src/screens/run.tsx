import type { LogEntry, Run } from '@pawl/server/internal'
import { useEffect, useRef, useState } from 'preact/hooks'
import { getLog, getRun, type LogPage, segment } from '../api/calls.ts'
import { serverNow } from '../api/connection.ts'
import { urlOf } from '../api/request.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { useStill } from '../live/still.ts'
import { failureOf, type LoadFailure } from '../load/failure.ts'
import { NotLoaded } from '../load/not-loaded.tsx'
import { inboxHref, runHref } from '../router.ts'
import { Children } from '../runs/children.tsx'
import { runsListHref } from '../runs/filter.ts'
import { Log } from '../runs/log.tsx'
import { Plans } from '../runs/plan/plans.tsx'
import { ProgressBar } from '../runs/progress.tsx'
import { type Repeat, RepeatDialog } from '../runs/repeat/repeat-dialog.tsx'
import { RunActions } from '../runs/run-actions.tsx'
import { useRunStream } from '../runs/run-stream.ts'
import { States, useStates } from '../runs/states.tsx'
import { Stuck } from '../runs/stuck.tsx'
import { runTexts } from '../runs/texts.ts'
import { Timeline } from '../runs/timeline.tsx'
import { Values } from '../runs/values.tsx'
import { WaitingFor } from '../runs/waiting-for.tsx'
import { currentGrant, noteEnded } from '../session.ts'
import { marked, Text } from '../text/text.tsx'
import { StatusBadge } from '../ui/badges.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, formatInstant, formatSpan, serverTime, sinceNow } from '../ui/time.ts'

interface Loaded {
  readonly run: Run
  /** Newest first. */
  readonly entries: readonly LogEntry[]
  readonly before: number | undefined
}

const pageSize = 100

export function RunScreen({ id }: { readonly id: string }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const [failure, setFailure] = useState<LoadFailure | null>(null)
  const { listsRuns } = currentGrant()
  const count = useRef(pageSize)
  useEffect(() => {
    document.title = `${id} · ${en.product}`
  }, [id])
  const load = async () => {
    try {
      const [run, page] = await Promise.all([getRun(id), getLog(id, { limit: Math.min(500, count.current) })])
      setLoaded((before) => merge(before, run, page))
    } catch (error) {
      noteEnded(error)
      setFailure(failureOf(error))
    }
  }
  const isOver = loaded?.run.endedAt !== undefined
  const isLive = useRef(false)
  const reload = useLive(load, [id], {
    hears: (bell) => bell.run === id,
    liveMs: () => (isLive.current || isOver ? 60_000 : 5_000),
  })
  isLive.current = useRunStream(id, isOver, reload)
  const older = async () => {
    const page = await getLog(id, { limit: pageSize, before: loaded?.before }).catch(noteEnded)
    if (!page) return
    setLoaded((now) => now && { ...now, entries: [...now.entries, ...page.items], before: page.before })
  }
  return (
    <div class="page run-page">
      <a class="back" href={listsRuns ? runsListHref() : inboxHref}>
        <Icon name="back" />
        {listsRuns ? en.backToRuns : en.back}
      </a>
      {loaded ? (
        <RunPage loaded={loaded} onOlder={() => void older()} onDone={load} />
      ) : (
        <NotLoaded failure={failure} onRetry={() => void load()} />
      )}
    </div>
  )
}

/** The newest page replaces its part; older pages that were loaded stay. */
function merge(before: Loaded | null, run: Run, page: LogPage): Loaded {
  const oldest = page.items.at(-1)?.position
  const kept = oldest === undefined ? [] : (before?.entries.filter(({ position }) => position < oldest) ?? [])
  return {
    run,
    entries: [...page.items, ...kept],
    before: kept.length > 0 ? before?.before : page.before,
  }
}

function RunPage(props: {
  readonly loaded: Loaded
  readonly onOlder: () => void
  readonly onDone: () => Promise<void>
}) {
  const { run, entries, before } = props.loaded
  const [repeat, setRepeat] = useState<Repeat | null>(null)
  const states = useStates(run.id, entries)
  const onOlder = before === undefined ? null : props.onOlder
  // While the log has focus, entries update in place; new ones are added later.
  const { shown, handlers, release } = useStill({
    ...{ run, entries, states },
    newest: entries[0]?.position ?? -1,
    now: serverNow(),
  })
  const readable = entries.filter(({ position }) => position <= shown.newest)
  return (
    <article>
      <header class="run-head">
        <h1 dir="auto">{marked(run.id)}</h1>
        <StatusBadge run={run} />
        <RunActions run={run} onRepeat={setRepeat} onDone={props.onDone} />
      </header>
      <Facts run={run} />
      <ProgressBar progress={run.progress} />
      <Stuck run={shown.run} />
      <CancelState run={shown.run} />
      <WaitingFor run={shown.run} entries={shown.entries} />
      <Values run={shown.run} />
      <Plans states={states} run={run} entries={entries} />
      <States states={shown.states} />
      <Children parent={run.id} />
      <Timeline entries={shown.entries} now={shown.now} />
      <Log
        entries={readable}
        newCount={entries.length - readable.length}
        onNew={release}
        onOlder={onOlder}
        onFork={currentGrant().operates ? (position) => setRepeat({ use: 'fork', position }) : null}
        handlers={handlers}
      />
      <p class="copies">
        <CopyButton label={en.copyJson} text={JSON.stringify({ run, log: entries }, null, 2)} />{' '}
        <CopyButton label={en.copyCurl} text={curlOf(run.id)} />
      </p>
      {repeat !== null && (
        <RepeatDialog
          {...{ repeat, run, entries, onOlder, onDone: props.onDone }}
          onClose={() => setRepeat(null)}
        />
      )}
    </article>
  )
}

function Facts({ run }: { readonly run: Run }) {
  const end = run.endedAt
  return (
    <p class="meta">
      <span>
        <Text>{run.procedure}</Text> {en.version(run.version)}
      </span>
      {run.generation > 1 && (
        <span>
          {runTexts.generation(run.generation)}
          {run.retriedBy && (
            <>
              {' · '}
              <Text>{runTexts.retriedBy(run.retriedBy)}</Text>
            </>
          )}
        </span>
      )}
      <span title={formatInstant(run.startedAt)}>
        {en.startedAt} {en.ago(formatAge(sinceNow(run.startedAt)))}
        {run.startedBy && (
          <>
            {' · '}
            <Text>{run.startedBy}</Text>
          </>
        )}
      </span>
      {run.parent && (
        <span>
          {en.parent}{' '}
          <a href={runHref(run.parent.run)}>
            <Text>{run.parent.run}</Text>
          </a>
        </span>
      )}
      {run.forkedFrom && (
        <span>
          {en.forkOf}{' '}
          <a href={runHref(run.forkedFrom.run)}>
            <Text>{run.forkedFrom.run}</Text>
          </a>{' '}
          {en.forkedAt(run.forkedFrom.position)}
        </span>
      )}
      {end !== undefined && (
        <span title={formatInstant(end)}>
          {en.duration} {formatSpan(serverTime(end) - serverTime(run.startedAt))}
        </span>
      )}
      {run.tags.map((tag) => (
        <span class="tag" key={tag}>
          <Text>{tag}</Text>
        </span>
      ))}
    </p>
  )
}

/** Shows a requested cancel and the rollback. */
function CancelState({ run }: { readonly run: Run }) {
  const { cancelRequestedAt: at, cancelReason, cancelledBy, rollback } = run
  if (at === undefined && rollback === undefined) return null
  return (
    <section class="notice">
      {at !== undefined && (
        <p title={formatInstant(at)} dir="auto">
          {en.cancelRequested(formatAge(sinceNow(at)))}
          {cancelledBy && <> {marked(en.byWhom(cancelledBy))}</>}
          {cancelReason && <>: {marked(cancelReason)}</>}
        </p>
      )}
      {rollback !== undefined && rollback.undone.length > 0 && (
        <p dir="auto">
          {en.undone}: {marked(rollback.undone.join(', '))}
        </p>
      )}
      {rollback?.skipped !== undefined && (
        <p class="overdue" dir="auto">
          {marked(rollback.skipped)}
        </p>
      )}
      {rollback?.failed.map(({ name, failure }) => (
        <p key={name} class="overdue" dir="auto">
          {en.undoFailed}: {marked(`${name}: ${failure.message}`)}
        </p>
      ))}
    </section>
  )
}

function curlOf(id: string): string {
  return `curl -H "Authorization: Bearer $PAWL_TOKEN" ${location.origin}${urlOf(`/v1/runs/${segment(id)}`)}`
}
