import { splitMarks } from './marks.ts'

/** A text from outside: text nodes alone, in its own direction, with hidden characters shown as marks. */
export function Text({ children }: { readonly children: string }) {
  return <bdi>{marked(children)}</bdi>
}

/** The same as the whole content of a block that has `dir=auto` itself. */
export function marked(text: string) {
  const pieces = splitMarks(text)
  if (pieces.length === 1 && pieces[0]?.isMark === false) return text
  return pieces.map((piece, index) =>
    piece.isMark ? (
      <span key={index} class="mark" title={piece.text}>
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  )
}
