import {
  type Answer,
  type Ask,
  type Audience,
  type Client,
  type CountFilter,
  PawlError,
  type ResumeResolution,
} from '@pawl/core'
import { answerFound, askByKeyOf, checkFound, findAskOf, startersOfOriginals } from '@pawl/core/internal'
import { z } from 'zod'
import type { Rights } from '../auth/rights.ts'
import { answerers, everyone } from '../auth/roles.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { isRepeated, readAnswer, toAnswer } from '../http/answers.ts'
import { refusalOf, ServerError } from '../http/problem.ts'
import { readId } from '../json/ids.ts'
import { boundedList } from '../json/lists.ts'
import {
  answerShape,
  askBriefShape,
  askShape,
  issueShape,
  problemShape,
  resolutionShape,
} from '../json/shapes.ts'
import { showAsk, showBrief } from '../json/views.ts'
import type { Problem } from '../types.ts'
import { countScanned, scanAsks } from './ask-scan.ts'
import { findAsk, findFull } from './find-ask.ts'
import { cursor, limit } from './query.ts'
import { type AnswerGiver, type Route, route } from './route.ts'

const filter = {
  mine: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Only asks to everyone or to a name of the caller' }),
  to: z.string().optional().meta({ description: 'Addressed to this name' }),
  run: z.string().optional(),
  procedure: z.string().optional(),
  kind: askBriefShape.shape.kind.optional(),
  status: askBriefShape.shape.status.optional().meta({ description: 'Default: open' }),
  overdue: z.enum(['true', 'false']).optional(),
  risk: askBriefShape.shape.risk.unwrap().shape.level.optional().meta({
    description:
      'Reads at most 1,000 asks of the other filters for a page, which may hold more or fewer asks than `limit`, or none: follow `cursor`',
  }),
}

type FilterQuery = z.infer<z.ZodObject<typeof filter>>

const answered = z.object({
  ask: askBriefShape,
  repeated: z.boolean().meta({ description: 'Whether this person had already sent this answer' }),
})

const shown = z.string().regex(/^[0-9a-f]{32}$/)
/** An ask by its id, or as it was shown. */
const shownAsk = z.union([z.string(), z.strictObject({ id: z.string(), digest: shown })])
const digest = shown
  .optional()
  .meta({ description: 'The `digest` of the ask as it was shown: if it differs now, the answer is refused' })

const as = z
  .string()
  .regex(/^user:./)
  .optional()

