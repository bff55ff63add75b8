import { createHmac, timingSafeEqual } from 'node:crypto'

const maxAgeS = 5 * 60

/** Whether Slack has signed this body, within the last five minutes. */
export function isFromSlack(headers: Headers, body: string, secret: string, nowMs: number): boolean {
  const sentAt = headers.get('x-slack-request-timestamp') ?? ''
  const given = Buffer.from(headers.get('x-slack-signature') ?? '')
  if (!/^\d{1,12}$/.test(sentAt) || Math.abs(nowMs / 1000 - Number(sentAt)) > maxAgeS) return false
  const mac = createHmac('sha256', secret).update(`v0:${sentAt}:${body}`).digest('hex')
  const expected = Buffer.from(`v0=${mac}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
