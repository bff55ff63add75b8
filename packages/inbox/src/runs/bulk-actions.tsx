import { useEffect, useState } from 'preact/hooks'
import type { Outcome } from '../api/calls.ts'
import { ApiError } from '../api/request.ts'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'
import { runHref } from '../router.ts'
import { currentGrant, noteEnded } from '../session.ts'
import { Text } from '../text/text.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { type RunAction, statusesFor } from './actions.ts'
import { actOn, type Counted, countRuns } from './bulk.ts'
import type { RunFilter } from './filter.ts'
import { ReasonField, reasonOf } from './run-actions.tsx'

/** Actions on all runs of a filter. Nothing happens before the count was read and confirmed. */
export function BulkActions({ filter, onDone }: { readonly filter: RunFilter; readonly onDone: () => void }) {
  const [action, setAction] = useState<RunAction | null>(null)
  if (!currentGrant().operates) return null
  const actions = (['retry', 'cancel'] as const).filter(
    // One press on the wrong page must not cancel everything there is.
    (one) => statusesFor(one, filter.status).length > 0 && (one === 'retry' || isNarrow(filter)),
  )
  return (
    <>
      {actions.map((one) => (
        <button key={one} type="button" class="small" onClick={() => setAction(one)}>
          {en.bulk[one].button}
        </button>
      ))}
      {action !== null && (
        <BulkDialog
          action={action}
          filter={filter}
          onClose={() => {
            setAction(null)
            onDone()
          }}
        />
      )}
    </>
  )
}

function isNarrow({ status, procedure, tag }: RunFilter): boolean {
  return status !== '' || procedure.trim() !== '' || tag.trim() !== ''
}

interface BulkProps {
  readonly action: RunAction
  readonly filter: RunFilter
  readonly onClose: () => void
}

function BulkDialog({ action, filter, onClose }: BulkProps) {
  const texts = en.bulk[action]
  const { counted, outcomes, isOver, failure, act } = useBulk(action, filter)
  const [reason, setReason] = useState('')
  const count = counted?.runs.length ?? 0
  const [typed, setTyped] = useState('')
  // A cancelled run cannot be continued, so the number is typed: it was read.
  const isReady = action === 'retry' || typed.trim() === String(count)
  return (
    <Dialog title={counted === null ? texts.button : texts.title(count)} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (outcomes !== null) onClose()
          else if (isReady) void act(reason)
        }}
      >
        {counted === null && failure === null && <p class="faint">{en.counting}</p>}
        {counted !== null && outcomes === null && (
          <>
            <p class="faint">{count === 0 ? texts.none : texts.help}</p>
            <p class="bulk-filter">
              <Text>{filterInWords(filter)}</Text>
            </p>
            {counted.isCapped && <p class="notice">{en.bulkCapped(count)}</p>}
            {action === 'cancel' && count > 0 && (
              <>
                <ReasonField reason={reason} onReason={setReason} />
                <div class="field">
                  <label class="label" for="typed">
                    {en.confirmWord(String(count))}
                  </label>
                  <input
                    id="typed"
                    type="text"
                    inputMode="numeric"
                    autoComplete="off"
                    value={typed}
                    onInput={(event) => setTyped(event.currentTarget.value)}
                  />
                </div>
              </>
            )}
          </>
        )}
        {outcomes !== null && <Progress action={action} outcomes={outcomes} count={count} isOver={isOver} />}
        {failure !== null && (
          <p class="failure" dir="auto">
            <Text>{failure}</Text>
          </p>
        )}
        <div class="dialog-actions">
          {outcomes === null ? (
            <>
              <button type="button" class="action" onClick={onClose}>
                {en.bulkNothing}
              </button>
              {count > 0 && (
                <button
                  type="submit"
                  class={`action ${action === 'cancel' ? 'danger' : 'primary'}`}
                  aria-disabled={isReady ? undefined : 'true'}
                >
                  {texts.confirm(count)}
                </button>
              )}
            </>
          ) : (
            <button type="submit" class="action primary" aria-disabled={isOver ? undefined : 'true'}>
              {en.close}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

/** Counts the runs of an action, and acts on them. */
function useBulk(action: RunAction, filter: RunFilter) {
  const [counted, setCounted] = useState<Counted | null>(null)
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | null>(null)
  const [isOver, setOver] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const fail = (error: unknown) => {
    noteEnded(error)
    setFailure(error instanceof ApiError ? error.problem.detail : en.actionNotSent)
  }
  useEffect(() => {
    countRuns(action, filter).then(setCounted, fail)
  }, [])
  const act = async (reason: string) => {
    const done: Outcome[] = []
    setOutcomes(done)
    try {
      await actOn(action, counted?.runs ?? [], reasonOf(reason), (more) => {
        done.push(...more)
        setOutcomes([...done])
      })
    } catch (error) {
      fail(error)
    }
    setOver(true)
    announce(resultOf(action, done))
  }
  return { counted, outcomes, isOver, failure, act }
}

function Progress(props: {
  readonly action: RunAction
  readonly outcomes: readonly Outcome[]
  readonly count: number
  readonly isOver: boolean
}) {
  const { action, outcomes, count, isOver } = props
  const refused = outcomes.filter(({ status }) => status === 'refused')
  return (
    <>
      <p>{isOver ? resultOf(action, outcomes) : en.bulkProgress(outcomes.length, count)}</p>
      {refused.length > 0 && (
        <ul class="refused">
          {refused.map(({ run, problem }) => (
            <li key={run}>
              <a href={runHref(run)}>
                <Text>{run}</Text>
              </a>
              <span class="faint" dir="auto">
                <Text>{problem?.detail ?? ''}</Text>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function resultOf(action: RunAction, outcomes: readonly Outcome[]): string {
  const refused = outcomes.filter(({ status }) => status === 'refused').length
  return en.bulk[action].done(outcomes.length - refused, refused)
}

function filterInWords({ status, procedure, tag }: RunFilter): string {
  return [
    `${en.statusFilter}: ${status === '' ? en.allRuns : en.runStatuses[status]}`,
    ...(procedure.trim() === '' ? [] : [`${en.procedureFilter}: ${procedure.trim()}`]),
    ...(tag.trim() === '' ? [] : [`${en.tagFilter}: ${tag.trim()}`]),
  ].join(' · ')
}
