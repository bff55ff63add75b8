import type { Issues } from '../base/issues.ts'
import { showValue } from '../base/text.ts'
import type { ErrorCode, ErrorDetails, Failure } from './error-details.ts'

/** What an error of one code says, in this order. Each part is whole sentences. */
export interface Explanation {
  readonly what: string
  readonly next: string
  readonly remedy: string
}

type Catalogue = { readonly [C in ErrorCode]: (details: ErrorDetails[C]) => Explanation }

/** The texts of all errors. Each code has a page of the same name in docs/errors. */
const catalogue: Catalogue = {
  'answer-forbidden': ({ ask }) => ({
    what: `Ask ${ask} is a question to people, and this answer comes from somebody who is not a person.`,
    next: 'The answer was not stored; the ask is still open.',
    remedy: "Answer as 'user:<name>', with the person who decided.",
  }),
  'answer-invalid': (issues) => ({
    what: `The answer does not fit the ask: ${listIssues(issues)}.`,
    next: 'It was not stored; the ask is still open.',
    remedy:
      "Correct what is listed and answer again; the ask's schema, choices and editable say what it accepts.",
  }),
  'ask-closed': ({ status, winner }) => ({
    what: winner
      ? `The ask was already answered by ${winner.by} at ${showInstant(winner.at)}.`
      : `The ask is not open any more: it is ${status}.`,
    next: 'This answer was not stored and changes nothing.',
    remedy: 'Tell whoever answered that it is settled; do not repeat the answer.',
  }),
  'ask-not-found': ({ ask }) => ({
    what: `There is no ask ${ask} in this store.`,
    next: 'Nothing was stored.',
    remedy:
      'Take its id from inbox.list() or inbox.next(). To answer before it is asked, address it by { run, key }.',
  }),
  'ask-timed-out': ({ ask, message }) => ({
    what: `Nobody answered ${showValue(message)} in time (ask ${ask}).`,
    next: 'The ask is closed; a later answer is refused.',
    remedy:
      "Catch this error, or say what silence means with onTimeout: { default }, 'escalate' or 'keep-waiting'.",
  }),
  cancelled: ({ reason }) => ({
    what: `The run was cancelled${because(reason)}.`,
    next: 'Each of its pending operations rejects with this error; what is recorded stays recorded.',
    remedy: 'Clean up in finally and let the error through.',
  }),
  'duration-invalid': ({ text }) => ({
    what: `${showValue(text)} is not a duration.`,
    next: 'Nothing was done with it.',
    remedy: "Write a number and one unit (ms, s, m, h, d, w), such as '500ms', '90s', '1.5h' or '3d'.",
  }),
  'engine-stopped': () => ({
    what: 'This engine or client was stopped.',
    next: 'Nothing was started or stored by this call; unfinished runs go on with the next engine on the same store.',
    remedy: 'Call stop() last, or make a new engine or client.',
  }),
  'foreign-await': ({ run, after, what }) => ({
    what: `Run ${run} waits for something that does not come from its ctx, after ${after}: ${what}.`,
    next: "It is parked as 'stuck' and nothing was written; it goes on when the code is put right.",
    remedy:
      'Put what touches the world (fetch, timers, databases, shared limiters) into ctx.step, and waiting into ctx.sleep or ctx.receive. Use ctx only in the procedure itself, not in the body of a step.',
  }),
  'id-taken': ({ id }) => ({
    what: `There is a run ${id} already, of another procedure or with another input.`,
    next: 'No run was started, and the one that is there is untouched.',
    remedy: 'Choose another id, or call runOrGet if the run with this id will do whatever its input.',
  }),
  'input-invalid': (issues) => ({
    what: `The input does not fit the procedure's input schema: ${listIssues(issues)}.`,
    next: 'Nothing of the procedure was run.',
    remedy: 'Correct what is listed and start the run again.',
  }),
  nondeterminism: ({ position, recorded, asked, at }) => ({
    what: `At position ${position} the log has ${recorded}, but the code asks for ${asked}${at === '' ? '' : ` (${at})`}.`,
    next: "The run is parked as 'stuck' and nothing was written; it goes on when the code matches its log again.",
    remedy:
      'Put the code back, or give the changed procedure a new version and keep the old one in procedures until its runs have ended.',
  }),
  'nondeterministic-call': ({ call, use }) => ({
    what: `A procedure called ${call}, which may answer differently on every replay.`,
    next: 'The call was refused; nothing was done.',
    remedy: `Use ${use} instead.`,
  }),
  'option-invalid': ({ option, given }) => ({
    what: `The option ${option} cannot be ${given}.`,
    next: 'Nothing was done.',
    remedy: 'See its description for what it accepts.',
  }),
  'output-invalid': (issues) => ({
    what: `What the procedure returned does not fit its output schema: ${listIssues(issues)}.`,
    next: 'The run fails with this error; what its steps did is done and recorded.',
    remedy: 'Correct what the procedure returns, or its output schema.',
  }),
  'payload-invalid': (issues) => ({
    what: `The payload does not fit the schema of the signal: ${listIssues(issues)}.`,
    next: 'The signal was not stored.',
    remedy: 'Correct what is listed and send it again.',
  }),
  'payload-refused': ({ path }) => ({
    what: `${path} cannot be stored.`,
    next: 'Nothing of the value was stored. If a step returned it, the effect of the step has happened and is not repeated.',
    remedy:
      'Payloads are plain objects, arrays, strings, numbers, bigints, booleans, null, undefined, Date, Map, Set and bytes, at most 2 MiB and 256 levels deep. Pass or return only what is needed, such as an id.',
  }),
  'procedure-broken': ({ run, cause, at }) => ({
    what: `Run ${run} has stopped at a bug in its procedure: ${showFailure(cause)}${at === '' ? '' : ` (${at})`}.`,
    next: "It is parked as 'stuck': nothing that follows the bug is recorded, and its asks and timers are kept.",
    remedy:
      "Fix the procedure and deploy it: each engine retries its stuck runs when it starts, and client.retry(id) does so at once. To let such errors end the run, set bugs: 'fail'.",
  }),
  'procedure-duplicate': ({ procedure }) => ({
    what: `Two procedures are named ${showValue(procedure)} and have the same version.`,
    next: 'The engine was not started.',
    remedy: 'Rename one of them, or give the newer one a higher version.',
  }),
  'procedure-unknown': ({ procedure }) => ({
    what: `This engine has no procedure named ${showValue(procedure)}.`,
    next: 'No run was started.',
    remedy: 'Add it to the procedures of createEngine, or start it with a client if another process runs it.',
  }),
  'run-cancelled': ({ run, reason }) => ({
    what: `Run ${run} was cancelled${because(reason)}.`,
    next: 'It has ended and has no result; its log stays readable.',
    remedy: 'Start a new run under another id if the work is still wanted.',
  }),
  'run-ended': ({ run, status }) => ({
    what: `Run ${run} has ended: it is ${status}.`,
    next: 'Nothing was stored for it.',
    remedy: 'Read its status() or result() first if it may have ended.',
  }),
  'run-failed': ({ run, cause }) => ({
    what: `Run ${run} failed: ${showFailure(cause)}.`,
    next: 'It has ended; its log stays readable.',
    remedy:
      'See status().failure and the log of the run. Once the cause is gone, start a new run under another id.',
  }),
  'run-not-found': ({ run }) => ({
    what: `There is no run ${run} in this store.`,
    next: 'Nothing was done.',
    remedy: 'Check the id, and that both programs use the same store.',
  }),
  'run-quarantined': ({ run, reason }) => ({
    what: `Run ${run} is quarantined: ${reason}.`,
    next: 'It is not executed any more; all other runs go on.',
    remedy:
      'Do not modify the store. If workers died while running it, look for a crash or a blocking step, fix it, and call client.retry(id). Otherwise check the disk, and see docs/errors/run-quarantined.md.',
  }),
  'step-failed': ({ step, attempts, cause }) => ({
    what: `Step ${showValue(step)} failed after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${showFailure(cause)}.`,
    next: 'The failure is recorded and the step is not tried again.',
    remedy: 'Catch this error to go on another way, or change the retry of the step for new runs.',
  }),
  'step-timed-out': ({ step, after }) => ({
    what: `Step ${showValue(step)} did not end within ${after} in its last attempt.`,
    next: 'The failure is recorded and the step is not tried again; its effect may have happened.',
    remedy: 'Catch this error, give the step a longer timeout, and make its body end when its signal aborts.',
  }),
  'store-unusable': ({ remedy }) => ({
    what: 'The store cannot be used as it is.',
    next: 'Nothing was started.',
    remedy,
  }),
  'wait-timed-out': ({ after }) => ({
    what: `What was waited for did not come within ${after}.`,
    next: 'Only the waiting ended; nothing else has changed.',
    remedy: 'Wait again, or look at status() for what the run waits for.',
  }),
}

/** All codes, in the order of the alphabet. */
export const errorCodes: readonly ErrorCode[] = Object.keys(catalogue).sort() as ErrorCode[]

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code)
}

export function explain<C extends ErrorCode>(code: C, details: ErrorDetails[C]): Explanation {
  return catalogue[code](details)
}

/** For one sentence: the first five issues, and how many others there are. */
export function listIssues({ issues, more }: Issues): string {
  const shown = issues.slice(0, 5).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const others = issues.length - shown.length
  const rest = more ? [`and more than ${others} others`] : others > 0 ? [`and ${others} more`] : []
  return [...shown, ...rest].join('; ')
}

/** For one sentence: what it is and says. */
export function showFailure({ name, message }: Failure): string {
  return withoutFinalStop(message === '' ? name : `${name}: ${message}`)
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${withoutFinalStop(reason)}`
}

/** So that a sentence quoted at the end of another does not end twice. */
function withoutFinalStop(text: string): string {
  return text.replace(/\.$/, '')
}

function showInstant(instant: Date): string {
  return Number.isNaN(instant.getTime()) ? 'an unknown time' : instant.toISOString()
}
