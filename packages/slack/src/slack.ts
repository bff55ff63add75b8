import type { Channel } from '@pawl/channels'
import type { Ask, Notice } from '@pawl/core'
import { SlackApi } from './api.ts'
import { closedBlocks, fallbackOf, openBlocks } from './blocks.ts'
import { createHandler, type FindPerson } from './handler.ts'
import { fallbackOfNotice, noticeBlocks } from './notice.ts'

/** The options of `slack`. */
export interface SlackOptions {
  /** Name of the channel. Default: 'slack'. */
  readonly name?: string
  /** Bot token with the scope `chat:write`. */
  readonly token: string
  /** Signing secret of the Slack app, with which its requests are verified. */
  readonly signingSecret: string
  /**
   * Returns the id of the Slack channel that an ask or a notice is posted to; undefined posts it nowhere. `kind` tells them apart.
   * @example ({ to }) => (to.includes('group:support') ? 'C0123456789' : undefined)
   */
  readonly channelOf: (about: Ask | Notice) => string | undefined
  /** Returns the person behind a Slack user, with their groups; null for one who may not answer. */
  readonly person: FindPerson
  /** Address of Slack's Web API. Default: 'https://slack.com/api'. */
  readonly api?: string
}

/** A channel of Slack messages. Created by `slack`. */
export interface SlackChannel extends Channel {
  /** Handles a request of Slack to the interactivity URL of the app. Bound, so that it can be passed on. */
  readonly handle: (request: Request) => Promise<Response>
}

/**
 * A channel that posts asks to Slack, with a button for each decision, and replaces the buttons once the ask is closed. Slack verifies
 * who pressed a button, and `person` says who that is. Messages decide nothing. Asks that need data are not posted. Notices are posted
 * without buttons.
 * @example
 * const chat = slack({ token, signingSecret, channelOf: () => 'C0123456789', person: (user) => directory.bySlackId(user) })
 * const engine = await createEngine({ store, procedures: [refund], plugins: [channels([chat])] })
 * app.post('/slack', ({ req }) => chat.handle(req.raw))
 */
export function slack(options: SlackOptions): SlackChannel {
  const {
    name = 'slack',
    token,
    signingSecret,
    channelOf,
    person,
    api: address = 'https://slack.com/api',
  } = options
  const api = new SlackApi(address, token)
  const { handle, start } = createHandler({ signingSecret, person, api })
  return {
    name,
    handle,
    start,
    can: { kinds: ['approve', 'select', 'review', 'escalate', 'decide'], form: 'none', identity: 'verified' },
    wants: (ask) => channelOf(ask) !== undefined,
    async deliver(ask, { signal, idempotencyKey, page }) {
      const channel = channelOf(ask)
      if (channel === undefined) return undefined
      const metadata = { event_type: 'pawl_ask', event_payload: { ask: ask.id, key: idempotencyKey } }
      const message = { channel, text: fallbackOf(ask), blocks: openBlocks(ask, page), metadata }
      const { ts } = await api.call('chat.postMessage', message, signal)
      return { ref: `${channel}:${ts}` }
    },
    async update(ref, ask, { signal }) {
      const [channel, ts] = ref.split(':')
      await api.call('chat.update', { channel, ts, text: fallbackOf(ask), blocks: closedBlocks(ask) }, signal)
    },
    notices: {
      wants: (notice) => channelOf(notice) !== undefined,
      async deliver(notice, { signal, idempotencyKey, page }) {
        const channel = channelOf(notice)
        if (channel === undefined) return
        const metadata = {
          event_type: 'pawl_notice',
          event_payload: { notice: notice.id, key: idempotencyKey },
        }
        const [text, blocks] = [fallbackOfNotice(notice), noticeBlocks(notice, page)]
        await api.call('chat.postMessage', { channel, text, blocks, metadata }, signal)
      },
    },
  }
}
