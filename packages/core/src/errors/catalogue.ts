import type { Issues } from '../base/issues.ts'
import { showValue } from '../base/text.ts'
import type { PolicyVerdict } from '../base/words.ts'
import type { ErrorCode, ErrorDetails, Failure } from './error-details.ts'

/** The sentences of an error message, in this order. */
export interface Explanation {
  readonly what: string
  readonly next: string
  readonly remedy: string
}

type Catalogue = { readonly [C in ErrorCode]: (details: ErrorDetails[C]) => Explanation }

/** The texts of all errors. `docs/errors` has a page for each code. An empty `next` is left out of the message. */
const catalogue: Catalogue = {
  'answer-forbidden': (of) => ({
    what: `Ask ${showAsk(of)} can only be answered by a person.`,
    next: 'The answer was not stored; the ask is still open.',
    remedy: "Pass the person who decided as `{ as: 'user:<name>' }`.",
  }),
  'answer-invalid': (issues) => ({
    what: `The answer is invalid: ${listIssues(issues)}.`,
    next: 'It was not stored; the ask is still open.',
    remedy: 'Correct it and answer again. See `schema`, `choices` and `editable` of the ask.',
  }),
  'ask-changed': (of) => ({
    what: `Ask ${showAsk(of)} differs from the question that was shown.`,
    next: 'The answer was not stored; the ask is still open.',
    remedy: 'Read the ask again, and answer what it shows now.',
  }),
  'ask-closed': ({ status, winner }) => ({
    what: winner
      ? `The ask was already answered by ${winner.by} at ${showInstant(winner.at)}.`
      : `The ask is already closed: it is ${status}.`,
    next: 'This answer was not stored.',
    remedy: 'Do not retry it.',
  }),
  'ask-not-found': (of) => ({
    what: `Ask ${showAsk(of)} does not exist in this store.`,
    next: '',
    remedy:
      'Use an id from `inbox.list()` or `pawl inbox`. To answer before the question is asked, pass `{ run, key }`, or `run/key` to `pawl answer`.',
  }),
  'ask-timed-out': ({ message, ...of }) => ({
    what: `No one answered ${showValue(message)} in time: ask ${showAsk(of)}.`,
    next: 'The ask is closed.',
    remedy: "Catch this error, or set `onTimeout` to `{ default }`, `'escalate'` or `'keep-waiting'`.",
  }),
  cancelled: ({ reason }) => ({
    what: `The run was cancelled${because(reason)}.`,
    next: 'Every pending operation of the run rejects with this error.',
    remedy: 'Clean up in `finally` and rethrow the error.',
  }),
  'consent-outdated': ({ action, why, verdict }) => ({
    what: `The action of gate ${showValue(action)} was not attempted: ${whyOutdated[why](verdict)}.`,
    next: 'The gate asks again, with what has changed.',
    remedy: 'Answer its next question.',
  }),
  'duration-invalid': ({ text }) => ({
    what: `${showValue(text)} is not a duration.`,
    next: '',
    remedy: "Use a number and one unit (ms, s, m, h, d, w), such as '500ms', '90s', '1.5h' or '3d'.",
  }),
  'engine-stopped': () => ({
    what: 'This engine or client has been stopped.',
    next: 'The call had no effect. Unfinished runs resume on the next engine that uses the store.',
    remedy: 'Call `stop()` last, or create a new engine or client.',
  }),
  'export-invalid': ({ reason }) => ({
    what: `The exported run cannot be read: ${reason}.`,
    next: 'Nothing was imported.',
    remedy: 'Export the run again, and copy the file as it is.',
  }),
  'family-full': ({ root, limit }) => ({
    what: `Run ${root} has ${limit} descendants, which is the limit, so none of them can create another run.`,
    next: 'The run was not created.',
    remedy: 'End a recursion that creates too many runs. Otherwise raise `maxDescendants` of createEngine.',
  }),
  'feature-missing': ({ feature }) => ({
    what: `This store does not have ${featureNames[feature]}.`,
    next: 'The call had no effect.',
    remedy: 'Do without, or use a store that has the feature, such as `sqlite()` or `postgres()`.',
  }),
  'foreign-await': ({ run, after, what }) => ({
    what: `Run ${run} is waiting for something outside its \`ctx\` after ${after}: ${what}.`,
    next: "Nothing was written, and the run is now 'stuck'.",
    remedy:
      'Move I/O (`fetch`, timers, databases) into `ctx.step`, and waiting into `ctx.sleep` or `ctx.receive`. Do not use `ctx` inside the body of a step.',
  }),
  'id-taken': ({ id }) => ({
    what: `Run ${id} already exists, with a different procedure or input.`,
    next: 'No run was started.',
    remedy: 'Use a different id. To get the existing run, call `runOrGet()`, or run `pawl result`.',
  }),
  'input-invalid': (issues) => ({
    what: `The input is invalid: ${listIssues(issues)}.`,
    next: 'The procedure did not run.',
    remedy: 'Correct the input and start the run again.',
  }),
  'log-full': ({ run, events }) => ({
    what: `The log of run ${run} is full: it has ${events} events.`,
    next: 'The run fails with this error; its undos do not run.',
    remedy:
      'Continue with an empty log now and then: `return ctx.continueAs(…)`. Or raise `logLimits.full` of the engine.',
  }),
  nondeterminism: ({ position, recorded, asked, at }) => ({
    what: `At position ${position} the log contains ${recorded}, but the code asks for ${asked}${at === '' ? '' : ` (${at})`}.`,
    next: "Nothing was written, and the run is now 'stuck'.",
    remedy:
      'Restore the code, or give the changed procedure a new `version` and keep the old one in `procedures` until its runs have ended.',
  }),
  'nondeterministic-call': ({ call, use }) => ({
    what: `A procedure called ${call}, whose result can differ on replay.`,
    next: 'The call was blocked.',
    remedy: `Use ${use} instead.`,
  }),
  'option-invalid': ({ option, given }) => ({
    what: `The option ${option} cannot be ${given}.`,
    next: '',
    remedy: 'See its description for accepted values.',
  }),
  'output-invalid': (issues) => ({
    what: `The procedure returned an invalid output: ${listIssues(issues)}.`,
    next: 'The run fails with this error; its completed steps stay recorded.',
    remedy: 'Correct the returned value or the `output` schema.',
  }),
  'payload-invalid': (issues) => ({
    what: `The payload of the signal or update is invalid: ${listIssues(issues)}.`,
    next: 'The procedure does not receive it.',
    remedy: 'Correct it and send it again.',
  }),
  'payload-refused': ({ path }) => ({
    what: `${path} cannot be stored.`,
    next: 'If a step returned it, the effect of the step has happened and is not repeated.',
    remedy:
      'Use plain objects, arrays, strings, numbers, bigints, booleans, null, undefined, Date, Map, Set or bytes, up to 2 MiB and 256 levels deep.',
  }),
  'plan-invalid': (issues) => ({
    what: `The plan is invalid: ${listIssues(issues)}.`,
    next: 'No task was run.',
    remedy: 'Correct the tasks, which are plain data, and pass them to `ctx.plan` again.',
  }),
  'policy-refused': ({ step, verdict }) => ({
    what: `The policy of the engine does not allow step ${showValue(step)}: its verdict is '${verdict}'.`,
    next: 'The body of the step did not run.',
    remedy:
      'Use `ctx.gate`, which asks an agent or a person before it acts, or change the `policy` of the engine.',
  }),
  'procedure-broken': ({ run, cause, at }) => ({
    what: `Run ${run} stopped at a bug in its procedure: ${showFailure(cause)}${at === '' ? '' : ` (${at})`}.`,
    next: "The run is now 'stuck'; its asks and timers are kept.",
    remedy:
      "Fix and deploy the procedure: engines retry stuck runs when they start, and `client.retry(id)` or `pawl retry` retries at once. To end such runs instead, set `bugs: 'fail'`.",
  }),
  'procedure-duplicate': ({ procedure }) => ({
    what: `Two procedures are named ${showValue(procedure)} and have the same version.`,
    next: 'The engine was not started.',
    remedy: 'Rename one of them, or give the newer one a higher `version`.',
  }),
  'procedure-unknown': ({ procedure }) => ({
    what: `This engine has no procedure named ${showValue(procedure)}.`,
    next: 'No run was started.',
    remedy: 'Add it to `procedures` of `createEngine`. If another process runs it, start it with a client.',
  }),
  'run-cancelled': ({ run, reason }) => ({
    what: `Run ${run} was cancelled${because(reason)}.`,
    next: 'It has no result; its log stays readable.',
    remedy: 'To do the work again, start a run with a different id, or fork this one.',
  }),
  'run-busy': ({ run, after }) => ({
    what: `Run ${run} has accepted no signal or update for ${after}, because earlier ones keep it from recording its end or a timeout.`,
    next: 'The message was not stored.',
    remedy: 'Send it again later, and send fewer messages to this run at once.',
  }),
  'run-ended': ({ run, status, child }) =>
    child === undefined
      ? {
          what: `Run ${run} has already ended with status '${status}'.`,
          next: 'Nothing was stored for it.',
          remedy: 'Check `status()` or `pawl show` first if the run may have ended.',
        }
      : {
          what: `Run ${run} cannot be retried, because its child ${child} is missing from this store and would do its work again.`,
          next: 'It stays as it is.',
          remedy: 'Import an export of the child and retry the run then, or start a run with a different id.',
        },
  'run-failed': ({ run, cause, rolledBack }) => ({
    what: `Run ${run} failed: ${showFailure(cause)}.`,
    next: '',
    remedy: `See \`status().failure\` or \`pawl show\`, and the log of the run. After fixing the cause, ${
      rolledBack === true
        ? 'start a run with a different id: this one was rolled back'
        : 'call `client.retry(id)` or run `pawl retry`'
    }.`,
  }),
  'run-live': ({ run, status }) => ({
    what: `Run ${run} is ${status} and cannot be deleted.`,
    next: 'Nothing was deleted.',
    remedy: 'Cancel it first, and wait until it has ended.',
  }),
  'run-not-found': ({ run }) => ({
    what: `Run ${run} does not exist in this store.`,
    next: '',
    remedy: 'Check the id, and that both programs use the same store.',
  }),
  'run-quarantined': ({ run, reason }) => ({
    what: `Run ${run} is quarantined: ${reason}.`,
    next: 'It is no longer executed; other runs are not affected.',
    remedy:
      'Do not modify the store. If workers died while running it, fix the crash or the blocking step and call `client.retry(id)` or run `pawl retry`; otherwise check the disk.',
  }),
  'run-rolled-back': ({ run, child }) => ({
    what:
      child === undefined
        ? `Run ${run} has undone its steps and cannot be retried.`
        : `Run ${run} cannot be retried, because its child ${child} has undone its steps.`,
    next: 'It stays as it is.',
    remedy: 'Start a run with a different id.',
  }),
  'run-shared': ({ run, original }) => ({
    what: `Run ${run} belongs to ${original}, of which this run is a fork, and cannot be signalled or cancelled by the fork.`,
    next: 'Nothing was sent.',
    remedy: 'Fork before the position that starts the run, so that the fork has one of its own.',
  }),
  'step-failed': ({ step, attempts, cause }) => ({
    what: `Step ${showValue(step)} failed after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${showFailure(cause)}.`,
    next: 'The failure is recorded.',
    remedy: 'Catch this error to handle it, or change the `retry` option of the step.',
  }),
  'step-timed-out': ({ step, after }) => ({
    what: `Step ${showValue(step)} did not finish within ${after} in its last attempt.`,
    next: 'The failure is recorded; the effect of the step may have happened.',
    remedy: 'Catch this error, increase `timeout`, or end the body of the step when its `signal` aborts.',
  }),
  'store-unusable': ({ remedy }) => ({
    what: 'The store cannot be used.',
    next: 'Nothing was started.',
    remedy,
  }),
  'version-gone': ({ run, change, recorded, offered }) => ({
    what: `Run ${run} is on branch ${recorded} of the change ${showValue(change)}, and its code offers only ${offered.join(', ')}.`,
    next: "Nothing was written, and the run is now 'stuck'.",
    remedy: `Deploy code that offers ${recorded} again. \`pawl check\` names the branches that no run uses.`,
  }),
  'update-refused': ({ run, update, cause }) => ({
    what: `Run ${run} refused the update ${showValue(update)}: ${showFailure(cause)}.`,
    next: 'The refusal is recorded: the same id gets it again.',
    remedy: 'Correct the input, and send the update with another id.',
  }),
  'update-unfinished': ({ run, update, status }) => ({
    what: `Run ${run} ${status === 'continued' ? 'continued with an empty log' : `ended with status '${status}'`} while its handler of the update ${showValue(update)} was at work.`,
    next:
      status === 'failed'
        ? 'The handler may have acted. If the run is retried, the handler continues, and the same id gets its reply.'
        : 'The handler may have acted. The same id gets this answer again.',
    remedy:
      'Read the log of the run before you send the update with another id. Let the procedure wait for its handlers before it returns.',
  }),
  'wait-timed-out': ({ after }) => ({
    what: `Timed out after ${after}.`,
    next: 'Only the wait ended; the run is unchanged.',
    remedy: 'Wait again, or check `waitingFor` of `status()`.',
  }),
}

