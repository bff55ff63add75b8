import type { Ask } from '@pawl/core'
import type { WorkerState } from './worker-process.ts'

/** What the visitor may do next. */
export interface Task {
  /** Starting at 1; 0 when nothing is left to do. */
  readonly number: number
  readonly of: number
  readonly text: string
  /** Where in the inbox it is done. */
  readonly link?: { readonly href: string; readonly text: string }
  /** Whether a second browser tab, as another person, is worth a look now. */
  readonly needsSecondTab?: true
}

interface Scene {
  readonly run: string
  readonly kills: number
  readonly workerState: WorkerState
  readonly isPaying: boolean
  readonly hasEnded: boolean
  /** The open ask of the refund. */
  readonly ask: Ask | undefined
  /** The other open asks. */
  readonly others: readonly Ask[]
}

const of = 4

/** The next thing to do, in the order of the story. A visitor who does them in another order skips what makes no sense any more. */
export function nextTask(scene: Scene): Task {
  const { run, kills, workerState, isPaying, hasEnded, ask, others } = scene
  const runLink = { href: `#/runs/${encodeURIComponent(run)}`, text: 'Watch the run' }
  const isDead = workerState === 'killed' || workerState === 'ended'
  if (!hasEnded && kills === 0)
    return {
      ...{ number: 1, of, link: runLink },
      text: isPaying
        ? 'The worker pays 16 orders of a book. Kill it in the middle.'
        : 'The worker has paid the small orders and waits for you. Kill it.',
    }
  if (isDead && (isPaying || ask === undefined))
    return {
      ...{ number: 2, of, link: runLink },
      text: 'The process is gone. Start another: it replays the log and continues where it ended.',
    }
  if (!hasEnded && ask === undefined)
    return {
      ...{ number: 2, of, link: runLink },
      text: 'The new worker continues. It repeats no step that is in the log.',
    }
  if (ask !== undefined)
    return {
      ...{ number: 3, of, link: { href: askHref(ask), text: 'Open the ask' } },
      text: isDead
        ? 'Change 480 to 400 and approve. You can answer while no worker runs.'
        : 'Change 480 to 400 and approve.',
    }
  const [next] = others
  if (next !== undefined)
    return {
      ...{ number: 4, of, needsSecondTab: true, link: { href: askHref(next), text: 'Open the ask' } },
      text: 'Open this ask as Bob too, and answer in both tabs: one answer is accepted.',
    }
  return {
    ...{ number: 0, of, link: { ...runLink, text: 'See the log' } },
    text: 'That was all. Each order was paid once, and each ask was answered once.',
  }
}

function askHref({ id }: Ask): string {
  return `#/asks/${encodeURIComponent(id)}`
}
