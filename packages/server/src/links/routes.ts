import { type Answer, type Ask, type AskDecision, PawlError } from '@pawl/core'
import { type SignedLink as Link, type LinkSigner, linkSigner } from '@pawl/core/internal'
import type { Context, Hono } from 'hono'
import { identify } from '../auth/identify.ts'
import { rightsOf } from '../auth/rights.ts'
import { addressOf } from '../http/address.ts'
import { isRepeated } from '../http/answers.ts'
import { readForm } from '../http/body.ts'
import { checkFormOrigin } from '../http/guard.ts'
import { refusalOf, ServerError } from '../http/problem.ts'
import type { Shared } from '../shared.ts'
import type { Identity } from '../types.ts'
import { choicesOf, needsLogin } from './choices.ts'
import { fieldsOf, type Given, givenIn, partsOf } from './fields.ts'
import type { Html } from './html.ts'
import { type AskForm, askPage, confirmPage, loginPage, notePage } from './page.ts'
import { style } from './style.ts'

/**
 * Serves the pages behind links. GET shows and writes nothing, since scanners of mail open every link; only the form, a POST, answers.
 * The pages need no script.
 */
export function serveLinks(app: Hono, shared: Shared): void {
  const { links, basePath } = shared.settings
  if (links === undefined) return
  const door = { shared, signer: linkSigner(links), base: basePath === '/' ? '' : basePath }
  const answered = (work: (door: Door, request: Context['req']) => Promise<Response>) => (context: Context) =>
    work(door, context.req).catch((error: unknown) => explain(door, error))

  app.get(
    '/a/page.css',
    () => new Response(style, { headers: { 'content-type': 'text/css; charset=utf-8' } }),
  )
  app.get('/a/:token', answered(showForm))
  app.post('/a', answered(takeForm))
}

/** The state that the pages share. */
interface Door {
  readonly shared: Shared
  readonly signer: LinkSigner
  readonly base: string
}

async function showForm(door: Door, req: Context['req']): Promise<Response> {
  const { shared, base } = door
  const token = req.param('token') ?? ''
  const link = open(door, req.raw, token)
  shared.reads.take(limitKeyOf(link))
  const ask = await findAsk(shared, link)
  if (!(await mayShow(shared, req.raw, link, ask))) return reply(loginPage(base, token), 401)
  if (ask.status !== 'open') return reply(notePage(base, 'This ask is closed', outcomeOf(ask)), 200)
  return reply(askPage(base, ask, formOf(ask, link, token)), 200)
}

async function takeForm(door: Door, req: Context['req']): Promise<Response> {
  const { shared, base } = door
  checkFormOrigin(req.raw)
  const form = await readForm(req.raw)
  const token = form.get('token') ?? ''
  const link = open(door, req.raw, token)
  shared.writes.take(limitKeyOf(link))
  const ask = await findAsk(shared, link)
  if (!(await mayShow(shared, req.raw, link, ask))) return reply(loginPage(base, token), 401)
  const comment = (form.get('comment') ?? '').trim()
  const digest = form.get('digest') ?? undefined
  const choice = choicesOf(ask, link).find(({ value }) => value === form.get('choice'))
  if (choice === undefined)
    throw new ServerError('request-invalid', 'This link does not permit that answer. Nothing was stored.')
  const fields = fieldsOf(ask)
  const given = givenIn(form, fields)
  if (ask.status === 'open' && choice.confirm !== 'none' && form.get('confirmed') !== 'yes')
    return reply(confirmPage(base, ask, choice, { token, digest, comment, given, fields }), 200)
  try {
    await answer(shared, ask, link, answerOf(ask, choice, comment, given), digest)
  } catch (error) {
    if (!PawlError.is(error, 'answer-invalid')) throw error
    const draft = { given, comment, refusal: error.message }
    return reply(askPage(base, ask, { ...formOf(ask, link, token), ...draft }), 422)
  }
  return reply(notePage(base, 'Your answer is stored', `${choice.label}: ${ask.message}`), 200)
}

/** Reads a link. @throws ServerError 'not-found', which counts as a failed login, 'link-expired' */
function open({ shared, signer }: Door, request: Request, token: string): Link {
  const link = signer.read(token)
  if (link === null) {
    const address = addressOf(request)
    if (address !== null) shared.failures.take(address)
    throw new ServerError('not-found', 'This link is invalid: it is incomplete, was altered or was revoked.')
  }
  if (link.expiresAt <= shared.now()) throw expired(link)
  return link
}

