// Loaded with the pages of runs; the rest of the texts is in en.ts.

export const runTexts = {
  state: 'State',
  earlier: (count: number) => (count === 1 ? '1 earlier entry' : `${count} earlier entries`),
  retrying: (attempt: number) => `Attempt ${attempt} failed`,
  times: (count: number) => `× ${count}`,
  input: 'Input',
  output: 'Output',
  tooLarge: 'More than 64 KiB: see',
  attempts: 'Failed attempts',
  attempt: (attempt: number) => `Attempt ${attempt}`,
  nextAttempt: (age: string) => `next attempt in ${age}`,
  nextAttemptDue: 'next attempt is due',
  generation: (generation: number) => `Generation ${generation}`,
  edited: (name: string) => `edited by ${name} in the fork`,
  retriedBy: (name: string) => `retried by ${name}`,
} as const
