import type { Recipient } from './channel.ts'

/** Not that of deliveries of asks: an engine of an earlier version that has the channel claims no run that it does not know. */
const noticePrefix = 'pawl.notice.'

/** The id of the run that delivers an ask to a channel. An ask has one for each channel, so a repeated start is harmless. */
export function deliveryId(ask: string, channel: string): string {
  return `notify:${ask}:${channel}`
}

/** The ask that a run delivers. */
export function askOfDelivery(run: string, channel: string): string {
  return run.slice('notify:'.length, -`:${channel}`.length)
}

export function noticeProcedureOf(channel: string): string {
  return `${noticePrefix}${channel}`
}

/** The id of the run that delivers a notice to a channel. No ask has such an id. */
export function noticeDeliveryId(notice: string, channel: string): string {
  return deliveryId(`notice-${notice}`, channel)
}

/** The notice that a run delivers. */
export function noticeOfDelivery(run: string, channel: string): string {
  return askOfDelivery(run, channel).slice('notice-'.length)
}

/** The tag of all deliveries of a notice. */
export function noticeTag(notice: string): string {
  return `pawl.notice:${notice}`
}

const placePrefix = 'pawl.at:'

/** The tag that says after which number in the feed the next delivery is to be looked for. */
export function placeTag(n: number): string {
  return `${placePrefix}${n}`
}

export function readPlace(tags: readonly string[]): number | undefined {
  const tag = tags.find((one) => one.startsWith(placePrefix))
  return tag === undefined ? undefined : Number(tag.slice(placePrefix.length))
}

/** The name of a step for a recipient. A name in the log has at most 200 characters. */
export function stepNameOf(what: string, recipient: Recipient | undefined): string {
  return recipient === undefined ? what : `${what} to ${recipient.name}`.slice(0, 200)
}
