import type { RepeatedOperation } from '@pawl/server/internal'

// Loaded with the pages of runs; the rest of the texts is in en.ts.

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count} ${many}`

export const repeatTexts = {
  reading: 'Reading the log…',
  doNothing: 'Do nothing',
  back: 'Back',
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
  children: 'Child runs: a retry continues them, a fork creates its own in their place',
  undone: 'Undone in the run since, but kept as if they were done',
  retry: {
    button: 'Retry…',
    title: (run: string) => `Retry ${run}?`,
    confirm: 'Retry now',
    effects: (count: number) =>
      `${counted(count, 'effect runs', 'effects run')} again, with the same idempotency ${count === 1 ? 'key' : 'keys'} as before.`,
  },
  fork: {
    button: 'Fork…',
    here: 'Fork here…',
    at: (position: number) => `at position ${position}`,
    title: (run: string) => `Fork ${run}`,
    help: 'A fork is a new run that shares the past of this one up to a position and continues from there. This run stays as it is.',
    place: 'Position',
    log: 'Log',
    checkpoints: 'Checkpoints',
    unnamed: 'Checkpoint',
    older: 'Older entries',
    none: 'The log has no entry yet at which the run can be forked.',
    what: 'What the fork has there',
    again: 'The same operation, executed again',
    other: 'Another result',
    result: 'Result',
    payload: 'Payload',
    answer: 'Answer',
    json: 'JSON, as the API writes values.',
    consent: (action: string) =>
      `This belongs to the consent to “${action}”, which a fork obtains anew: its result cannot be replaced. Edit what comes before it instead.`,
    unchecked: 'The procedure receives it as it is: it is not compared with the schema again.',
    preview: 'Preview',
    confirm: 'Start the fork',
    started: (run: string) => `The fork ${run} is started.`,
    effects: (count: number) =>
      `${counted(count, 'effect runs', 'effects run')} again, with ${count === 1 ? 'a new idempotency key' : 'new idempotency keys'}.`,
  },
} as const