export const askRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/asks',
    summary: 'List asks, most urgent first',
    roles: everyone,
    query: z.strictObject({ ...filter, limit, cursor }),
    body: null,
    replies: { 200: z.object({ items: z.array(askBriefShape), cursor: z.string().optional() }) },
    async handle({ client, rights, query }) {
      const { limit = 50, cursor, risk, ...rest } = query
      const filter = filterOf(rest, rights)
      // The store has chosen by names; `may` can hide more.
      const page =
        risk === undefined
          ? await client.inbox.list({ ...filter, limit, ...omitUndefined({ cursor }) })
          : await scanAsks(client, { rights, risk }, { filter, limit, cursor })
      const items = page.items.filter((ask) => rights.seesAsk(ask)).map(showBrief)
      const next = page.cursor
      return { status: 200, body: { items, ...(next === undefined ? {} : { cursor: next }) } }
    },
  }),
  route({
    method: 'GET',
    path: '/asks/count',
    summary: 'Count asks, up to 1,000',
    roles: everyone,
    query: z.strictObject(filter),
    body: null,
    replies: {
      200: z.object({
        count: z.number(),
        capped: z.boolean().meta({ description: 'Whether there may be more than `count`' }),
      }),
    },
    async handle({ client, rights, query }) {
      const { risk, ...rest } = query
      const filter = filterOf(rest, rights)
      const body =
        rights.isNarrowed || risk !== undefined
          ? await countScanned(client, { rights, risk }, filter)
          : await client.inbox.count(filter)
      return { status: 200, body }
    },
  }),
  route({
    method: 'GET',
    path: '/asks/{ask}',
    summary: 'Get an ask',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: { 200: askShape },
    async handle({ client, rights, params }) {
      return { status: 200, body: showAsk(await findAsk(client, rights, params.ask)) }
    },
  }),
  route({
    method: 'POST',
    path: '/asks/{ask}/answer',
    summary: 'Answer an ask',
    roles: answerers,
    query: z.strictObject({ as, digest }),
    body: answerShape,
    replies: { 200: answered },
    async handle({ client, rights, params, body, query, giver }) {
      const from = giver(query.as)
      const found = await findFull(client, rights, params.ask)
      rights.checkAnswer(found.ask, from.as)
      const answer = readAnswer(body)
      const give = () => answerFound(client, found, answer, { ...from, digest: query.digest })
      return { status: 200, body: await answerOnce(client, found.ask, answer, from.as, give) }
    },
  }),
  route({
    method: 'POST',
    path: '/asks/{ask}/check',
    summary: 'Check an answer without storing it',
    roles: answerers,
    query: z.strictObject({ as, digest }),
    body: answerShape,
    replies: { 200: z.object({ ok: z.boolean(), issues: z.array(issueShape) }) },
    async handle({ client, rights, params, body, query, giver }) {
      const from = giver(query.as)
      const found = await findFull(client, rights, params.ask)
      rights.checkAnswer(found.ask, from.as)
      try {
        await checkFound(client, found, readAnswer(body), { as: from.as, digest: query.digest })
        return { status: 200, body: { ok: true, issues: [] } }
      } catch (error) {
        if (!PawlError.is(error, 'answer-invalid')) throw error
        return { status: 200, body: { ok: false, issues: error.details.issues } }
      }
    },
  }),
  route({
    method: 'POST',
    path: '/asks/answers',
    summary: 'Give one answer to several asks',
    roles: answerers,
    query: z.strictObject({ as }),
    body: z.strictObject({ asks: boundedList(shownAsk, { min: 1, max: 100 }), answer: answerShape }),
    replies: {
      200: z.object({
        outcomes: z.array(
          z.object({
            ask: z.string(),
            status: z.enum(['stored', 'repeated', 'refused']),
            problem: problemShape.optional(),
          }),
        ),
      }),
    },
    async handle({ client, rights, body, query, giver }) {
      const from = giver(query.as)
      const answer = readAnswer(body.answer)
      const outcomes = []
      for (const shown of body.asks) {
        const { id, digest } = typeof shown === 'string' ? { id: shown, digest: undefined } : shown
        outcomes.push({ ask: id, ...(await answerOne(client, rights, id, answer, { ...from, digest })) })
      }
      return { status: 200, body: { outcomes } }
    },
  }),
  route({
    method: 'POST',
    path: '/resume',
    summary: 'Answer the ask behind a checkpoint',
    roles: answerers,
    query: z.strictObject({ as, digest }),
    body: z.strictObject({
      checkpoint: z.string(),
      resolution: resolutionShape,
    }),
    replies: { 200: answered },
    async handle({ client, rights, body, query, giver }) {
      const from = giver(query.as)
      const ask = await findAsk(client, rights, body.checkpoint)
      rights.checkAnswer(ask, from.as)
      const resolution: ResumeResolution = readAnswer(body.resolution)
      const give = async () =>
        void (await client.resume({ checkpoint: ask.id, resolution }, { ...from, digest: query.digest }))
      return { status: 200, body: await answerOnce(client, ask, toAnswer(ask, resolution), from.as, give) }
    },
  }),
  route({
    method: 'POST',
    path: '/runs/{run}/asks/{key}/answer',
    summary: 'Answer an ask by its key, also before it is asked',
    roles: answerers,
    query: z.strictObject({ as, digest }),
    body: answerShape,
    replies: { 202: z.object({ stored: z.literal(true) }) },
    async handle({ client, rights, params, body, query, giver }) {
      const from = { ...giver(query.as), digest: query.digest }
      const run = readId(params.run)
      const answer = readAnswer(body)
      const asked = await askByKeyOf(client, run, params.key)
      if (asked !== null) {
        rights.checkAnswer(asked, from.as)
        // The id names the ask that was checked.
        await client.inbox.answer(asked.id, answer, from)
      } else {
        const view = await client.get(run).status()
        rights.checkEarlyAnswer(view, from.as, await startersOfOriginals(client, view.id))
        await client.inbox.answer({ run, key: params.key }, answer, from)
      }
      return { status: 202, body: { stored: true } }
    },
  }),
]

/** Restricts the filter of a caller to the asks it may see. */
function filterOf({ mine, to, overdue, ...rest }: Omit<FilterQuery, 'risk'>, rights: Rights): CountFilter {
  const names = mine === 'true' ? rights.own : rights.names
  const isOwn = names === null || to === undefined || names.includes(to as Audience)
  if (!isOwn) throw new ServerError('not-allowed', `The caller has not the name ${to}.`)
  return {
    ...omitUndefined(rest),
    ...(to !== undefined ? { to: to as Audience } : names === null ? {} : { visibleTo: names }),
    ...(overdue === undefined ? {} : { overdue: overdue === 'true' }),
  }
}

async function answerOne(
  client: Client,
  rights: Rights,
  id: string,
  answer: Answer,
  from: AnswerGiver & { readonly digest: string | undefined },
): Promise<{ readonly status: 'stored' | 'repeated' | 'refused'; readonly problem?: Problem }> {
  try {
    const found = await findFull(client, rights, id)
    rights.checkAnswer(found.ask, from.as)
    const give = () => answerFound(client, found, answer, from)
    const { repeated } = await answerOnce(client, found.ask, answer, from.as, give)
    return { status: repeated ? 'repeated' : 'stored' }
  } catch (error) {
    const problem = refusalOf(error)
    if (problem === null || problem.status === 503) throw error
    return { status: 'refused', problem }
  }
}

/** Gives an answer. Repeating the accepted answer of the same person is no error. */
async function answerOnce(
  client: Client,
  ask: Ask,
  answer: Answer,
  by: `user:${string}`,
  give: () => Promise<void>,
): Promise<z.infer<typeof answered>> {
  let repeated = false
  try {
    await give()
  } catch (error) {
    const settled = PawlError.is(error, 'ask-closed')
      ? ((await findAskOf(client, ask.id))?.ask ?? null)
      : null
    if (settled === null || !isRepeated(settled, answer, by)) throw error
    repeated = true
  }
  return { ask: showBrief((await findAskOf(client, ask.id))?.ask ?? ask), repeated }
}
