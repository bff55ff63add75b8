import type { Answer, Ask } from '@pawl/core'
import type { Ending } from '../../../shared/src/child.ts'
import { count, euro, seconds, tell } from '../../../shared/src/tell.ts'
import { settleInTerminal } from '../../../shared/src/terminal.ts'
import { bookFile } from '../book.ts'
import { readOrderBook } from '../orders.ts'
import { payments } from '../payments.ts'
import { startProgram } from '../programs.ts'
import type { Consent } from './evidence.ts'
import type { Stage } from './stage.ts'

/** The person went away without an answer. */
export class LeftOpen extends Error {}

// ── killed right after the result of the first step was committed

export async function actOne(stage: Stage): Promise<{ readonly ending: Ending; readonly killedAt: number }> {
  const worker = await stage.startWorker()
  tell.act(1, `The first worker, process ${worker.pid}`)
  await stage.until('its first step is recorded', async () => (await stage.recorded())[0])
  const ending = await worker.kill()
  const killedAt = Date.now()

  const { orders, bad } = await readOrderBook(bookFile)
  const ran = await stage.ranBy(worker)
  tell.line(
    'ran',
    `${ran.join(', ')}: ${count(orders.length, 'order')}, and ${count(bad.length, 'bad line')}`,
  )
  for (const { line, why } of bad) tell.line('', `line ${String(line).padStart(2)}  ${why}`)
  tell.died('right after the result of this first step was stored')
  return { ending, killedAt }
}

// ── killed while it waits for the approval

export async function actTwo(
  stage: Stage,
  killedAt: number,
): Promise<{ readonly ending: Ending; readonly ask: Ask }> {
  const recorded = await stage.recorded()
  const worker = await stage.startWorker()
  const alone = Date.now() - killedAt
  tell.act(2, `The second worker, process ${worker.pid}`)
  const inbox = () => stage.client.inbox.list({ run: stage.run.id })
  const ask = await stage.until('it asks', async () => (await inbox()).items[0])
  const ending = await worker.kill()

  const ran = await stage.ranBy(worker)
  const replayed = recorded.map(({ name }) => name).filter((name) => !ran.includes(name))
  tell.line('replayed', `${replayed.join(', ')}: the result came from the log`)
  const sleep = (await stage.recorded()).find(({ type }) => type === 'timer')
  tell.line(
    'slept',
    `${seconds(sleep?.duration_ms ?? 0)}, counted from act 1: no worker was alive for ${seconds(alone)}`,
  )
  const paid = (await payments.list()).map(({ amount }) => amount)
  tell.line('ran', `${count(ran.length, 'small refund')}, ${euro(paid)} in all`)
  tell.line('asks', ask.message)
  tell.died('while it waits for the answer')
  return { ending, ask }
}

// ── answered, and finished

/** @param scripted another process answers, not the terminal */
export async function actThree(stage: Stage, ask: Ask, scripted: boolean): Promise<Consent | undefined> {
  const recorded = await stage.recorded()
  const worker = await stage.startWorker()
  tell.act(3, `The third worker, process ${worker.pid}`)
  tell.line('waits', 'for the answer to the question of act 2; it does not ask again')
  const consent = scripted ? await answerFromElsewhere(ask) : await answerHere(stage, ask)
  await stage.until('the run ends', async () => ((await stage.run.status()).endedAt ? true : undefined))
  await worker.kill('SIGTERM')

  const ran = await stage.ranBy(worker)
  tell.line('replayed', `${count(recorded.length, 'operation')}: the results came from the log`)
  tell.line('ran', ran.length === 0 ? 'nothing' : ran.join(', '))
  const { status, failure } = await stage.run.status()
  tell.line('ended', failure === undefined ? status : `${status}: ${failure.message}`)
  return consent
}

/** Another process on the same database, as any other program would. */
async function answerFromElsewhere(ask: Ask): Promise<Consent> {
  const consent = { order: (ask.params as Asked).orderId, amount: 400 }
  const answering = startProgram('answer', '--run', ask.run, '--amount', String(consent.amount))
  const { code } = await answering.ended
  const said = answering.output().split('\n').at(-1)
  if (code !== 0) throw new Error(`the answer was not taken: ${said}`)
  tell.line('answered', `${said}, through process ${answering.pid}`)
  return consent
}

async function answerHere({ client }: Stage, ask: Ask): Promise<Consent | undefined> {
  tell.text('')
  const answer = await settleInTerminal(client, ask, 'user:you')
  if (answer === undefined) throw new LeftOpen()
  tell.text('')
  const consent = consentOf(answer, ask.params as Asked)
  tell.line('answered', `you ${consent === undefined ? 'rejected it' : `approved ${consent.amount} EUR`}`)
  return consent
}

interface Asked {
  readonly orderId: string
  readonly amount: number
}

function consentOf(answer: Answer, { orderId: order, amount }: Asked): Consent | undefined {
  if (!('approved' in answer) || !answer.approved) return undefined
  return { order, amount: (answer.params as Asked | undefined)?.amount ?? amount }
}
