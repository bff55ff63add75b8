/**
 * The most that may be spent on each, as processor time over that of something measured beside it: about 1.45
 * times what many runs on a quiet and on a busy machine agreed on. A change that makes the engine cheaper may
 * lower them to 1.45 times what `npm run bench:guard` then tells.
 */
export const ceilings = {
  sequence: { title: 'a step of a run, one after the other, over a raw commit of one row', most: 11.5 },
  many: { title: 'a step of one of 20 runs at once, over a raw commit of one row', most: 8.2 },
  replay: { title: 'an event replayed from memory, over a round of a fixed computation', most: 0.43 },
} as const

export type Watched = keyof typeof ceilings
