import type { Actor, Audience } from '../../base/people.ts'
import type { Refused } from '../../base/refused.ts'
import type { RiskLevel } from '../../base/words.ts'
import type { Schema } from '../../schemas/schema.ts'
import type { Agent, DecideOptions } from '../agent/agent.ts'
import type { Question, Verdict } from '../agent/verdict.ts'
import type { AskOptions, Escalate, RiskDetails } from '../human/ask.ts'
import type { AttemptOptions, StepCall } from '../step/step.ts'

/** An action that the tasks of a plan may use. */
export interface Action extends AttemptOptions {
  /** The code, which runs as a step with the id of the task. `results` holds the results of the tasks of earlier layers. */
  // biome-ignore lint/suspicious/noExplicitAny: params and results of any type, since tasks are plain data
  readonly run: (params: any, results: { readonly [task: string]: any }, call: StepCall) => unknown
  /** Undoes the action, as the `undo` of a step. Default: none. */
  // biome-ignore lint/suspicious/noExplicitAny: a result of any type
  readonly undo?: (result: any, call: StepCall) => unknown
  /**
   * Makes the params of a task, before its check shows them: from the ones it was given and the results of earlier layers. It is
   * code of the procedure, which replays: it must return the same for the same. If it is changed after a check by an agent, the task
   * acts on the new params. Default: the given ones.
   */
  // biome-ignore lint/suspicious/noExplicitAny: params and results of any type, since tasks are plain data
  readonly params?: (params: any, results: { readonly [task: string]: any }) => object
  /** Check of every task that uses the action; of this and the task's own the stricter one counts, and this one if both are by people or both by agents. Default: none. */
  readonly check?: ActionCheck
}

/** What must be agreed to before a task acts. */
export type TaskCheck = HumanCheck | AgentCheck

/** The check of an action, which is code and may say more than a task, which is data. */
export type ActionCheck =
  | (HumanCheck & {
      /** Schema of the edited params; it must not transform. An invalid edit is refused and the ask stays open. Default: none. */
      // biome-ignore lint/suspicious/noExplicitAny: a schema of anything
      readonly schema?: Schema<any, any>
    })
  | (AgentCheck & {
      /** Agent that judges. Default: the `decider` of the plan. */
      readonly agent?: Agent<Question, Verdict>
    })

/** A check by people. It takes the options of `ctx.human.approve`. */
export interface HumanCheck extends Omit<AskOptions, 'key' | 'risk'> {
  /** A person checks. */
  readonly type: 'human'
  /** Text of the question; its placeholders are filled from the params of the task. */
  readonly message: string
  /** Risk of the action. Default: not stated. */
  readonly risk?: RiskLevel | RiskDetails
  /** Names of the params that the person may change. Default: none. */
  readonly editable?: readonly string[]
  /** What a no does, or no answer in time: 'cancel' the run, or 'skip' the task and everything behind it. Default: 'cancel'. */
  readonly onReject?: 'cancel' | 'skip'
  /** What follows from a yes and from a no, in words. Default: what the plan says. Range: 1 to 1,000 characters each. */
  readonly effect?: { readonly approve?: string; readonly reject?: string }
  /**
   * Outcome when the timeout passes; it needs a `timeout`. 'fail' fails the task; 'approve' needs a risk of 'low' or 'medium'.
   * Default: 'reject', which counts as a no.
   */
  readonly onTimeout?: 'reject' | 'fail' | 'keep-waiting' | Escalate | 'approve'
}

/** How an agent judges, and who is asked in its place. */
export interface JudgeOptions
  extends Pick<DecideOptions<string>, 'minConfidence' | 'timeout' | 'attempts' | 'details' | 'history'> {
  /** Outcome if the agent cannot decide: 'reject' is a no, 'continue' a yes, 'human' asks people. */
  readonly fallback: 'reject' | 'continue' | 'human'
  /** Who is asked with `fallback: 'human'`. Default: the `owner` of the procedure. */
  readonly to?: Audience
}

/**
 * A check by an agent: a no fails the task. It takes the options of `ctx.agent.decide`. The task acts on the params as the code makes
 * them, also in a replay: if `params` of the action has changed since the check, it acts on params that the agent has not seen. A check
 * by people acts on the params that they have approved, which are recorded.
 */
export interface AgentCheck extends JudgeOptions {
  /** An agent checks. */
  readonly type: 'agent'
  /** Text of the question. */
  readonly question: string
}

/**
 * A param that a task takes from the result of a task that it needs: its id, and where in the result. An id that has dots is found,
 * too. The task fails if nothing is there and `or` is missing. A plan with a reference to any other task is refused, also with `or`.
 * @example { id: 'remove', use: 'remove', needs: ['list'], params: { count: { $result: 'list.files.length', or: 0 } } }
 */
export interface ResultReference {
  readonly $result: string
  /** Value if the result has none there. It may contain references. Default: none. */
  readonly or?: unknown
}

