// Loaded with the pages of runs; the rest of the texts is in en.ts.

export const runTexts = {
  state: 'State',
  generation: (generation: number) => `Generation ${generation}`,
} as const
