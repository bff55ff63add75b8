import { createHmac, timingSafeEqual } from 'node:crypto'

const maxAgeS = 5 * 60
const timeHeader = 'x-slack-request-timestamp'

/** Whether the headers say that Slack has signed the request within the last five minutes. It can be told before the body is read. */
export function isRecent(headers: Headers, nowMs: number): boolean {
  const sentAt = headers.get(timeHeader) ?? ''
  return /^\d{1,12}$/.test(sentAt) && Math.abs(nowMs / 1000 - Number(sentAt)) <= maxAgeS
}

/** Whether Slack has signed this body at the time that the headers say. */
export function isFromSlack(headers: Headers, body: string, secret: string): boolean {
  const sentAt = headers.get(timeHeader) ?? ''
  const given = Buffer.from(headers.get('x-slack-signature') ?? '')
  const mac = createHmac('sha256', secret).update(`v0:${sentAt}:${body}`).digest('hex')
  const expected = Buffer.from(`v0=${mac}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
