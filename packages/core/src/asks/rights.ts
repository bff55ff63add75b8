// Who may answer a question. The one rule of every door: the server, its links, and the channels of an engine. Pure.

/** A question, as far as the right to answer it depends on it. */
export interface Answerable {
  readonly id: string
  /** Empty: everyone. */
  readonly to: readonly string[]
  /** Who started its run, or the topmost run above it. */
  readonly startedBy: string | undefined
  /** Who started the runs of which that run is a fork. */
  readonly alsoStartedBy: readonly string[]
}

/** Who wants to answer. */
export interface Answerer {
  /** The person who is recorded with the answer, who made the link that it came through, and last the one who acts. */
  readonly persons: readonly [string, ...string[]]
  /** The groups, roles and queues of the one who acts. */
  readonly names: readonly string[]
  /** Whether they may also answer what is addressed to others. */
  readonly answersAll: boolean
}

/** Whether an answer is allowed. `what` and `remedy` are sentences. */
export type AnswerVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly what: string; readonly remedy: string }

export const allowed: AnswerVerdict = { ok: true }

/** Judges who may answer, by the addressees of the question and by who started its run. */
export function mayAnswer(ask: Answerable, who: Answerer, selfApproval: boolean): AnswerVerdict {
  const { persons, names, answersAll } = who
  const acting = persons.at(-1)
  if (!answersAll && !isAddressedTo(ask, new Set([acting, ...names])))
    return {
      ok: false,
      what: `Ask ${ask.id} is not addressed to ${acting}.`,
      remedy: `It is addressed to ${ask.to.join(', ')}.`,
    }
  return selfApproval ? allowed : mayApprove([ask.startedBy, ...ask.alsoStartedBy], persons)
}

/** Judges whether one of these persons answers in a run that they have started, or in a fork of one. */
export function mayApprove(
  starters: readonly (string | undefined)[],
  persons: readonly string[],
): AnswerVerdict {
  const starter = starters.find((one) => one !== undefined && persons.includes(one))
  if (starter === undefined) return allowed
  return {
    ok: false,
    what: `${starter} started the run and cannot answer its asks: \`selfApproval\` is false.`,
    remedy: 'Let another person answer.',
  }
}

/** Whether a question or a notice is addressed to one of these names, or to everyone. */
export function isAddressedTo(
  { to }: Pick<Answerable, 'to'>,
  names: ReadonlySet<string | undefined>,
): boolean {
  return to.length === 0 || to.some((name) => names.has(name))
}