/** The features that a store may lack, in a sentence. */
const featureNames: { readonly [F in ErrorDetails['feature-missing']['feature']]: string } = {
  copies: 'copies of runs, which exports, imports and forks need',
  removals: 'removals of runs',
  checkpoints: 'checkpoints',
  notices: 'notices to people',
  suspects: 'tests of suspects',
}

/** Why a consent does not hold any more. */
const whyOutdated: {
  readonly [why in ErrorDetails['consent-outdated']['why']]: (verdict: PolicyVerdict) => string
} = {
  facts: () => 'its facts have changed since the consent',
  expired: () => 'the consent has expired',
  policy: (verdict) => `the verdict of the policy is now '${verdict}'`,
}

/** Names an ask by its id, and in brackets by its run and position. */
function showAsk({ ask, address }: { readonly ask: string; readonly address?: string }): string {
  return address === undefined || address === ask ? ask : `${ask} (${address})`
}

/** All codes, sorted. */
export const errorCodes: readonly ErrorCode[] = Object.keys(catalogue).sort() as ErrorCode[]

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(catalogue, code)
}

export function explain<C extends ErrorCode>(code: C, details: ErrorDetails[C]): Explanation {
  return catalogue[code](details)
}

/** Lists the first five issues and counts the others, for use in a sentence. */
export function listIssues({ issues, more }: Issues): string {
  const shown = issues.slice(0, 5).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const others = issues.length - shown.length
  const rest = more ? [`and more than ${others} others`] : others > 0 ? [`and ${others} more`] : []
  return [...shown, ...rest].join('; ')
}

/** Shows the name and message of a failure, for use in a sentence. */
export function showFailure({ name, message }: Failure): string {
  return withoutFinalStop(message === '' ? name : `${name}: ${message}`)
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${withoutFinalStop(reason)}`
}

/** Avoids two full stops if a quoted sentence ends another. */
function withoutFinalStop(text: string): string {
  return text.replace(/\.$/, '')
}

function showInstant(instant: Date): string {
  return Number.isNaN(instant.getTime()) ? 'an unknown time' : instant.toISOString()
}