/**
 * A task of a plan: plain data, so that a file or an agent can contain it. A task either acts (`use`) or judges what it needs
 * (`verify`).
 */
export type Task<U extends string = string> = ActionTask<U> | VerifyTask

/** A task that acts. */
export interface ActionTask<U extends string = string> {
  /** Id of the task, which is also the name of its step. Range: 1 to 180 characters, unique in the plan. */
  readonly id: string
  /** Name of the action. */
  readonly use: U
  /** Params of the action; a `{ $result: 'list.count' }` in them is a {@link ResultReference}. Default: `{}`. */
  readonly params?: { readonly [name: string]: unknown }
  /** Ids of the tasks that must end first. Default: none. */
  readonly needs?: readonly string[]
  /** Check before the task acts. Default: the check of the action. */
  readonly check?: TaskCheck
  readonly verify?: Refused<'a task acts (use) or judges (verify), not both'>
}

/** A task that judges; a no fails it. */
export interface VerifyTask extends JudgeOptions {
  /** Id of the task. Range: 1 to 180 characters, unique in the plan. */
  readonly id: string
  /** Question to the decider about the results of the tasks that it needs. */
  readonly verify: string
  /** Ids of the tasks that it judges. If it fails, they are undone. */
  readonly needs: readonly string[]
  readonly use?: Refused<'a task acts (use) or judges (verify), not both'>
}

/** Returns whether a task acts. */
export function isAction(task: Task): task is ActionTask {
  return task.verify === undefined
}

/** The options of `ctx.plan`. */
export interface PlanOptions<U extends Actions = Actions> {
  /** The actions that tasks may use, by name. */
  readonly use: U
  /** Agent that judges verifications and checks of type 'agent'. Default: the `decider` of the engine. */
  readonly decider?: Agent<Question, Verdict>
  /** Agent that proposes changes of the plan. Default: none. Required unless `replan` is 'never'. */
  readonly planner?: Agent<PlanView, Proposal>
  /** When the planner is asked: after a failed action, or after each layer. Default: 'never'. */
  readonly replan?: 'never' | 'on-error' | 'per-layer'
  /** Kinds of edits that the planner may propose. Default: none. */
  readonly may?: readonly PlanEdit['op'][]
  /** Maximum number of calls of the planner; then people decide whether the plan continues unchanged. Default: 3. Range: whole numbers from 0. */
  readonly maxReplans?: number
  /** Maximum number of tasks, with the tasks that the planner adds. Default: 1000. Range: whole numbers from 1 to 10,000. */
  readonly maxTasks?: number
  /** What a failed action does: 'stop' undoes nothing, 'rollback' undoes the plan. Default: 'stop'. */
  readonly onError?: 'stop' | 'rollback'
  /** Audience that is told of failed tasks and undos, and asked about the planner. Default: none is told; the `owner` of the procedure is asked. */
  readonly alert?: Audience
}

/** The actions of a plan, by name. */
export interface Actions {
  readonly [use: string]: Action
}

/** What a planner is given. */
export interface PlanView {
  /** Why it is asked. */
  readonly why: string
  /** The tasks that have not ended. */
  readonly tasks: readonly Task[]
  /** The results of the tasks that have ended. */
  readonly results: { readonly [task: string]: unknown }
  /** The ids of the tasks that were skipped. */
  readonly skipped: readonly string[]
  /** The kinds of edits that it may propose. */
  readonly may: readonly string[]
}

/** One change of a plan. */
export type PlanEdit =
  | { readonly op: 'add'; readonly task: Task; readonly reason: string }
  | { readonly op: 'skip'; readonly task: string; readonly reason: string }
  | {
      readonly op: 'modify'
      readonly task: string
      readonly params: { readonly [name: string]: unknown }
      readonly reason: string
    }
  | { readonly op: 'replan'; readonly tasks: readonly Task[]; readonly reason: string }

/** What a planner proposes: no edits, or edits of which all or none are applied. */
export interface Proposal {
  readonly edits: readonly PlanEdit[]
  readonly rationale: string
}

/** The result of `ctx.plan`. */
export interface PlanResult {
  /**
   * 'stopped': a task failed, or people stopped the plan. 'rolled-back': and tasks were undone. 'rollback-failed': and an undo
   * failed, so that the effect of its task is still there; a run of an earlier version reports it as one of the two before.
   */
  readonly status: 'done' | 'stopped' | 'rolled-back' | 'rollback-failed'
  /** The id of the task that failed and why, or who stopped the plan. */
  readonly why: string | undefined
  /** The results of the tasks that have ended, by id. */
  readonly results: { readonly [task: string]: unknown }
  readonly skipped: readonly string[]
  readonly undone: readonly string[]
  /** The ids of the tasks whose undo failed. */
  readonly failed: readonly string[]
  /** The edits that were applied. */
  readonly edits: readonly PlanEdit[]
  /** Who agreed to each task that was checked, by id. */
  readonly approvedBy: { readonly [task: string]: Actor }
}
