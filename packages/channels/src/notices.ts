import { type Ctx, type Notice, type Procedure, procedure, type Retry } from '@pawl/core'
import type { NoticeDelivery, Recipient } from './channel.ts'
import { checkRecipients } from './checks.ts'
import { noticeOfDelivery, noticeProcedureOf, stepNameOf } from './names.ts'
import { timeout } from './notify.ts'

export type NoticeProcedure = Procedure<undefined, 'told'>

/** What the delivery of a notice needs of its engine. */
export interface NoticeParts {
  /** Returns a notice; null if it no longer exists. */
  readNotice(id: string): Promise<Notice | null>
  /** Address of the notices in the inbox; undefined without `links`. */
  readonly noticesPage: string | undefined
  readonly retry: Retry
}

/**
 * Creates the procedure whose runs deliver notices to a channel: to each recipient, and nothing follows. A notice that was deleted
 * meanwhile is not delivered.
 */
export function noticeProcedure(
  channel: string,
  notices: NoticeDelivery,
  parts: NoticeParts,
): NoticeProcedure {
  const attempts = { retry: parts.retry, timeout } as const
  return procedure({ name: noticeProcedureOf(channel), bugs: 'fail' }, async (ctx) => {
    const id = noticeOfDelivery(ctx.runId, channel)
    const recipients =
      notices.recipients === undefined ? [undefined] : await ctx.step('find recipients', find, attempts)
    const outcomes = await ctx.map(recipients, deliver, { onError: 'collect' })
    const failed = outcomes.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return 'told' as const

    async function find(): Promise<readonly Recipient[]> {
      const notice = await parts.readNotice(id)
      return notice === null ? [] : checkRecipients(channel, await notices.recipients?.(notice))
    }

    function deliver(recipient: Recipient | undefined, ctx: Ctx): Promise<void> {
      return ctx.step(
        stepNameOf('deliver', recipient),
        async (call) => {
          const notice = await parts.readNotice(id)
          if (notice !== null) await notices.deliver(notice, { ...call, recipient, page: parts.noticesPage })
        },
        attempts,
      )
    }
  })
}
