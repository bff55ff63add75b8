import {
  type Actor,
  type Ask,
  type Audience,
  type Client,
  type KeptAnswer,
  type Notice,
  PawlError,
  type Possibility,
  type RunFacts,
  type RunVerb,
  type RunView,
} from '@pawl/core'
import {
  type AnswerVerdict,
  allowedAnswer,
  answerRulesOf,
  isAddressedTo,
  isBuiltIn,
  isReservedId,
  mayAnswer,
  mayApprove,
  runVerbs,
} from '@pawl/core/internal'
import { ServerError } from '../http/problem.ts'
import type { Identity, NewRun, ServerOptions, Thing, Verb } from '../types.ts'
import { type Grant, grants } from './roles.ts'

/** The rights of one identity. All routes ask here. A thing that it may not see does not exist for it. */
export interface Rights {
  /** Names whose asks it sees, besides asks to everyone; null for all asks. */
  readonly names: readonly Audience[] | null
  /** The names of the identity. */
  readonly own: readonly Audience[]
  /** Whether it sees all runs. If not, only those whose asks it sees, and only with `showRuns`. */
  readonly seesRuns: boolean
  /** Whether it sees all asks and runs, so that none need to be looked up. */
  readonly seesAll: boolean
  /** Whether `may` can hide what the names and the role let it see. */
  readonly isNarrowed: boolean
  seesAsk(ask: Ask): boolean
  seesRun(run: RunView): boolean
  /** A notice is seen by those whom it is addressed to. */
  seesNotice(notice: Notice): boolean
  /** Whether it may hear of the run with this id, if it sees all runs. */
  seesRunId(id: string): boolean
  /** Whether it may start runs of a procedure, or its role starts none. */
  seesProcedure(name: string): boolean
  /** @throws PawlError 'ask-not-found' */
  checkSeen(ask: Ask): void
  /**
   * Checks an answer that is recorded as given by `by`.
   * @throws PawlError 'ask-not-found', ServerError 'not-allowed'
   */
  checkAnswer(ask: Ask, by: Identity['actor']): void
  /** Judges an answer as `checkAnswer` does, for a role that answers, through a link of `madeBy`. */
  judgeAnswer(ask: Ask, by: Actor, madeBy?: Actor): AnswerVerdict
  /**
   * Checks who makes a link that answers without a login: they could open it themselves.
   * @throws ServerError 'not-allowed'
   */
  checkLinkMaker(ask: Ask, maker: Actor): void
  /**
   * Checks the answer that a fork has instead of the recorded one. The identity starts the fork, and so gives an answer to a run of its own.
   * @throws PawlError 'ask-not-found', ServerError 'not-allowed'
   */
  checkEdit(ask: Ask): void
  /**
   * Checks an answer upon which a fork acts that the identity starts. Undefined: all may be kept.
   * @throws ServerError 'not-allowed'
   */
  readonly checkKept: ((answer: KeptAnswer) => void) | undefined
  /**
   * Checks an answer to an ask that does not exist yet. The people it will be addressed to are unknown, so only `admin` may.
   * @throws PawlError 'run-not-found', ServerError 'not-allowed'
   */
  checkEarlyAnswer(run: RunView, by: Identity['actor'], starters: readonly string[]): void
  /** Procedures of Pawl itself, and their runs, are for role `admin` alone. @throws ServerError 'not-allowed' */
  checkProcedure(name: string): void
  /** @throws ServerError 'not-allowed' */
  checkStart(run: NewRun): void
  /** @throws PawlError 'run-not-found', ServerError 'not-allowed' */
  checkRun(verb: Exclude<Verb, 'answer' | 'start'>, run: RunView): void
  /** What the identity is told of the facts about a run: what it may do itself, and of workers only if it sees everything. */
  narrowFacts(run: RunView, facts: RunFacts): RunFacts
}

export type RightsOptions = Pick<ServerOptions, 'selfApproval' | 'showRuns' | 'may'>

