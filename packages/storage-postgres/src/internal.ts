// A check without a change, for the command line. Not public; may change at any time.

export { isSettled } from './settled.ts'
