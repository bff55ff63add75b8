import { createHash } from 'node:crypto'
import { type Actor, type Ask, type Audience, type Notice, PawlError, type StepCall } from '@pawl/core'
import type { Channel, Recipient, Submit } from '../channel.ts'
import { noticeSubjectOf, noticeText } from './notice-text.ts'
import { closedText, openText, subjectOf } from './text.ts'

/** A mail to send. It has the form that nodemailer's `sendMail` takes, without `from`. */
export interface Mail {
  readonly to: string
  readonly subject: string
  /** Plain text; there is no HTML. It begins with the link. Every line that comes from the run begins with `|`. */
  readonly text: string
  /** The same in every attempt, so that a repeated mail can be recognized. */
  readonly messageId: string
  /** The message that the mail belongs to; undefined for the first one. */
  readonly inReplyTo?: string
  readonly references?: string
  readonly headers: Readonly<Record<string, string>>
}

/** A person and their address. */
export interface Mailbox {
  readonly person: Extract<Actor, `user:${string}`>
  readonly address: string
}

/** A mail that was received. */
export interface IncomingMail {
  /** The sender, as the mail claims. It proves nothing. */
  readonly from: string
  readonly text: string
  /** Its header In-Reply-To, or References. */
  readonly inReplyTo: string | undefined
}

/** The options of `mail`. */
export interface MailOptions {
  /** Name of the channel. Default: 'mail'. */
  readonly name?: string
  /** Sends a mail. It is retried if it rejects. @example (mail) => transport.sendMail({ from: 'pawl@example.org', ...mail }) */
  readonly send: (mail: Mail, call: StepCall) => Promise<unknown>
  /** Returns the people behind a name, and their addresses. An empty array if there are none. */
  readonly people: (name: Audience) => readonly Mailbox[] | Promise<readonly Mailbox[]>
  /** The domain of message ids. @example 'example.org' */
  readonly domain: string
  /**
   * Whether it takes an ask that names no channels, or a notice; `kind` tells them apart. Default: it takes what is addressed to a name.
   * @example ({ kind, severity }) => kind !== 'notice' || severity !== 'info'
   */
  readonly wants?: (about: Ask | Notice) => boolean
}

/** A channel of mails. Created by `mail`. */
export interface MailChannel extends Channel {
  /**
   * Takes a mail that answers one of its own. Its text becomes a comment on the ask, whatever it says: only the link answers.
   * Returns whether the mail belongs to an ask.
   * @throws PawlError as `Submit`; 'run-ended' if the ask is closed
   */
  receive(mail: IncomingMail): Promise<boolean>
}

const maxComment = 10_000

/**
 * A channel that mails each person an ask with a link of their own, and mails the others once it is closed. `channels` needs the option `links`.
 * Notices are mailed to the people they name. A mail about a critical ask says nothing of it: the link shows it after a login.
 * @example
 * mail({
 *   send: (mail) => transport.sendMail({ from: 'pawl@example.org', ...mail }),
 *   people: (name) => directory.mailboxesOf(name),
 *   domain: 'example.org',
 * })
 */
export function mail({ name = 'mail', send, people, domain, wants }: MailOptions): MailChannel {
  let submit: Submit | null = null
  const takes = (about: Ask | Notice): boolean => about.to.length > 0 && (wants?.(about) ?? true)
  const mailboxesOf = async ({ to }: Ask | Notice): Promise<readonly Recipient[]> => {
    const found = await Promise.all(to.map(async (one) => people(one)))
    const byPerson = new Map(found.flat().map((one) => [one.person, one.address]))
    return [...byPerson].map(([person, address]) => ({ name: person, address }))
  }
  return {
    name,
    can: { form: 'full', identity: 'link' },
    wants: takes,
    recipients: mailboxesOf,
    async deliver(ask, { recipient, link, page, ...call }) {
      if (recipient?.address === undefined) return undefined
      const messageId = messageIdOf(ask.id, call, domain)
      const text = openText(ask, link ?? page)
      await send({ to: recipient.address, subject: subjectOf(ask), text, messageId, headers }, call)
      return { ref: messageId }
    },
    async update(ref, ask, { recipient, ...call }) {
      // The person who answered knows it.
      if (recipient?.address === undefined || ask.answer?.by === recipient.name) return
      const messageId = messageIdOf(ask.id, call, domain)
      const thread = { messageId, inReplyTo: ref, references: ref, headers }
      const subject = `Re: ${subjectOf(ask)}`
      await send({ to: recipient.address, subject, text: closedText(ask), ...thread }, call)
    },
    notices: {
      wants: takes,
      recipients: mailboxesOf,
      async deliver(notice, { recipient, page, ...call }) {
        if (recipient?.address === undefined) return
        // Not the id of an ask: a reply to it belongs to none.
        const messageId = messageIdOf(`notice-${notice.id}`, call, domain)
        const [subject, text] = [noticeSubjectOf(notice), noticeText(notice, page)]
        await send({ to: recipient.address, subject, text, messageId, headers }, call)
      },
    },
    start(given) {
      submit = given
      return () => {
        submit = null
      }
    },
    async receive({ from, text, inReplyTo = '' }) {
      const [ref, ask, of] = messageId.exec(inReplyTo) ?? []
      if (ref === undefined || ask === undefined || of !== domain) return false
      if (submit === null) throw new Error(`The engine of channel ${name} is not running.`)
      const sender = { as: `user:${from.slice(0, 190)}`, ref } as const
      try {
        await submit(ask, { comment: text.slice(0, maxComment) }, sender)
      } catch (error) {
        // The id of an ask is no secret; that of a mail is known to its recipients alone.
        if (PawlError.is(error, 'answer-forbidden')) return false
        throw error
      }
      return true
    },
  }
}

/** The id of a mail about an ask: the ask, what only its recipients know, and the domain. */
const messageId = /<pawl\.([0-9a-f]{16}(?:-\d+)?)\.[0-9a-f]{16}@([^<>\s]+)>/

/** Asks other programs not to answer it. */
const headers = { 'Auto-Submitted': 'auto-generated' } as const

function messageIdOf(id: string, { idempotencyKey }: StepCall, domain: string): string {
  const hash = createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 16)
  return `<pawl.${id}.${hash}@${domain}>`
}
