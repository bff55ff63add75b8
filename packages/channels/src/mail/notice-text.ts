import type { Notice } from '@pawl/core'
import { factsOfNotice, severityTitle, toOneLine } from '@pawl/core/internal'
import { clipSubject, restOfNotice, showFact } from './lines.ts'

/** A subject of one line, with the level first. */
export function noticeSubjectOf({ severity, message }: Notice): string {
  return clipSubject(`${severityTitle(severity)}: ${toOneLine(message)}`)
}

/** The text of a mail about a notice, and where the inbox has it. */
export function noticeText(notice: Notice, page: string | undefined): string {
  const { severity, message, run, links } = notice
  const facts = [
    { title: severityTitle(severity), text: message },
    ...factsOfNotice(notice),
    { title: 'Run', text: run },
  ]
  return [
    ...facts.map((one) => showFact(one, '', restOfNotice)),
    ...links.map(({ label, url }) => `${toOneLine(label)}: ${toOneLine(url)}`),
    page === undefined ? 'The inbox has it among the notices.' : `Notices in the inbox: ${page}`,
    'It needs no answer. A reply to this mail is not read.',
    '',
  ].join('\n\n')
}
