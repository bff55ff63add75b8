import type { Ask, AskDecision } from '@pawl/core'
import { partsOfAsk, payloadText, type ShownFact, type ShownPart } from '@pawl/core/internal'
import { type Field, type Given, isChanged } from './fields.ts'
import { attribute, type Html, html } from './html.ts'

/** Path of the pages of links below the origin: '' or '/pawl'. */
type Base = string

/** The state of an ask page, besides the ask. */
export interface AskForm {
  readonly token: string
  readonly choices: readonly AskDecision[]
  readonly fields: readonly Field[]
  /** The texts of a refused form. */
  readonly given?: Given
  /** The reason of the refusal. */
  readonly refusal?: string
  readonly comment?: string
  readonly showsHistory: boolean
}

/** The ask with one button for each choice. Pressing one sends the form; the page has no script. */
export function askPage(base: Base, ask: Ask, form: AskForm): Html {
  const { token, choices, fields, given = {}, refusal, comment = '', showsHistory } = form
  return page(
    base,
    ask.message,
    html`${refusal === undefined ? null : html`<p class="risk" role="alert">${refusal}</p>`}
      ${describe(ask)}
      ${showsHistory ? describeHistory(ask) : null}
      <form method="post" action="${base}/a">
        <input type="hidden" name="token" value="${attribute(token)}">
        <input type="hidden" name="digest" value="${ask.digest}">
        ${fields.map((field) => control(field, given[field.name] ?? field.text))}
        <label for="comment">${labelOfComment(choices)}</label>
        <textarea id="comment" name="comment" maxlength="10000"${choices.every(isCommented) ? ' required' : ''}>${comment}</textarea>
        ${choices.map(
          ({ value, label, effect, style }) => html`<div class="choice">
            <button name="choice" value="${attribute(value)}" class="${style}">${label}</button>
            ${effect === undefined ? null : html`<p class="faint">${effect}</p>`}
          </div>`,
        )}
      </form>`,
  )
}

function isCommented({ comment }: AskDecision): boolean {
  return comment === 'required'
}

/** Says for which of the buttons a comment is required. */
function labelOfComment(choices: readonly AskDecision[]): string {
  const needing = choices.filter(isCommented).map(({ label }) => label)
  if (needing.length === 0) return 'Comment (optional)'
  return needing.length === choices.length
    ? 'Comment (required)'
    : `Comment (required for: ${needing.join(', ')})`
}

/** Asks once more before a choice that is dangerous. */
export function confirmPage(
  base: Base,
  ask: Ask,
  choice: AskDecision,
  sent: {
    readonly token: string
    readonly digest: string | undefined
    readonly comment: string
    readonly given: Given
    readonly fields: readonly Field[]
  },
): Html {
  return page(
    base,
    `${choice.label}: ${ask.message}`,
    html`${describe(ask)}
      ${describeGiven(sent.fields, sent.given)}
      ${choice.effect === undefined ? null : showPart({ of: 'effects', heading: 'What follows', facts: [{ text: choice.effect }] })}
      ${sent.comment === '' ? null : html`<p>Your comment: ${sent.comment}</p>`}
      <form method="post" action="${base}/a">
        <input type="hidden" name="token" value="${attribute(sent.token)}">
        ${sent.digest === undefined ? null : html`<input type="hidden" name="digest" value="${attribute(sent.digest)}">`}
        <input type="hidden" name="comment" value="${attribute(sent.comment)}">
        ${Object.entries(sent.given).map(([name, text]) => html`<input type="hidden" name="${attribute(name)}" value="${attribute(text)}">`)}
        <input type="hidden" name="choice" value="${attribute(choice.value)}">
        <button name="confirmed" value="yes" class="${choice.style === 'plain' ? 'primary' : choice.style}">Confirm: ${choice.label}</button>
      </form>
      <p><a href="${base}/a/${sent.token}">Back</a></p>`,
  )
}

/** Lists the changed fields with the shown and the new value. */
function describeGiven(fields: readonly Field[], given: Given): Html | null {
  const changed = fields.filter((field) => isChanged(field, given))
  if (changed.length === 0) return null
  const typed = changed.map((field) => {
    const before = field.text === '' ? null : html`<del>${field.text}</del> `
    return html`<div><dt>${field.label}</dt><dd dir="auto">${before}<ins>${given[field.name] ?? ''}</ins></dd></div>`
  })
  return html`<h2>You have entered</h2><dl class="values">${typed}</dl>`
}

/** Says that the person must log in, and nothing of the ask. */
export function loginPage(base: Base, token: string): Html {
  return page(
    base,
    'Log in to see this ask',
    html`<p>This link shows its ask only after you have logged in.</p>
      <p><a href="${base}/">Log in</a>, and then <a href="${base}/a/${token}">open the ask</a>.</p>`,
  )
}

/** A page with a heading and a sentence. */
export function notePage(base: Base, title: string, text: string): Html {
  return page(base, title, html`<p>${text}</p>`)
}

function page(base: Base, title: string, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex, nofollow">
  <meta name="referrer" content="no-referrer">
  <title>Pawl</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${base}/a/page.css">
</head>
<body><main>
<h1 dir="auto">${title}</h1>
${body}
</main></body>
</html>
`
}

/** The headings are the page's own. The texts of the run are framed below them, so that none can read as a part of the page. */
function describe(ask: Ask): Html {
  const below = partsOfAsk(ask).filter(({ of }) => of !== 'message' && of !== 'effects')
  return html`<p class="faint">${ask.procedure}</p>${below.map(showPart)}`
}

function showPart({ of, heading, facts }: ShownPart): Html {
  const title = of === 'risk' ? html`<h2 class="risk">${heading}</h2>` : html`<h2>${heading}</h2>`
  if (facts.length === 0) return title
  return html`${title}<dl class="${of === 'values' ? 'values' : 'texts'}">${facts.map(showFact)}</dl>`
}

function showFact({ title, text, isAddress }: ShownFact): Html {
  const shown = isAddress
    ? html`<a href="${attribute(text)}" rel="noreferrer noopener">${text}</a>`
    : html`${text}`
  if (title === undefined) return html`<div><dd dir="auto">${shown}</dd></div>`
  return html`<div><dt dir="auto">${title}</dt><dd dir="auto">${shown}</dd></div>`
}

function describeHistory({ history }: Ask): Html | null {
  if (history.length === 0) return null
  const facts = history.map(({ step, result }) => ({ title: step, text: payloadText(result) }))
  return showPart({ of: 'details', heading: 'Before', facts })
}

/** One field. It says in words what it takes, since nothing checks it before it is sent. */
function control({ name, label, type, options, isRequired }: Field, text: string): Html {
  const id = attribute(name)
  const hint = [...(isRequired ? [] : ['optional']), ...(type === 'json' ? ['as JSON'] : [])].join(', ')
  const title = html`<label for="${id}">${label}${hint === '' ? '' : ` (${hint})`}</label>`
  if (type === 'choice')
    return html`${title}<select id="${id}" name="${id}">
        ${(isRequired && text !== '' ? options : ['', ...options]).map((one) =>
          one === text
            ? html`<option value="${attribute(one)}" selected>${one}</option>`
            : html`<option value="${attribute(one)}">${one}</option>`,
        )}
      </select>`
  if (type === 'number')
    return html`${title}<input id="${id}" name="${id}" inputmode="decimal" autocomplete="off" value="${attribute(text)}">`
  return html`${title}<textarea id="${id}" name="${id}" dir="auto">
${attribute(text)}</textarea>`
}
