import type { TaskState } from './plan.ts'

// Loaded with the drawing of a plan; the rest of the texts is in en.ts.

export const planTexts = {
  plan: (name: string) => (name === 'pawl.plan' ? 'Plan' : `Plan ${name.slice('pawl.plan.'.length)}`),
  ended: (ended: number, tasks: number) => `${ended} of ${tasks} tasks have ended`,
  layer: (n: number) => `Stage ${n}`,
  states: {
    later: 'Not started',
    now: 'In progress',
    asked: 'Waits for an answer',
    done: 'Done',
    skipped: 'Skipped',
    failed: 'Failed',
    undone: 'Undone',
  } satisfies Record<TaskState, string>,
  checks: { human: 'Checked by people', agent: 'Checked by an agent' },
  judges: 'Judged by an agent',
  added: 'Added by the planner',
  needs: (needs: readonly string[]) => `after ${needs.join(', ')}`,
  more: (count: number) => `${count} more tasks`,
  tooLarge: 'The plan is too large to be drawn.',
} as const
