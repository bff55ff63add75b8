import type { Case } from './cases.ts'

const piece = { unit: 'ms', better: 'less' } as const

function stallCase(name: string, title: string): Case {
  return {
    name: `stalls ${name}`,
    title: `${title}: the longest synchronous piece of the engine's own work`,
    isLong: true,
    onBoth: true,
    rounds: 5,
    figures: [
      {
        name: 'ratio',
        title: '10,000 at once, over ten bursts of 1,000',
        unit: '×',
        better: 'less',
        target: { sqlite: 1.5, postgres: 1.5 },
        isCompared: false,
      },
      { name: 'fewMs', title: 'ten bursts of 1,000', ...piece },
      { name: 'manyMs', title: '10,000 at once', ...piece },
      { name: 'fewWithGarbageMs', title: 'ten bursts, with garbage collections', ...piece },
      { name: 'manyWithGarbageMs', title: '10,000 at once, with garbage collections', ...piece },
    ],
  }
}

export const stallCases: readonly Case[] = [
  stallCase('runs', 'runs of one step, started at once'),
  stallCase('signals', 'waiting runs, signalled at once'),
  stallCase('asks', 'questions of one run, asked and answered at once'),
  stallCase('steps', 'steps of one run at once'),
]
