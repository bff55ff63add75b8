import type { Ask, Choice } from '@pawl/server/internal'
import { en } from '../en.ts'
import { runHref } from '../router.ts'
import { Formatted } from '../text/formatted.tsx'
import { OutsideLink } from '../text/link.tsx'
import { plainOf, summaryOf } from '../text/plain.ts'
import { marked, Text } from '../text/text.tsx'
import { LongText } from '../text/value.tsx'
import { RiskBadge, SeverityBadge } from '../ui/badges.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, formatClock, formatInstant, formatSpan, sinceNow } from '../ui/time.ts'

/** Kind, risk and deadline, above the message. */
export function AskHead({ ask }: { readonly ask: Ask }) {
  return (
    <p class="ask-head">
      <span class="kind">
        <Icon name={ask.kind} />
        {en.kinds[ask.kind]}
      </span>
      {ask.risk && <RiskBadge level={ask.risk.level} long />}
      {ask.severity && <SeverityBadge severity={ask.severity} />}
      {ask.status === 'open' && ask.dueAt !== undefined && (
        <span class={ask.overdue ? 'due overdue' : 'due'} title={formatInstant(ask.dueAt)}>
          {ask.overdue
            ? en.overdueBy(formatAge(sinceNow(ask.dueAt)))
            : en.dueLong(formatAge(-sinceNow(ask.dueAt)))}
          {` · ${formatClock(ask.dueAt)}`}
          {ask.onTimeout && <span class="faint">, {en.otherwise(ask.onTimeout)}</span>}
        </span>
      )}
    </p>
  )
}

/** Shows the run of the ask, and the people it is addressed to. */
export function Meta({ ask }: { readonly ask: Ask }) {
  return (
    <p class="meta">
      <a href={runHref(ask.run)}>
        <Text>{ask.run}</Text>
      </a>
      <span>
        <Text>{ask.procedure}</Text>
      </span>
      {ask.startedBy && (
        <span>
          {en.started} <Text>{ask.startedBy}</Text>
        </span>
      )}
      <span title={formatInstant(ask.askedAt)}>{en.askedBy(formatAge(sinceNow(ask.askedAt)))}</span>
      <span class="printed">{formatInstant(ask.askedAt)}</span>
      <span class="printed">
        <Text>{ask.id}</Text>
      </span>
      <span>
        {en.to} {ask.to.length === 0 ? en.anyone : <Text>{ask.to.join(', ')}</Text>}
      </span>
    </p>
  )
}

export function RiskBox({ ask: { risk } }: { readonly ask: Ask }) {
  if (!risk) return null
  const { impact, reasons = [], reversible } = risk
  const facts = [
    reversible === false && en.irreversible,
    reversible === true && en.reversible,
    impact?.amount !== undefined && amountOf(impact.amount, impact.currency),
    impact?.downtime && en.downtime(impact.downtime),
    impact?.affects,
    ...reasons,
  ].filter((fact): fact is string => typeof fact === 'string' && fact !== '')
  if (facts.length === 0) return null
  return (
    <ul class={`risk-box risk-${risk.level}`} aria-label={en.impact}>
      {facts.map((fact) => (
        <li key={fact}>
          <Text>{fact}</Text>
        </li>
      ))}
    </ul>
  )
}

function amountOf(amount: number, currency: string | undefined): string {
  try {
    if (currency) return new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(amount)
  } catch {
    // Not a currency that the browser knows.
  }
  return [new Intl.NumberFormat().format(amount), currency].filter(Boolean).join(' ')
}

export function ErrorBox({ ask: { error } }: { readonly ask: Ask }) {
  if (!error) return null
  return (
    <section class="error-box">
      <h2>{en.error}</h2>
      <p dir="auto">
        <strong>{marked(error.name)}</strong>: {marked(error.message)}
      </p>
      {error.stack && (
        <details>
          <summary>{en.stack}</summary>
          <LongText text={error.stack} isCode />
        </details>
      )}
    </section>
  )
}

/** Everything to know besides the question: details, earlier steps, alternatives, links. */
export function Context({ ask }: { readonly ask: Ask }) {
  const { details, history, alternatives, links } = ask
  return (
    <>
      {details.map((section, index) => (
        <section key={`${index} ${section.title}`}>
          <h2 dir="auto">{marked(section.title)}</h2>
          <Formatted value={section.body} as={section.as} />
        </section>
      ))}
      {history.length > 0 && <History steps={history} />}
      {alternatives.length > 0 && (
        <section>
          <h2>{en.alternatives}</h2>
          <ul class="plain">
            {alternatives.map((one) => (
              <li key={one.label}>
                <Text>{one.label}</Text>
                {one.description && (
                  <span class="faint">
                    {' – '}
                    <Text>{one.description}</Text>
                  </span>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {links.length > 0 && (
        <section>
          <h2>{en.links}</h2>
          <ul class="plain">
            {links.map((link) => (
              <li key={link.url}>
                <OutsideLink {...link} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function History({ steps }: { readonly steps: Ask['history'] }) {
  return (
    <section>
      <h2>{en.history}</h2>
      <ul class="history">
        {steps.map((step, index) => (
          <li key={`${index} ${step.step}`}>
            <span class="step-name">
              <Icon name="check" />
              <Text>{step.step}</Text>
            </span>
            <span class="clip">
              <Text>{summaryOf(plainOf(step.result)).slice(0, 300)}</Text>
            </span>
            <span class="faint number">{formatSpan(step.durationMs)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function ChoiceText({ choice }: { readonly choice: Choice }) {
  return (
    <>
      <span class="choice-label" dir="auto">
        {marked(choice.label)}
      </span>
      {choice.effect && (
        <span class="effect" dir="auto">
          {marked(choice.effect)}
        </span>
      )}
    </>
  )
}