/** @param client whose engine, if it is one, has rules of its own */
export function rightsOf(identity: Identity, options: RightsOptions, client: Client): Rights {
  const { role, actor } = identity
  const grant = grants[role]
  const seesAll = grant.sees === 'all'
  const { showRuns = false, may } = options
  const selfApproval = options.selfApproval !== false && answerRulesOf(client).selfApproval
  const own = new Set<Audience>([actor, ...identity.names])
  const isAddressed = (one: Ask | Notice): boolean => isAddressedTo(one, own)
  const allows = (verb: Verb, thing: Thing): boolean =>
    may === undefined || may(identity, verb, thing) === true
  const rights: Rights = {
    names: seesAll ? null : [...own],
    own: [...own],
    seesRuns: seesAll,
    isNarrowed: may !== undefined,
    seesAll: seesAll && may === undefined,
    seesAsk: (ask) => (seesAll || isAddressed(ask)) && allows('see', ask),
    seesRun: (run) => (seesAll || showRuns) && isOpenTo(grant, run.procedure) && allows('see', run),
    seesRunId: (id) => grant.administers || !isReservedId(id),
    seesNotice: (notice) => (seesAll || isAddressed(notice)) && allows('see', notice),
    seesProcedure: (procedure) =>
      isOpenTo(grant, procedure) &&
      (!grant.operates || allows('start', { id: undefined, procedure, tags: [] })),
    checkSeen(ask) {
      if (!rights.seesAsk(ask)) throw new PawlError('ask-not-found', { ask: ask.id })
    },
    checkAnswer(ask, by) {
      rights.checkSeen(ask)
      if (grant.answers === 'none') refuse(`${actor} has role ${role}, which cannot answer asks.`)
      check(rights.judgeAnswer(ask, by))
    },
    judgeAnswer(ask, by, madeBy) {
      const who = {
        persons: [by, ...(madeBy === undefined ? [] : [madeBy]), actor],
        names: identity.names,
        answersAll: grant.answers === 'all',
      } as const
      const verdict = mayAnswer(ask, who, selfApproval)
      if (!verdict.ok || (rights.seesAsk(ask) && allows('answer', ask))) return verdict
      return {
        ok: false,
        what: `${actor} may not answer ask ${ask.id}.`,
        remedy: 'The option `may` of the server forbids it. Let another person answer.',
      }
    },
    checkLinkMaker(ask, maker) {
      if (maker === actor && !allows('answer', ask))
        refuse(
          `${maker} may not answer ask ${ask.id}, and could with this link: the option \`may\` of the server forbids it. A link with \`login\` is for the named person only.`,
        )
      if (selfApproval || mayApprove([ask.startedBy, ...ask.alsoStartedBy], [maker]).ok) return
      refuse(
        `${maker} started the run, and could answer its ask ${ask.id} with this link: \`selfApproval\` is false. A link with \`login\` is for the named person only.`,
      )
    },
    checkEdit(ask) {
      rights.checkAnswer(ask, actor)
      if (!selfApproval)
        refuse(
          `${actor} would start the fork and answer its ask ${ask.id}: \`selfApproval\` is false. Fork before the answer instead, so that others are asked.`,
        )
    },
    checkKept: selfApproval
      ? undefined
      : ({ run, position, name, by }) => {
          if (by.includes(actor))
            refuse(
              `${actor} has given the answer '${name}' at position ${position} of run ${run}, and would start a fork that acts upon it: \`selfApproval\` is false. Fork before the answer, so that others are asked, or let another person fork.`,
            )
        },
    checkEarlyAnswer(run, by, starters) {
      rights.checkRun('see', run)
      if (grant.answers !== 'all')
        refuse(`Only role admin may answer before the question is asked; ${actor} has role ${role}.`)
      if (!selfApproval) check(mayApprove([run.startedBy, ...starters], [by, actor]))
      if (!allows('answer', run)) refuse(`${actor} may not answer the asks of run ${run.id}.`)
    },
    checkProcedure(name) {
      if (!isOpenTo(grant, name))
        refuse(`${name} is a procedure of Pawl itself, which needs role admin; ${actor} has role ${role}.`)
    },
    checkStart(run) {
      rights.checkProcedure(run.procedure)
      if (run.id !== undefined && isReservedId(run.id) && !isBuiltIn(run.procedure))
        refuse(`The id ${run.id} is reserved for runs of Pawl itself. Choose another one.`)
      if (!allows('start', run)) refuse(`${actor} may not start ${run.procedure}.`)
    },
    checkRun(verb, run) {
      if (!rights.seesRun(run)) throw new PawlError('run-not-found', { run: run.id })
      if (verb !== 'see' && !allows(verb, run)) refuse(`${actor} may not ${verb} run ${run.id}.`)
    },
    narrowFacts(run, { owner, can, ...facts }) {
      const judge = (verb: RunVerb): Possibility => {
        const isGranted = verb === 'delete' ? grant.administers : grant.operates
        if (!isGranted) return { ok: false, why: `${actor} has role ${role}, which cannot ${verb} runs.` }
        if (!allows(verb, run)) return { ok: false, why: `${actor} may not ${verb} run ${run.id}.` }
        if (verb === 'fork' && !rights.seesProcedure(run.procedure))
          return { ok: false, why: `${actor} may not start ${run.procedure}.` }
        return can[verb]
      }
      const own = Object.fromEntries(runVerbs.map((verb) => [verb, judge(verb)])) as RunFacts['can']
      return { ...facts, owner: seesAll ? owner : undefined, can: own }
    },
  }
  return rights
}

/**
 * Lets the channels of an engine accept no answer that its server would refuse to the same person. A server that has a client for each
 * identity binds none. Returns a function that ends it.
 */
export function bindChannels(client: ServerOptions['client'], options: RightsOptions): () => void {
  const isFree = options.selfApproval !== false && options.may === undefined
  if (isFree || typeof client === 'function') return () => {}
  return answerRulesOf(client).add((ask, { as, madeBy, actedBy = as, names }) => {
    // A program that acts for a person has the rights of the person. Any other who answers is refused by the inbox.
    const actor = [actedBy, as].find(isPerson)
    if (actor === undefined) return allowedAnswer
    return rightsOf({ actor, names, role: 'answer' }, options, client).judgeAnswer(ask, as, madeBy)
  })
}

function isPerson(actor: Actor): actor is Identity['actor'] {
  return actor.startsWith('user:')
}

/** Control over built-in runs is control over deliveries: their content, receivers and senders. */
function isOpenTo({ administers }: Grant, procedure: string): boolean {
  return administers || !isBuiltIn(procedure)
}

function check(verdict: AnswerVerdict): void {
  if (!verdict.ok) refuse(verdict.what)
}

function refuse(message: string): never {
  throw new ServerError('not-allowed', message)
}
