const segmenter = new Intl.Segmenter()
const wide =
  /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u

/** Number of columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1
  return width
}

/** Breaks a line into rows of at most so many columns. */
export function breakLine(line: string, columns: number): readonly string[] {
  if (maxWidthOf(line) <= columns) return [line]
  const rows: string[] = []
  let row = ''
  for (const { segment } of segmenter.segment(line))
    for (const piece of maxWidthOf(segment) > columns ? segment : [segment]) {
      if (row !== '' && maxWidthOf(row + piece) > columns) {
        rows.push(row)
        row = ''
      }
      row += piece
    }
  return [...rows, row]
}

/** Number of columns that a text takes at most: some terminals do not join what makes up one character. */
export function maxWidthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += wide.test(character) ? 2 : 1
  return width
}

/** Adds spaces up to a number of columns. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
