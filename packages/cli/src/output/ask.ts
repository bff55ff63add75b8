import { partsOfAsk, type ShownPart } from '@pawl/core/internal'
import type { AskJson } from '../door/door.ts'
import type { Out } from './out.ts'
import { type Print, showPart } from './part.ts'

type Part = Pick<ShownPart, 'heading' | 'facts'>

/** Shows what a person needs to know to answer an ask: on stderr while it is answered, on stdout as what a command was asked for. */
export function showAsk(out: Out, ask: AskJson, print: Print = out.note): void {
  print('')
  showMatter(out, ask, print)
  print('')
}

/** Shows what is decided on. */
export function showMatter(out: Out, ask: AskJson, print: Print): void {
  const { dueAt, ...rest } = ask
  const [question, ...parts] = partsOfAsk({
    ...rest,
    dueAt: dueAt === undefined ? undefined : new Date(dueAt),
  })
  for (const part of [...(question === undefined ? [] : [question]), ...partsOfOrigin(ask), ...parts])
    showPart(out, part, print)
  const history = ask.history.map(({ step, result }) => ({ title: step, text: showInline(result) }))
  if (history.length > 0) showPart(out, { heading: 'History', facts: history }, print)
}

/** The run that asks, the people who may answer, and the person who has answered, with whose help. */
function partsOfOrigin({ run, procedure, to, answer }: AskJson): readonly Part[] {
  return [
    { heading: 'Run', facts: [{ text: `${run} (${procedure})` }] },
    ...(to.length === 0 ? [] : [{ heading: 'To', facts: to.map((text) => ({ text })) }]),
    ...(answer === undefined ? [] : [partOfAnswer(answer)]),
  ]
}

function partOfAnswer({ by, at, via, madeBy, actedBy }: NonNullable<AskJson['answer']>): Part {
  const facts = Object.entries({ by, 'given by': actedBy, via, 'link made by': madeBy })
  return {
    heading: `Answered ${at}`,
    facts: facts.flatMap(([title, text]) => (text === undefined ? [] : [{ title, text }])),
  }
}

/** A value in one line, cut. */
export function showInline(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`
}
