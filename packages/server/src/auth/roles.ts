/** Every role once: lists of roles read this. */
export const roles = ['answer', 'watch', 'operate', 'admin'] as const

/**
 * The role of an identity. `answer`: sees asks to its own names or to everyone, and answers them. `watch`: sees everything.
 * `operate`: also starts, signals, updates, cancels, retries and forks runs, and answers its own asks. `admin`: also answers any ask,
 * deletes, exports and imports runs, and makes links and webhooks.
 */
export type Role = (typeof roles)[number]

/** The rights of a role. All decisions by role read its grant. */
export interface Grant {
  /** The asks, notices and runs it sees: all, or the ones that are addressed to it. */
  readonly sees: 'own' | 'all'
  /** The asks that it may answer. */
  readonly answers: 'none' | 'own' | 'all'
  /** Whether it starts, signals, updates, cancels, retries and forks runs. */
  readonly operates: boolean
  /** Whether it deletes, exports and imports runs, makes links and webhooks, and controls the runs of Pawl itself. */
  readonly administers: boolean
}

/** One grant for each role; a missing role is a type error. */
export const grants: { readonly [R in Role]: Grant } = {
  answer: { sees: 'own', answers: 'own', operates: false, administers: false },
  watch: { sees: 'all', answers: 'none', operates: false, administers: false },
  operate: { sees: 'all', answers: 'own', operates: true, administers: false },
  admin: { sees: 'all', answers: 'all', operates: true, administers: true },
}

const rolesWith = (has: (grant: Grant) => boolean): readonly Role[] =>
  roles.filter((role) => has(grants[role]))

export const everyone: readonly Role[] = rolesWith(() => true)
export const readers: readonly Role[] = rolesWith(({ sees }) => sees === 'all')
export const answerers: readonly Role[] = rolesWith(({ answers }) => answers !== 'none')
export const operators: readonly Role[] = rolesWith(({ operates }) => operates)
export const admins: readonly Role[] = rolesWith(({ administers }) => administers)
