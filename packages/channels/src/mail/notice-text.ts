import type { Notice } from '@pawl/core'
import { partsOfNotice, severityTitle } from '@pawl/core/internal'
import { explainMark, restOfNotice, showPart, subjectLine, toText } from './lines.ts'

/** A subject of one line, with the level first. */
export function noticeSubjectOf({ severity, message }: Notice): string {
  return subjectLine(severityTitle(severity), message)
}

/** The text of a mail about a notice. It begins with where the inbox has it: no text of the notice stands before that. */
export function noticeText(notice: Notice, page: string | undefined): string {
  const where = page === undefined ? 'The inbox has it among the notices.' : `Notices in the inbox: ${page}`
  const parts = partsOfNotice(notice).map((one) => showPart(one, restOfNotice))
  return toText([
    `${where}\n${explainMark}`,
    ...parts,
    'It needs no answer. A reply to this mail is not read.',
  ])
}
