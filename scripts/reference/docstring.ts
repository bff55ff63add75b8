/** The parts of a docstring. */
export interface Docstring {
  /** What it says beside the default, the range and the errors. A blank line separates paragraphs. */
  readonly text: string
  /** The sentence after `Default:`; empty if there is none. */
  readonly default: string
  /** The sentence after `Range:`; empty if there is none. */
  readonly range: string
  /** What stands after `@throws PawlError`; empty if nothing does. */
  readonly throws: string
}

/** Takes a block comment apart, given without its slashes and its first star. */
export function readDocstring(comment: string): Docstring {
  const plain = comment
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .replaceAll(/\{@link ([\w.]+)\}/g, '`$1`')
  const [body = '', ...tags] = plain.split(/(?:^|\s)@(?=throws|example|param)/)
  const throws =
    tags.find((tag) => tag.startsWith('throws PawlError'))?.slice('throws PawlError'.length) ?? ''
  const paragraphs = body
    .trim()
    .split(/\n\s*\n/)
    .map(unwrap)
  const sentences = paragraphs.flatMap((paragraph) => paragraph.split(/(?<=\.)\s+(?=[A-Z`:])/))
  const stated = (label: string) =>
    sentences
      .filter((sentence) => sentence.startsWith(label))
      .map((sentence) => sentence.slice(label.length).trim().replace(/\.$/, ''))
      .join('; ')
  const isFact = (sentence: string) => /^(Default|Range):/.test(sentence)
  return {
    text: paragraphs
      .map((paragraph) =>
        paragraph
          .split(/(?<=\.)\s+(?=[A-Z`:])/)
          .filter((sentence) => !isFact(sentence))
          .join(' '),
      )
      .filter((paragraph) => paragraph !== '')
      .join('\n\n'),
    default: stated('Default:'),
    range: stated('Range:'),
    throws: unwrap(throws),
  }
}

/** Joins the lines of a paragraph; the items of a list keep lines of their own. */
function unwrap(text: string): string {
  return text.trim().replaceAll(/\s*\n(?!- )\s*/g, ' ')
}