/** A link that was forwarded, or that a scanner of mail opens, must not use up what the person may do elsewhere. */
function limitKeyOf({ ask, as }: Link): string {
  return `link ${ask} ${as}`
}

/** Returns the page of a refusal. @throws any other error */
function explain({ base }: Door, error: unknown): Response {
  const refusal = refusalOf(error)
  if (refusal === null) throw error
  const title = titles[refusal.code] ?? 'This link cannot be used'
  return reply(notePage(base, title, refusal.detail), refusal.status)
}

const titles: Readonly<Record<string, string>> = {
  'ask-changed': 'This ask has changed',
  'ask-closed': 'This ask is closed',
  'ask-not-found': 'This ask does not exist any more',
  'link-expired': 'This link has expired',
  'not-found': 'This link is invalid',
  'too-many': 'Too many requests',
}

function expired({ expiresAt }: Link): ServerError {
  const at = new Date(expiresAt).toUTCString()
  return new ServerError('link-expired', `This link expired on ${at}. Ask for a new one, or use the inbox.`)
}

/** Role `answer` with the names of the ask: the admin who made the link has vouched for the person. `may` can narrow it. */
function identityOf({ as }: Link, ask: Ask): Identity {
  return { actor: as, names: ask.to, role: 'answer' }
}

async function findAsk({ settings }: Shared, link: Link): Promise<Ask> {
  const client = settings.clientOf({ actor: link.as, names: [], role: 'answer' })
  const ask = await client.inbox.get(link.ask)
  if (ask === null) throw new PawlError('ask-not-found', { ask: link.ask })
  rightsOf(identityOf(link, ask), settings, client).checkSeen(ask)
  return ask
}

/** Whether the ask may be shown: to the holder of the link, or only to the named person after they have logged in. */
async function mayShow(shared: Shared, request: Request, link: Link, ask: Ask): Promise<boolean> {
  if (!needsLogin(ask, link)) return true
  try {
    return (await identify(shared, request)).actor === link.as
  } catch (error) {
    if (error instanceof ServerError && error.code === 'login-needed') return false
    throw error
  }
}

async function answer(
  { settings }: Shared,
  ask: Ask,
  link: Link,
  given: Answer,
  digest: string | undefined,
): Promise<void> {
  const identity = identityOf(link, ask)
  const client = settings.clientOf(identity)
  const rights = rightsOf(identity, settings, client)
  rights.checkAnswer(ask, link.as)
  const { as, madeBy } = link
  if (madeBy !== undefined && !needsLogin(ask, link)) rights.checkLinkMaker(ask, madeBy)
  const { inbox } = client
  try {
    await inbox.answer(ask.id, given, { as, via: 'link', madeBy, digest })
  } catch (error) {
    const settled = PawlError.is(error, 'ask-closed') ? await inbox.get(ask.id) : null
    // A browser that sends the form again gets the same page.
    if (settled === null || !isRepeated(settled, given, as)) throw error
  }
}

function formOf(ask: Ask, link: Link, token: string): AskForm {
  return { token, choices: choicesOf(ask, link), fields: fieldsOf(ask), showsHistory: link.history === true }
}

/** Edits go with the answers that take them: a rejection has none. */
function answerOf(ask: Ask, { value }: AskDecision, comment: string, given: Given): Answer {
  const said = comment === '' ? {} : { comment }
  const parts = partsOf(ask, fieldsOf(ask), given)
  if (ask.kind === 'input') return { ...said, ...parts } as Answer
  if (ask.kind !== 'approve') return { ...said, ...parts, choice: value }
  return value === 'approve' ? { ...said, ...parts, approved: true } : { ...said, approved: false }
}

function outcomeOf({ status, answer }: Ask): string {
  if (answer === undefined)
    return status === 'timed-out' ? 'Its deadline has passed.' : 'It is no longer asked.'
  return `It was answered by ${answer.by} on ${answer.at.toUTCString()}.`
}

function reply({ text }: Html, status: number): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', 'x-robots-tag': 'noindex, nofollow' },
  })
}
