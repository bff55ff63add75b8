import type { Notice } from '@pawl/core'
import { severityTitle } from '@pawl/core/internal'
import { describeNotice } from './describe.ts'
import { inboxLink, notificationOf } from './markup.ts'
import { bold, richText, section } from './rich-text.ts'

/** The text of notifications and of old clients, with the level first. */
export function fallbackOfNotice({ severity, message }: Notice): string {
  return notificationOf(`${severityTitle(severity)}: ${message}`)
}

/** The message of a notice. It has no buttons: there is nothing to answer. */
export function noticeBlocks(notice: Notice, page: string | undefined): readonly object[] {
  const { elements, isWhole } = describeNotice(notice)
  return [
    richText(elements),
    ...(isWhole
      ? []
      : [richText([section([bold('Slack cannot show all of this notice. Read it in the inbox.')])])]),
    ...(page === undefined ? [] : [inboxLink(page)]),
  ]
}
