// Rich text has no markup: Slack shows the text of each element as it is.

interface TextElement {
  readonly type: 'text'
  readonly text: string
  readonly style?: { readonly bold: true }
}

/** A paragraph, a quote, or a text that keeps its lines in a frame. */
export interface RichElement {
  readonly type: 'rich_text_section' | 'rich_text_quote' | 'rich_text_preformatted'
  readonly elements: readonly TextElement[]
}

export function richText(elements: readonly RichElement[]): object {
  return { type: 'rich_text', elements }
}

export function section(elements: readonly TextElement[]): RichElement {
  // Paragraphs that follow each other are shown on one line unless the first one ends it.
  return { type: 'rich_text_section', elements: [...elements, { type: 'text', text: '\n' }] }
}

/** What a run says, beside a bar. */
export function quoted(elements: readonly TextElement[]): RichElement {
  return { type: 'rich_text_quote', elements }
}

export function framed(text: string): RichElement {
  return { type: 'rich_text_preformatted', elements: [{ type: 'text', text }] }
}

export function bold(text: string): TextElement {
  return { type: 'text', text, style: { bold: true } }
}

export function plain(text: string): object {
  return { type: 'plain_text', text }
}
