import type { Ask } from '@pawl/core'
import { writePayload } from '../json/payload.ts'
import type { Field, Given } from './fields.ts'
import { attribute, type Html, html } from './html.ts'

/** Where the pages of links lie below the origin: '' or '/pawl'. */
type Base = string

/** One of the answers that a link permits. */
export interface LinkChoice {
  readonly value: string
  readonly label: string
  readonly effect?: string | undefined
  readonly style?: 'primary' | 'danger' | undefined
}

/** Whole texts are in the inbox; a page behind a link shows this many characters of each. */
const maxShown = 20_000

/** What an ask page shows besides the ask. */
export interface AskForm {
  readonly token: string
  readonly choices: readonly LinkChoice[]
  readonly fields: readonly Field[]
  /** What was typed before the form was refused. */
  readonly given?: Given
  /** Why it was refused. */
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
        ${fields.map((field) => control(field, given[field.name] ?? field.text))}
        <label for="comment">Comment (optional)</label>
        <textarea id="comment" name="comment" maxlength="10000">${comment}</textarea>
        ${choices.map(
          ({ value, label, effect, style }) => html`<div class="choice">
            <button name="choice" value="${attribute(value)}" class="${style ?? ''}">${label}</button>
            ${effect === undefined ? null : html`<p class="faint">${effect}</p>`}
          </div>`,
        )}
      </form>`,
  )
}

/** Asks once more before a choice that is dangerous. */
export function confirmPage(
  base: Base,
  ask: Ask,
  choice: LinkChoice,
  sent: { readonly token: string; readonly comment: string; readonly given: Given },
): Html {
  return page(
    base,
    `${choice.label}: ${ask.message}`,
    html`${describeRisk(ask)}
      ${choice.effect === undefined ? null : html`<p>${choice.effect}</p>`}
      ${sent.comment === '' ? null : html`<p>Your comment: ${sent.comment}</p>`}
      <form method="post" action="${base}/a">
        <input type="hidden" name="token" value="${attribute(sent.token)}">
        <input type="hidden" name="comment" value="${attribute(sent.comment)}">
        ${Object.entries(sent.given).map(([name, text]) => html`<input type="hidden" name="${attribute(name)}" value="${attribute(text)}">`)}
        <input type="hidden" name="choice" value="${attribute(choice.value)}">
        <button name="confirmed" value="yes" class="${choice.style ?? 'primary'}">Confirm: ${choice.label}</button>
      </form>
      <p><a href="${base}/a/${sent.token}">Back</a></p>`,
  )
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

function describe(ask: Ask): Html {
  const { params, artifact, details, alternatives, links } = ask
  return html`${describeRisk(ask)}
    <p class="faint">${ask.procedure}${ask.dueAt === undefined ? null : `, due ${ask.dueAt.toUTCString()}`}${
      ask.dueAt === undefined || ask.onTimeout === undefined ? null : `, then ${ask.onTimeout}`
    }</p>
    ${params === undefined ? null : describeParams(params)}
    ${artifact === undefined ? null : html`<pre dir="auto">${show(artifact)}</pre>`}
    ${details.map(({ title, body }) => html`<h2 dir="auto">${title}</h2><pre dir="auto">${show(body)}</pre>`)}
    ${alternatives.map(({ label, description }) => html`<p>Instead: ${label}${description === undefined ? null : `: ${description}`}</p>`)}
    ${links.map(({ label, url }) => html`<p><a href="${attribute(url)}" rel="noreferrer noopener">${label}</a> <span class="faint">${url}</span></p>`)}`
}

function describeHistory({ history }: Ask): Html {
  return html`${history.map(({ step, result }) => html`<h2 dir="auto">Before: ${step}</h2><pre dir="auto">${show(result)}</pre>`)}`
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

function describeRisk({ risk }: Ask): Html | null {
  if (risk === undefined) return null
  const { level, reasons = [], reversible, impact } = risk
  const parts = [
    ...reasons,
    ...(reversible === false ? ['cannot be undone'] : []),
    ...(impact?.amount === undefined ? [] : [`${impact.amount} ${impact.currency ?? ''}`.trim()]),
    ...(impact?.downtime === undefined ? [] : [`downtime ${impact.downtime}`]),
    ...(impact?.affects === undefined ? [] : [`affects ${impact.affects}`]),
  ]
  const name = `${level.slice(0, 1).toUpperCase()}${level.slice(1)} risk`
  return html`<p><span class="risk">${name}</span>${parts.length === 0 ? null : `: ${parts.join(', ')}`}</p>`
}

function describeParams(params: unknown): Html {
  const entries = Object.entries(params as object)
  return html`<dl>${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${show(value)}</dd></div>`)}</dl>`
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(writePayload(value), null, 2)
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}\n… The inbox shows the rest.`
}
