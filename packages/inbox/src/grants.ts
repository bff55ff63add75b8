import type { Role } from '@pawl/server/internal'

/** The parts of the page that a role sees. Actions the server would refuse are hidden. */
export interface Grant {
  /** Whether the forms of asks are shown. */
  readonly answers: boolean
  /** Whether it also answers what is addressed to others. */
  readonly answersAll: boolean
  /** Whether it sees asks that are addressed to others. */
  readonly seesOthers: boolean
  /** Whether there is a list of runs. */
  readonly listsRuns: boolean
  /** Whether runs are retried, cancelled and forked here. */
  readonly operates: boolean
  /** Whether there is a page of workers. An approver does not need to know who executes runs. */
  readonly seesWorkers: boolean
}

/** One grant for each role; a missing role is a type error. */
export const grants: { readonly [R in Role]: Grant } = {
  answer: {
    answers: true,
    answersAll: false,
    seesOthers: false,
    listsRuns: false,
    operates: false,
    seesWorkers: false,
  },
  watch: {
    answers: false,
    answersAll: false,
    seesOthers: true,
    listsRuns: true,
    operates: false,
    seesWorkers: true,
  },
  operate: {
    answers: true,
    answersAll: false,
    seesOthers: true,
    listsRuns: true,
    operates: true,
    seesWorkers: true,
  },
  admin: {
    answers: true,
    answersAll: true,
    seesOthers: true,
    listsRuns: true,
    operates: true,
    seesWorkers: true,
  },
}
