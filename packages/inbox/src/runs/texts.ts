// Loaded with the pages of runs; the rest of the texts is in en.ts.

export const runTexts = {
  state: 'State',
  input: 'Input',
  output: 'Output',
  tooLarge: 'More than 64 KiB: see',
  generation: (generation: number) => `Generation ${generation}`,
} as const
