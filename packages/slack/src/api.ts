/** A reply of Slack. */
interface Reply {
  readonly ok: boolean
  readonly error?: string
  readonly ts?: string
}

/** Calls Slack's Web API. */
export class SlackApi {
  readonly #address: string
  readonly #token: string

  constructor(address: string, token: string) {
    this.#address = address.replace(/\/$/, '')
    this.#token = token
  }

  /** @throws Error if Slack does not do it */
  async call(method: string, body: object, signal: AbortSignal): Promise<{ readonly ts: string }> {
    const response = await fetch(`${this.#address}/${method}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
      ...{ signal, redirect: 'error' as const },
    })
    if (!response.ok) throw new Error(`Slack replied to ${method} with status ${response.status}`)
    const { ok, error, ts } = (await response.json()) as Reply
    if (!ok || ts === undefined) throw new Error(`Slack refused ${method}: ${error ?? 'without a reason'}`)
    return { ts }
  }

  /** Tells one person something, by the address that came with their click. It is a courtesy: a failure is not reported. */
  async tell(address: string, text: string): Promise<void> {
    const { hostname } = new URL(address)
    if (hostname !== 'hooks.slack.com' && hostname !== new URL(this.#address).hostname) return
    await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, text }),
      redirect: 'error',
    }).catch(() => {})
  }
}
