/**
 * The most that may be spent on each, as processor time over that of something measured beside it: between
 * 1.4 and 1.7 times what most runs told on a machine with much else to do. A change that makes the engine
 * cheaper may lower them: `npm run bench:guard` tells what is.
 */
export const ceilings = {
  sequence: { title: 'a step of a run, one after the other, over a raw commit of one row', max: 8.0 },
  many: { title: 'a step of one of 20 runs at once, over a raw commit of one row', max: 4.8 },
  replay: { title: 'an event replayed from memory, over a round of a fixed computation', max: 0.43 },
} as const

export type Watched = keyof typeof ceilings
