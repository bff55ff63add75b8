/**
 * The most that may be spent, in units of something measured beside it. Each stands about halfway between
 * what it is and twice that, as a ratio: 1.45 times what several runs agreed on. A change
 * that makes the engine cheaper may lower them; `npm run bench:guard` prints what is.
 */
export const ceilings = {
  /** Processor time of a step, over that of a raw commit of one row. */
  sequence: 12.5,
  many: 8.2,
  /** Processor time of an event, over that of a round of the reference. */
  replay: 0.43,
} as const
