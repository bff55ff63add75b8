/** The procedure of a channel has its own name, so that only engines with the channel claim its runs. */
const prefix = 'pawl.notify.'

export function procedureOf(channel: string): string {
  return `${prefix}${channel}`
}

/** The channel whose procedure has this name; undefined for any other procedure. */
export function channelOf(procedure: string): string | undefined {
  return procedure.startsWith(prefix) ? procedure.slice(prefix.length) : undefined
}

/** The id of the run that delivers an ask to a channel. An ask has one for each channel, so a repeated start is harmless. */
export function deliveryId(ask: string, channel: string): string {
  return `notify:${ask}:${channel}`
}

/** The ask that a run delivers. */
export function askOfDelivery(run: string, channel: string): string {
  return run.slice('notify:'.length, -`:${channel}`.length)
}

/** The tag of all deliveries of an ask. */
export function askTag(ask: string): string {
  return `pawl.ask:${ask}`
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
