import type { Worker } from '@pawl/server/internal'
import { useEffect, useState } from 'preact/hooks'
import { listWorkers } from '../api/calls.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { failureOf, type LoadFailure } from '../load/failure.ts'
import { NotLoaded } from '../load/not-loaded.tsx'
import { noteEnded } from '../session.ts'
import { Text } from '../text/text.tsx'
import { Empty } from '../ui/empty.tsx'
import { formatAge, formatInstant, sinceNow } from '../ui/time.ts'

/** The live workers: since when, with how many runs, and which procedures they can execute. */
export function WorkersScreen() {
  const [workers, setWorkers] = useState<readonly Worker[] | null>(null)
  const [failure, setFailure] = useState<LoadFailure | null>(null)
  useEffect(() => {
    document.title = `${en.workers} · ${en.product}`
  }, [])
  const load = async () => {
    try {
      setWorkers((await listWorkers()).items)
    } catch (error) {
      noteEnded(error)
      setFailure(failureOf(error))
    }
  }
  // The feed has no worker events, so this screen polls.
  useLive(load, [], { liveMs: () => 5_000 })
  return (
    <div class="page wide">
      <header class="list-head">
        <h1 class="pane-title">{en.workers}</h1>
      </header>
      {workers === null ? (
        <NotLoaded failure={failure} onRetry={() => void load()} />
      ) : (
        <WorkerList workers={workers} />
      )}
    </div>
  )
}

function WorkerList({ workers }: { readonly workers: readonly Worker[] }) {
  if (workers.length === 0)
    return (
      <Empty title={en.noWorkers} icon="alert">
        <p class="faint">{en.noWorkersHelp}</p>
      </Empty>
    )
  return (
    <ul class="workers">
      {workers.map((worker) => (
        <li key={`${worker.name} ${worker.startedAt ?? ''}`}>
          <p class="worker-head">
            <span class="status status-completed">
              <span class="dot" aria-hidden="true" />
              {en.alive}
            </span>
            <strong class="clip">
              <Text>{worker.name}</Text>
            </strong>
            <span class="number faint worker-runs">{en.workerRuns(worker.runs)}</span>
          </p>
          <p class="meta">
            {worker.startedAt !== undefined && (
              <span title={formatInstant(worker.startedAt)}>
                {en.startedAt} {en.ago(formatAge(sinceNow(worker.startedAt)))}
              </span>
            )}
            <span title={en.leaseEnds(formatInstant(worker.leaseEndsAt))}>
              {en.lastSeen(formatAge(sinceNow(worker.seenAt)))}
            </span>
          </p>
          <ul class="worker-procedures">
            {worker.procedures.map(({ name, version }) => (
              <li class="tag" key={`${name} ${version}`}>
                <Text>{name}</Text> {en.version(version)}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}
