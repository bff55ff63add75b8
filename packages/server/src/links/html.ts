import { markHidden } from '@pawl/core/internal'

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | null | readonly Html[]

/** A template whose values are text: every value that is not `Html` is escaped. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.map((part, index) => part + show(values[index] ?? null)).join(''))
}

function show(value: Value): string {
  if (value === null) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return escapeText(String(value))
}

const entities: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;' },
  ...{ '"': '&quot;', "'": '&#39;' },
}

/** Hidden characters are shown by their code: they could make a text read as another. */
function escapeText(text: string): string {
  return escapeSigns(markHidden(text))
}

/** The value of an attribute, which is sent or followed as it is. */
export function attribute(text: string): Html {
  return new Html(escapeSigns(text))
}

function escapeSigns(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}
