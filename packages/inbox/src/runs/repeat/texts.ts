import type { RepeatedOperation } from '../../api/types.ts'

// Loaded with the pages of runs; the rest of the texts is in en.ts.

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count} ${many}`

export const repeatTexts = {
  reading: 'Reading the log…',
  doNothing: 'Do nothing',
  again: 'What will run again',
  kept: (count: number) =>
    `${counted(count, 'recorded result is', 'recorded results are')} kept and not executed again.`,
  nothingAgain:
    'All recorded results are kept. The run continues after them, with the code that is deployed.',
  becomes: {
    edited: 'Gets another result',
    repeated: 'Runs again',
    depends: 'May run again: the code decides',
  } satisfies Record<RepeatedOperation['becomes'], string>,
  does: { effect: 'effect', ask: 'people are asked', wait: 'waits' } satisfies Record<
    RepeatedOperation['does'],
    string
  >,
  more: (count: number) => `${count} more`,
  children: 'These child runs continue as well',
  undone: 'Undone in the run since, but kept as if they were done',
  retry: {
    button: 'Retry…',
    title: (run: string) => `Retry ${run}?`,
    confirm: 'Retry now',
    effects: (count: number) =>
      `${counted(count, 'effect runs', 'effects run')} again, with the same idempotency ${count === 1 ? 'key' : 'keys'} as before.`,
  },
} as const
