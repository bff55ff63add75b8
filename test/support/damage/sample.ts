import type { Choice } from './scene.ts'

/** Of a long log the ends of its blocks. */
const seqsOfLong = [0, 1, 63, 64, 127, 128, 130]

/** About a fifth of all changes, every column among them. */
export const sample: Choice = (of, { seq }, index) =>
  of.includes('long') ? seqsOfLong.includes(Number(seq)) && index % 7 === 0 : index % 4 === 0
