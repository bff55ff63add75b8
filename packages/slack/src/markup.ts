import { clipText, toOneLine } from '@pawl/core/internal'

// The two places of a message in which Slack reads markup.

/** Limit of Slack, less what escaping adds. */
const maxNotification = 2_900

/** A text of notifications and of old clients. */
export function notificationOf(text: string): string {
  return escapeText(clipText(toOneLine(text), maxNotification))
}

/** A link to a page of the inbox. */
export function inboxLink(page: string): object {
  return {
    type: 'context',
    elements: [{ type: 'mrkdwn', text: `<${page}|Open in the inbox>`, verbatim: true }],
  }
}

/** Slack reads `<…>` as links and mentions. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
